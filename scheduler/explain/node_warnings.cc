#include "scheduler/explain/node_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace carillon::scheduler {
namespace {

constexpr int64_t kDaySeconds = 86'400;

// The shortest time for which the node waits by itself; 0 = none is given.
int64_t LeastWait(const WorkflowNode& node) {
  if (node.approval) return node.approval->timeout_s;
  return node.wait ? std::max(node.wait->for_s, node.wait->day * kDaySeconds) : 0;
}

}  // namespace

nlohmann::json NodeWarnings(const JobDefinition& job) {
  nlohmann::json warnings = nlohmann::json::array();
  if (!job.workflow) return warnings;
  for (const WorkflowNode& node : job.workflow->nodes) {
    const int64_t longest = node.is_finally ? job.workflow->finally_timeout_s : job.timeout_s;
    const int64_t wait = LeastWait(node);
    if (wait <= longest) continue;
    warnings.push_back(
        {{"node", node.id},
         {"code", "ends_first"},
         {"detail",
          fmt::format("Node {} may wait {} s, and its workflow ends after {} s: raise {} "
                      "of the workflow.",
                      node.id, wait, longest, node.is_finally ? "finally_timeout" : "timeout")}});
  }
  return warnings;
}

}  // namespace carillon::scheduler
