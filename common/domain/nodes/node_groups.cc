#include "common/domain/nodes/node_groups.h"

#include <fmt/core.h>

#include <vector>

namespace carillon {

NamedGroups GroupsOfNodes(const JobDefinition& definition) {
  NamedGroups named;
  if (!definition.workflow) return named;
  const std::vector<WorkflowNode>& nodes = definition.workflow->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const WorkflowNode& node = nodes[i];
    const bool task = !node.task.empty();
    const std::string group =
        task ? node.task.job().concurrency_group : node.rules.concurrency_group.value_or("");
    if (group.empty()) continue;
    named.try_emplace(
        group, fmt::format("/workflow/nodes/{}{}/concurrency_group", i, task ? "/task" : ""));
  }
  return named;
}

NamedGroups GroupsOf(const JobDefinition& definition) {
  NamedGroups named = GroupsOfNodes(definition);
  if (!definition.concurrency_group.empty()) {
    named[definition.concurrency_group] = "/concurrency_group";
  }
  return named;
}

}  // namespace carillon
