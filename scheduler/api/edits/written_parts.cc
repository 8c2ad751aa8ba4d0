#include "scheduler/api/edits/written_parts.h"

#include <fmt/core.h>

#include <utility>

#include "common/domain/nodes/task_jobs.h"

namespace carillon::scheduler {

std::vector<WrittenPart> PartsOf(const JobDefinition& definition) {
  std::vector<WrittenPart> parts = {{.at = {}, .job = definition}};
  for (NodeJob& task : TaskJobs(definition)) {
    parts.push_back(
        {.at = fmt::format("/workflow/nodes/{}/task", task.position), .job = std::move(task.job)});
  }
  return parts;
}

std::vector<NamedGroup> GroupsOf(const JobDefinition& definition) {
  std::vector<NamedGroup> groups;
  const auto add = [&groups](std::string at, const std::string& name) {
    if (!name.empty()) groups.push_back({std::move(at) + "/concurrency_group", name});
  };
  for (const WrittenPart& part : PartsOf(definition)) add(part.at, part.job.concurrency_group);
  if (!definition.workflow) return groups;
  const auto& nodes = definition.workflow->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    add(fmt::format("/workflow/nodes/{}", i), nodes[i].rules.concurrency_group.value_or(""));
  }
  return groups;
}

std::vector<NamedUser> ApproversOf(const JobDefinition& definition) {
  std::vector<NamedUser> users;
  if (!definition.workflow) return users;
  const auto& nodes = definition.workflow->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].approval) continue;
    const auto& by = nodes[i].approval->by;
    for (size_t k = 0; k < by.size(); ++k) {
      users.push_back({fmt::format("/workflow/nodes/{}/approval/by/{}", i, k), by[k]});
    }
  }
  return users;
}

}  // namespace carillon::scheduler
