#include "common/domain/workflow/workflow_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/base/failpoint.h"
#include "common/domain/nodes/approval.h"
#include "common/domain/nodes/node_wait.h"

namespace carillon {
namespace {

RunState ResultOf(WorkflowCause cause, bool failed) {
  switch (cause) {
    case WorkflowCause::kCancel: return RunState::kCancelled;
    case WorkflowCause::kDeadline: return RunState::kTimedOut;
    case WorkflowCause::kNone: break;
  }
  return failed ? RunState::kFailed : RunState::kCompleted;
}

// One step. Makes the rows what they are when its decisions have been written.
class Step {
 public:
  Step(const WorkflowGraph& graph, NodeRows rows, const StepFacts& facts)
      : graph_(graph),
        facts_(facts),
        finally_(HasMainEnded(graph, rows)),
        killed_(facts.cause == WorkflowCause::kCancel &&
                (facts.killed || failpoint::Broken("finally.cancelled"))),
        rows_(std::move(rows)) {}

  WorkflowStep Take() && {
    if (finally_) {
      step_.state = ResultOf(facts_.cause, HasMainFailed());
      step_.finally_begins = !HasEnded() && !killed_ && !facts_.finally_since;
    }
    if (MustStop()) {
      DecideStops();
    } else {
      DecideFinishes();
      DecideSkips();
      DecideReleases();
    }
    if (HasEnded()) {
      std::vector<size_t> failures = FailuresOf(graph_, rows_);
      const RunState state = ResultOf(facts_.cause, !failures.empty());
      step_.end = WorkflowEnd{.state = state, .failures = std::move(failures)};
    }
    return std::move(step_);
  }

 private:
  // True for the nodes about which this step decides.
  bool Takes(size_t i) const {
    return graph_.is_finally(i) == finally_ || failpoint::Broken("finally.early");
  }
  bool HasEnded() const {
    return std::all_of(rows_.begin(), rows_.end(),
                       [](const NodeRow& row) { return IsFinal(row.state); });
  }
  bool HasMainFailed() const {
    const std::vector<size_t> failures = FailuresOf(graph_, rows_);
    return std::ranges::any_of(failures, [&](size_t i) { return !graph_.is_finally(i); });
  }
  bool MustStop() const {
    if (!finally_) return facts_.cause != WorkflowCause::kNone;
    // In a pause of the cluster they cannot start. The resume moves finally_since.
    const bool late = !facts_.paused && facts_.finally_since &&
                      facts_.now - *facts_.finally_since >= graph_.finally_timeout();
    return killed_ || late;
  }

  NodeDecision& Add(size_t position, NodeAction action) {
    return step_.decisions.emplace_back(NodeDecision{.position = position, .action = action});
  }

  void Skip(size_t i, std::string_view reason, std::string error) {
    NodeDecision& decision = Add(i, NodeAction::kSkip);
    decision.reason = reason;
    decision.error = std::move(error);
    rows_[i].state = RunState::kSkipped;
    rows_[i].reason = reason;
  }

  void Finish(size_t i, AttemptResult result) {
    NodeRow& row = rows_[i];
    row = {.state = result.state,
           .blocked = false,
           .reason = result.reason,
           .attempt = row.attempt,
           .claimed = row.claimed,
           .outputs = result.outputs};
    Add(i, NodeAction::kFinish).result = std::move(result);
  }

  void DecideSkips() {
    for (const size_t i : graph_.order()) {
      if (!Takes(i) || !IsBlocked(rows_[i])) continue;
      const NodeVerdict verdict = JudgeNode(graph_, i, rows_);
      if (verdict.kind != NodeVerdict::Kind::kSkip) continue;
      Skip(i, verdict.reason, BrokenConditionOf(graph_, i, rows_));
    }
  }

  void DecideFinishes() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const NodeRow& row = rows_[i];
      const WorkflowNode& node = graph_.node(i);
      const bool over = row.opened && row.until != WallTime{} && row.until <= facts_.now;
      if (!over || !Takes(i) || (node.wait && failpoint::Broken("wait.by_now"))) continue;
      if (node.approval && (!facts_.paused || failpoint::Broken("approval.expires_in_pause"))) {
        const WallTime opened = row.started != WallTime{}
                                    ? row.started
                                    : row.until - std::chrono::seconds(node.approval->timeout_s);
        Finish(i, EndOfApproval(*node.approval, Decision::kTimeout, {}, "", opened, facts_.now));
      } else if (node.wait) {
        Finish(i, {.started = row.started, .ended = facts_.now});
      }
    }
  }

  void DecideReleases() {
    const bool all = failpoint::Broken("opened.counts");
    int64_t active = std::ranges::count_if(
        rows_, [all](const NodeRow& row) { return IsActive(row) || (all && row.opened); });
    const bool unlimited = failpoint::Broken("workflow.max_parallel");
    for (size_t i = 0; i < rows_.size(); ++i) {
      const WorkflowNode& node = graph_.node(i);
      const bool opens = node.approval || node.wait;
      const bool may_start = opens || unlimited || active < graph_.max_parallel();
      if (!may_start || !Takes(i) || !IsBlocked(rows_[i]) || rows_[i].awaiting) continue;
      if (JudgeNode(graph_, i, rows_).kind != NodeVerdict::Kind::kStart) continue;
      if (opens) {
        Open(i, node);
        if (all) ++active;
        continue;
      }
      Add(i, NodeAction::kRelease);
      rows_[i].blocked = false;
      ++active;
    }
  }

  void Open(size_t i, const WorkflowNode& node) {
    if (node.wait) return OpenWait(i, *node.wait);
    const bool ends = node.approval->timeout_s > 0;
    Open(i, kUndecided,
         ends ? facts_.now + std::chrono::seconds(node.approval->timeout_s) : WallTime{});
  }

  void OpenWait(size_t i, const NodeWait& wait) {
    static const std::map<std::string, ParameterValue> kNone;
    const auto& parameters = facts_.parameters == nullptr ? kNone : *facts_.parameters;
    const auto end = EndOfWait(wait, facts_.fire, facts_.time_zone, parameters, facts_.now);
    if (!end.ok()) return Skip(i, reason::kBadParameters, end.error().message);
    if (*end > facts_.now) return Open(i, kTimed, *end);
    Finish(i, {.started = facts_.now, .ended = facts_.now});
  }

  void Open(size_t i, WallTime due, WallTime until) {
    NodeDecision& decision = Add(i, NodeAction::kOpen);
    decision.due = due;
    decision.until = until;
    NodeRow& row = rows_[i];
    row.blocked = false;
    row.opened = true;
    row.until = until;
    row.started = facts_.now;
  }

  // A kill ends finally nodes although others have not ended.
  void DecideStops() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      NodeRow& row = rows_[i];
      if (!Takes(i) && !killed_) continue;
      if (row.state == RunState::kPending) {
        Add(i, NodeAction::kCancel);
        row.state = RunState::kCancelled;
      } else if (!IsFinal(row.state) && !row.cancel_requested) {
        Add(i, NodeAction::kStop);
      }
    }
  }

  const WorkflowGraph& graph_;
  const StepFacts& facts_;
  const bool finally_;  // only finally nodes are left
  const bool killed_;
  NodeRows rows_;
  WorkflowStep step_;
};

}  // namespace

WorkflowStep StepWorkflow(const WorkflowGraph& graph, NodeRows rows, const StepFacts& facts) {
  CARILLON_CHECK(rows.size() == graph.size(), "a row for each node");
  return Step(graph, std::move(rows), facts).Take();
}

}  // namespace carillon
