// The definition of a workflow: a graph of nodes. A node runs a job, or a task that is written in
// it, or waits for the decision of a person or for a time.
//
// Place    The field `workflow` of a job. JSON form: common/wire/json/workflow/workflow_json.h.
//          Checks: workflow_check.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/nodes/run_rules.h"
#include "common/domain/nodes/task_box.h"
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
  // Only upstream nodes that succeeded count, not allowed failures. With kAll: all of them must.
  bool succeeded = false;

  bool operator==(const TriggerRule&) const = default;
};

// The bounds of the fields below.
inline constexpr int64_t kApprovalTimeoutMinS = 60;
inline constexpr int64_t kApprovalTimeoutMaxS = 604'800;
inline constexpr int64_t kWaitForMaxS = 604'800;
inline constexpr int64_t kWaitDayMax = 31;
inline constexpr size_t kApproversMax = 20;
inline constexpr size_t kApprovalMessageBytesMax = 1'000;
inline constexpr int64_t kFinallyTimeoutMaxS = 86'400;
inline constexpr size_t kWorkflowOutputsMax = 50;

// `approval` of a node (approval.h).
struct Approval {
  std::string message = {};  // a template, as the texts of `parameters`
  int64_t timeout_s = 0;     // 0 = none
  bool approves_on_timeout = false;
  std::vector<std::string> by = {};  // ids of the users who may decide; none = all who may run it

  bool operator==(const Approval&) const = default;
};

// `wait` of a node (node_wait.h): `until`, or `for_s`.
struct NodeWait {
  std::string until = {};
  int64_t day = 0;
  int64_t for_s = 0;

  bool operator==(const NodeWait&) const = default;
};

struct WorkflowNode {
  std::string id = {};  // IsNodeId; unique within the workflow
  // Exactly one of the next four.
  JobId job = {};
  TaskBox task = {};
  std::optional<Approval> approval = {};
  std::optional<NodeWait> wait = {};
  RunRules rules = {};  // of a node with a job; those of a task are in the task
  // Override the defaults of the job. Texts are templates (node_template.h).
  std::map<std::string, ParameterValue> parameters = {};
  std::vector<WorkflowEdge> after = {};
  TriggerRule trigger_rule = {};
  bool allow_failure = false;  // a failure counts as a success, except for edges `on: failure`
  bool is_finally = false;     // starts when all other nodes have ended, whatever their end
  // Of a mapped node: the list, one placeholder of node_template.h; the name of the parameter that
  // has the item; the output of the parts that is collected (mapped_items.h). "" = none.
  std::string over = {};
  std::string as = {};
  std::string collect = {};

  bool operator==(const WorkflowNode&) const = default;
};

struct WorkflowDefinition {
  int64_t max_parallel = 32;  // 1 to kMaxParallelMax active node runs
  // The position of a node in this list is part of the key of its run (node_key.h), and the order
  // in which nodes that are ready are released.
  std::vector<WorkflowNode> nodes = {};
  int64_t finally_timeout_s = 3'600;  // 1 to kFinallyTimeoutMaxS, for all finally nodes together
  // Outputs of the workflow run itself, by name: templates (node_template.h).
  std::map<std::string, std::string> outputs = {};

  bool operator==(const WorkflowDefinition&) const = default;
};

// True if its run is of the row of the workflow's tasks (task_jobs.h).
inline bool RunsNoJob(const WorkflowNode& node) { return node.job.value().empty(); }

// True for [a-z0-9][a-z0-9_-]{0,62}
bool IsNodeId(std::string_view text);

}  // namespace carillon
