#include "common/domain/workflow/workflow_step.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/failpoint.h"

namespace carillon {
namespace {

using Decisions = std::vector<NodeDecision>;

// Makes `rows` what they are when the decisions have been written.
void DecideSkips(const WorkflowGraph& graph, NodeRows& rows, Decisions& decisions) {
  for (const size_t i : graph.order()) {
    if (!IsBlocked(rows[i])) continue;
    const NodeVerdict verdict = JudgeNode(graph, i, rows);
    if (verdict.kind != NodeVerdict::Kind::kSkip) continue;
    decisions.push_back({.position = i,
                         .action = NodeAction::kSkip,
                         .reason = verdict.reason,
                         .error = BrokenConditionOf(graph, i, rows)});
    rows[i].state = RunState::kSkipped;
    rows[i].reason = verdict.reason;
  }
}

void DecideReleases(const WorkflowGraph& graph, NodeRows& rows, Decisions& decisions) {
  int64_t active = std::count_if(rows.begin(), rows.end(), IsActive);
  const bool unlimited = failpoint::Broken("workflow.max_parallel");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (active >= graph.max_parallel() && !unlimited) return;
    if (!IsBlocked(rows[i]) || rows[i].awaiting) continue;
    if (JudgeNode(graph, i, rows).kind != NodeVerdict::Kind::kStart) continue;
    decisions.push_back({.position = i, .action = NodeAction::kRelease});
    rows[i].blocked = false;
    ++active;
  }
}

void DecideStops(NodeRows& rows, Decisions& decisions) {
  for (size_t i = 0; i < rows.size(); ++i) {
    NodeRow& row = rows[i];
    if (row.state == RunState::kPending) {
      decisions.push_back({.position = i, .action = NodeAction::kCancel});
      row.state = RunState::kCancelled;
    } else if (!IsFinal(row.state) && !row.cancel_requested) {
      decisions.push_back({.position = i, .action = NodeAction::kStop});
    }
  }
}

RunState ResultOf(WorkflowCause cause, bool failed) {
  switch (cause) {
    case WorkflowCause::kCancel: return RunState::kCancelled;
    case WorkflowCause::kDeadline: return RunState::kTimedOut;
    case WorkflowCause::kNone: break;
  }
  return failed ? RunState::kFailed : RunState::kCompleted;
}

}  // namespace

WorkflowStep StepWorkflow(const WorkflowGraph& graph, NodeRows rows, const StepFacts& facts) {
  const WorkflowCause cause = facts.cause;
  CARILLON_CHECK(rows.size() == graph.size(), "a row for each node");
  WorkflowStep step;
  if (cause == WorkflowCause::kNone) {
    DecideSkips(graph, rows, step.decisions);
    DecideReleases(graph, rows, step.decisions);
  } else {
    DecideStops(rows, step.decisions);
  }
  const bool ended =
      std::all_of(rows.begin(), rows.end(), [](const NodeRow& row) { return IsFinal(row.state); });
  if (!ended) return step;
  std::vector<size_t> failures = FailuresOf(graph, rows);
  const RunState state = ResultOf(cause, !failures.empty());
  step.end = WorkflowEnd{.state = state, .failures = std::move(failures)};
  return step;
}

}  // namespace carillon
