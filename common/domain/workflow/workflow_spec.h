// The definition of a workflow: a graph whose nodes run jobs.
//
// Place    The field `workflow` of a job. JSON form: common/wire/json/job/workflow_json.h. Checks:
//          workflow_check.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

inline constexpr size_t kWorkflowNodesMax = 500;
inline constexpr size_t kWorkflowEdgesMax = 5'000;
inline constexpr size_t kWorkflowBytesMax = 1u << 20;  // of its JSON form
inline constexpr int64_t kMaxParallelMax = 500;

// The ends of the upstream node with which an edge is met (node_rules.h has the table).
enum class EdgeOn { kSuccess, kFailure, kDone };
std::string_view Name(EdgeOn value);  // "success", "failure", "done"
template <>
Result<EdgeOn> ParseName(std::string_view text);

// An entry of `after`.
struct WorkflowEdge {
  std::string node = {};  // the upstream node
  EdgeOn on = EdgeOn::kSuccess;
  std::string condition = {};  // `if` (condition.h); "" = none
  // The node repairs the failure of the upstream node, which then does not fail the workflow.
  bool recovers = false;

  bool operator==(const WorkflowEdge&) const = default;
};

// `trigger_rule`: how many edges of a node must be met before it starts.
struct TriggerRule {
  static constexpr int64_t kAll = 0;  // at least one, and none failed, when all upstream have ended
  static constexpr int64_t kAny = 1;

  int64_t least = kAll;

  bool operator==(const TriggerRule&) const = default;
};

struct WorkflowNode {
  std::string id = {};  // IsNodeId; unique within the workflow
  JobId job = {};
  // Override the defaults of the job. Texts are templates (node_template.h).
  std::map<std::string, ParameterValue> parameters = {};
  std::vector<WorkflowEdge> after = {};
  TriggerRule trigger_rule = {};
  bool allow_failure = false;  // a failure counts as a success, except for edges `on: failure`

  bool operator==(const WorkflowNode&) const = default;
};

struct WorkflowDefinition {
  int64_t max_parallel = 32;  // 1 to kMaxParallelMax active node runs
  // The position of a node in this list is part of the key of its run (node_key.h), and the order
  // in which nodes that are ready are released.
  std::vector<WorkflowNode> nodes = {};

  bool operator==(const WorkflowDefinition&) const = default;
};

// True for [a-z0-9][a-z0-9_-]{0,62}
bool IsNodeId(std::string_view text);

}  // namespace carillon
