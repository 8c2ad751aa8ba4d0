// Short ways to write workflows and the rows of their node runs in tests.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/domain/workflow/workflow_graph.h"
#include "common/domain/workflow/workflow_step.h"

namespace carillon::test {

inline WorkflowNode Node(std::string id, std::vector<WorkflowEdge> after = {}) {
  return {.id = std::move(id), .job = JobId("job"), .after = std::move(after)};
}

inline WorkflowEdge On(EdgeOn on, std::string node, std::string condition = "") {
  return {.node = std::move(node), .on = on, .condition = std::move(condition)};
}
inline WorkflowEdge Success(std::string node, std::string condition = "") {
  return On(EdgeOn::kSuccess, std::move(node), std::move(condition));
}
inline WorkflowEdge Failure(std::string node, std::string condition = "") {
  return On(EdgeOn::kFailure, std::move(node), std::move(condition));
}
inline WorkflowEdge Done(std::string node, std::string condition = "") {
  return On(EdgeOn::kDone, std::move(node), std::move(condition));
}

inline WorkflowGraph Graph(std::vector<WorkflowNode> nodes, int64_t max_parallel = 32) {
  return WorkflowGraph::Compile({.max_parallel = max_parallel, .nodes = std::move(nodes)}).value();
}

inline NodeRow Blocked() { return {}; }
inline NodeRow Awaiting() { return {.awaiting = true}; }
inline NodeRow Released() { return {.blocked = false}; }
inline NodeRow Row(RunState state, std::string why = "") {
  return {.state = state, .blocked = false, .reason = std::move(why)};
}
inline NodeRow Completed() {
  NodeRow row = Row(RunState::kCompleted);
  row.exit_code = 0;
  return row;
}
inline NodeRow Failed(int exit_code = 1) {
  NodeRow row = Row(RunState::kFailed, "exit_code");
  row.exit_code = exit_code;
  return row;
}
inline NodeRow Skipped(std::string_view why) { return Row(RunState::kSkipped, std::string(why)); }

inline WorkflowNode Finally(std::string id, std::vector<WorkflowEdge> after = {}) {
  WorkflowNode node = Node(std::move(id), std::move(after));
  node.is_finally = true;
  return node;
}
inline WorkflowNode Gate(std::string id, Approval approval = {},
                         std::vector<WorkflowEdge> after = {}) {
  return {.id = std::move(id), .approval = std::move(approval), .after = std::move(after)};
}
inline WorkflowNode Waits(std::string id, NodeWait wait, std::vector<WorkflowEdge> after = {}) {
  return {.id = std::move(id), .wait = std::move(wait), .after = std::move(after)};
}

inline NodeRow Opened(WallTime until = WallTime{}) {
  return {.blocked = false, .opened = true, .until = until};
}

// "release a, skip b not_selected, finish c FAILED refused; COMPLETED"
inline std::string StepText(const WorkflowGraph& graph, const NodeRows& rows,
                            const StepFacts& facts) {
  const WorkflowStep step = StepWorkflow(graph, rows, facts);
  std::string text = step.finally_begins ? "finally begins" : "";
  for (const NodeDecision& decision : step.decisions) {
    constexpr std::array<std::string_view, 6> kVerbs{"release", "skip", "cancel",
                                                     "stop",    "open", "finish"};
    if (!text.empty()) text += ", ";
    text += kVerbs.at(static_cast<size_t>(decision.action));
    text += " " + graph.node(decision.position).id;
    if (!decision.reason.empty()) text += " " + std::string(decision.reason);
    if (decision.action != NodeAction::kFinish) continue;
    text += " " + std::string(Name(decision.result.state));
    if (!decision.result.reason.empty()) text += " " + decision.result.reason;
  }
  if (!step.end) return text;
  text += (text.empty() ? "" : "; ") + std::string(Name(step.end->state));
  for (const size_t position : step.end->failures) text += " " + graph.node(position).id;
  return text;
}
inline std::string StepText(const WorkflowGraph& graph, const NodeRows& rows,
                            WorkflowCause cause = WorkflowCause::kNone) {
  return StepText(graph, rows, StepFacts{.cause = cause});
}

}  // namespace carillon::test
