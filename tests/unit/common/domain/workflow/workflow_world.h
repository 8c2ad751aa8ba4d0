// Random workflows, and the runs of one in memory: steps, ends of node runs in random order,
// decisions, cancels, skips and retries, each compared with the reference
// (tests/support/workflow_reference.h).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/domain/workflow/workflow_check.h"
#include "common/domain/workflow/workflow_retry.h"
#include "common/domain/workflow/workflow_step.h"
#include "tests/support/workflow_reference.h"

namespace carillon::test {

// Makes an approval or a wait of some nodes. One that ends by itself is decided by nobody, so that
// the order of ends does not matter.
inline void GiveKind(WorkflowNode& node, Rng& rng) {
  const uint64_t dice = rng.Below(20);
  if (dice > 2) return;
  node.job = {};
  if (dice == 0) {
    node.wait = NodeWait{.for_s = 1 + static_cast<int64_t>(rng.Below(600))};
  } else {
    node.approval = Approval{.timeout_s = rng.Chance(0.5) ? 60 : 0};
    node.approval->approves_on_timeout = node.approval->timeout_s > 0 && rng.Chance(0.5);
  }
}

inline void AddFinally(WorkflowDefinition& workflow, Rng& rng) {
  if (rng.Chance(0.6)) return;
  for (uint64_t i = 0; i <= rng.Below(3); ++i) {
    WorkflowNode node{.id = fmt::format("f{}", i), .job = JobId("job"), .is_finally = true};
    if (i > 0 && rng.Chance(0.5)) {
      node.after.push_back({.node = fmt::format("f{}", i - 1),
                            .on = rng.Chance(0.5) ? EdgeOn::kSuccess : EdgeOn::kDone});
    }
    GiveKind(node, rng);
    node.allow_failure = rng.Chance(0.15);
    workflow.nodes.push_back(std::move(node));
  }
}

inline WorkflowDefinition RandomWorkflow(Rng& rng) {
  WorkflowDefinition workflow{.finally_timeout_s = kFinallyTimeoutMaxS};
  const uint64_t nodes = rng.Chance(0.05) ? 12 + rng.Below(25) : 1 + rng.Below(10);
  workflow.max_parallel = rng.Chance(0.4) ? 1 + static_cast<int64_t>(rng.Below(3)) : 32;
  const double density = 0.1 + 0.1 * static_cast<double>(rng.Below(5));
  const auto& conditions = ReferenceConditions();
  for (uint64_t i = 0; i < nodes; ++i) {
    WorkflowNode node{.id = fmt::format("n{}", i), .job = JobId("job")};
    for (uint64_t from = 0; from < i && node.after.size() < 6; ++from) {
      if (!rng.Chance(density)) continue;
      WorkflowEdge edge{.node = fmt::format("n{}", from)};
      edge.on =
          rng.Chance(0.5) ? EdgeOn::kSuccess : (rng.Chance(0.6) ? EdgeOn::kFailure : EdgeOn::kDone);
      if (rng.Chance(0.25)) edge.condition = conditions[rng.Below(conditions.size())].text;
      edge.recovers = edge.on != EdgeOn::kSuccess && rng.Chance(0.5);
      node.after.push_back(std::move(edge));
    }
    if (!node.after.empty() && rng.Chance(0.4)) {
      node.trigger_rule.least = 1 + static_cast<int64_t>(rng.Below(node.after.size()));
    }
    if (!node.after.empty() && rng.Chance(0.1)) node.trigger_rule.succeeded = true;
    GiveKind(node, rng);
    node.allow_failure = rng.Chance(0.15);
    workflow.nodes.push_back(std::move(node));
  }
  AddFinally(workflow, rng);
  // The order of the definition need not be that of the graph.
  for (size_t i = workflow.nodes.size(); i > 1; --i) {
    std::swap(workflow.nodes[i - 1], workflow.nodes[rng.Below(i)]);
  }
  return workflow;
}

// The end of a node's attempt depends on the seed of the workflow alone, not on the order of ends.
// SKIPPED with a reason of the release stands for a run that could not be released.
inline NodeRow RandomEnd(uint64_t seed, const std::string& id, int attempt) {
  uint64_t mixed = seed * 1'000'003 + static_cast<uint64_t>(attempt);
  for (const char c : id) mixed = mixed * 131 + static_cast<unsigned char>(c);
  Rng rng(mixed);
  NodeRow row{.state = RunState::kCompleted, .blocked = false, .attempt = attempt};
  const uint64_t dice = rng.Below(100);
  if (dice < 60) {
    row.exit_code = 0;
  } else if (dice < 82) {
    row.state = RunState::kFailed;
    row.reason = "exit_code";
    if (rng.Chance(0.8)) row.exit_code = 1 + static_cast<int>(rng.Below(4));
  } else if (dice < 88) {
    row.state = rng.Chance(0.5) ? RunState::kTimedOut : RunState::kLost;
    row.may_still_run = row.state == RunState::kLost && rng.Chance(0.3);
  } else if (dice < 92) {
    row.state = RunState::kCancelled;
  } else {
    row.state = RunState::kSkipped;
    row.reason = dice < 96 ? "overlap" : "bad_parameters";
  }
  static const std::vector<std::string> kNumbers{"1", "5", "9.5", "-3", "many", ""};
  if (rng.Chance(0.6)) row.outputs["n"] = kNumbers[rng.Below(kNumbers.size())];
  if (rng.Chance(0.6))
    row.outputs["ok"] = rng.Chance(0.2) ? "maybe" : (dice % 2 ? "true" : "false");
  return row;
}

class WorkflowWorld {
 public:
  WorkflowWorld(WorkflowDefinition workflow, uint64_t seed, uint64_t order_seed)
      : workflow_(std::move(workflow)),
        graph_(WorkflowGraph::Compile(workflow_).value()),
        rows_(graph_.size()),
        seed_(seed),
        rng_(order_seed) {}

  // Runs the workflow until it has ended; with `persons`, they cancel it and skip nodes.
  void RunToItsEnd(bool persons) {
    end_.reset();
    // Each turn ends an attempt, or asks for something.
    for (size_t turns = 20 * graph_.size() + 50; complaint_.empty(); --turns) {
      if (turns == 0) return Complain("does not end");
      StepUntilQuiet();
      if (end_ || !complaint_.empty()) return CheckEnd();
      if (persons && rng_.Chance(0.02)) {
        cause_ = rng_.Chance(0.5) ? WorkflowCause::kCancel : WorkflowCause::kDeadline;
        killed_ = cause_ == WorkflowCause::kCancel && rng_.Chance(0.3);
        continue;
      }
      if (persons && rng_.Chance(0.01)) now_ += std::chrono::seconds(kFinallyTimeoutMaxS);
      if (persons && rng_.Chance(0.05) && SkipSomething()) continue;
      if (persons && rng_.Chance(0.03) && RetrySomething(RetryFrom::kNodes)) continue;
      AdvanceSomething();
    }
  }

  // Returns false if there was nothing to retry, or it was refused.
  bool RetrySomething(RetryFrom from) {
    WorkflowRetry retry{.from = from};
    if (from == RetryFrom::kNodes) retry.nodes.push_back(RandomId());
    if (rng_.Chance(0.3)) retry.skip.push_back(RandomId());
    retry.overlap = rng_.Chance(0.5) ? Overlap::kConfirmed : Overlap::kUnconfirmed;
    const auto plan = PlanRetry(graph_, rows_, retry);
    if (!plan.ok()) return false;
    if (plan->refused()) return false;
    const NodeRows before = rows_;
    Apply(*plan);
    CheckRetry(before, retry, *plan);
    if (end_) {
      cause_ = WorkflowCause::kNone;
      killed_ = false;
    }
    return true;
  }

  const std::string& complaint() const { return complaint_; }
  const NodeRows& rows() const { return rows_; }
  const std::optional<WorkflowEnd>& end() const { return end_; }

 private:
  void Complain(const std::string& text) {
    if (complaint_.empty()) complaint_ = text;
  }
  void Complain(size_t position, std::string_view text) {
    Complain(fmt::format("{}: {}", graph_.node(position).id, text));
  }

  std::string RandomId() { return graph_.node(rng_.Below(graph_.size())).id; }

  bool IsRule(const NodeRow& row) const {
    static const std::set<std::string> kRules{"not_selected", "upstream_failed", "bad_condition",
                                              "too_few"};
    return row.state == RunState::kSkipped && kRules.contains(row.reason);
  }

  ReferenceEnds Ends() const {
    ReferenceEnds ends;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsFinal(rows_[i].state) && !IsRule(rows_[i])) ends[graph_.node(i).id] = rows_[i];
    }
    return ends;
  }

  std::set<std::string> Running() const {
    std::set<std::string> running;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsActive(rows_[i]) || rows_[i].opened) running.insert(graph_.node(i).id);
    }
    return running;
  }

  // Only finally nodes are left, and their time is over.
  bool IsFinallyOver() const {
    return finally_since_ &&
           now_ - *finally_since_ >= std::chrono::seconds(workflow_.finally_timeout_s);
  }
  bool MainHasEnded() const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!graph_.node(i).is_finally && !IsFinal(rows_[i].state)) return false;
    }
    return true;
  }
  // True if the node is to be stopped, and not to be started.
  bool IsStopped(size_t i) const {
    if (!graph_.node(i).is_finally) return cause_ != WorkflowCause::kNone;
    return killed_ || (MainHasEnded() && IsFinallyOver());
  }

  StepFacts Facts() const {
    return {.cause = cause_, .now = now_, .killed = killed_, .finally_since = finally_since_};
  }

  void StepUntilQuiet() {
    for (;;) {
      auto fates = ReferenceFates(workflow_, Ends(), Running());
      const WorkflowStep step = StepWorkflow(graph_, rows_, Facts());
      if (step.finally_begins && (finally_since_ || !MainHasEnded())) {
        Complain("the finally nodes begin twice, or too early");
      }
      if (step.finally_begins) finally_since_ = now_;
      if (step.decisions.empty()) {
        end_ = step.end;
        return CheckRows(fates);
      }
      for (const NodeDecision& decision : step.decisions) {
        Follow(decision, fates);
        // The later decisions follow from the end.
        if (decision.action != NodeAction::kFinish) continue;
        fates = ReferenceFates(workflow_, Ends(), Running());
      }
    }
  }

  void Follow(const NodeDecision& decision, const std::map<std::string, ReferenceFate>& fates) {
    NodeRow& row = rows_[decision.position];
    const std::string& id = graph_.node(decision.position).id;
    switch (decision.action) {
      case NodeAction::kRelease: {
        if (!IsBlocked(row)) Complain(decision.position, "released, but not blocked");
        if (!fates.contains(id) || !fates.at(id).starts) {
          Complain(decision.position, "released too early, or wrongly");
        }
        row.blocked = false;
        const NodeRow end = RandomEnd(seed_, id, row.attempt);
        if (end.reason == "bad_parameters") row = end;
        break;
      }
      case NodeAction::kSkip:
        if (!IsBlocked(row)) Complain(decision.position, "skipped, but not blocked");
        if (!fates.contains(id) || fates.at(id).skipped != decision.reason) {
          Complain(decision.position, fmt::format("skipped wrongly: {}", decision.reason));
        }
        row.state = RunState::kSkipped;
        row.reason = decision.reason;
        break;
      case NodeAction::kCancel:
        if (row.state != RunState::kPending) Complain(decision.position, "is not PENDING");
        if (!IsStopped(decision.position)) Complain(decision.position, "is cancelled wrongly");
        row = {.state = RunState::kCancelled, .blocked = false, .attempt = row.attempt};
        break;
      case NodeAction::kOpen:
        if (!IsBlocked(row)) Complain(decision.position, "opened, but not blocked");
        if (!fates.contains(id) || !fates.at(id).starts) {
          Complain(decision.position, "opened too early, or wrongly");
        }
        row.blocked = false;
        row.opened = true;
        row.until = decision.until;
        break;
      case NodeAction::kFinish: Finish(decision); break;
      case NodeAction::kStop:
        if (!IsStopped(decision.position)) Complain(decision.position, "is stopped wrongly");
        if (row.cancel_requested) Complain(decision.position, "was stopped before");
        row.cancel_requested = true;
        break;
    }
  }

  // An opened node ends by itself at its time, and not before.
  void Finish(const NodeDecision& decision) {
    NodeRow& row = rows_[decision.position];
    const WorkflowNode& node = graph_.node(decision.position);
    if (!row.opened || row.until == WallTime{} || row.until > now_) {
      Complain(decision.position, "ends too early");
    }
    const bool good = node.wait || node.approval->approves_on_timeout;
    if ((decision.result.state == RunState::kCompleted) != good) {
      Complain(decision.position, "ends wrongly");
    }
    row = {.state = decision.result.state,
           .blocked = false,
           .reason = decision.result.reason,
           .attempt = row.attempt};
  }

  // Between steps, every row is as the reference says.
  void CheckRows(const std::map<std::string, ReferenceFate>& fates) {
    const int64_t active = std::count_if(rows_.begin(), rows_.end(), IsActive);
    if (active > workflow_.max_parallel) Complain(fmt::format("{} runs are active", active));
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsStopped(i) && rows_[i].state == RunState::kPending) Complain(i, "waits after a cancel");
      if (rows_[i].opened && rows_[i].until != WallTime{} && rows_[i].until <= now_) {
        Complain(i, "is open after its time");
      }
      if (IsStopped(i)) continue;
      const auto fate = fates.find(graph_.node(i).id);
      if (fate == fates.end()) continue;
      if (IsRule(rows_[i]) && fate->second.skipped != rows_[i].reason) {
        Complain(i, "is skipped, but the reference says: " + Shown(fate->second));
      }
      if (!IsBlocked(rows_[i])) continue;
      if (!fate->second.skipped.empty()) Complain(i, "must be skipped");
      const bool opens = graph_.node(i).job.empty();
      const bool room = opens || active < workflow_.max_parallel;
      if (fate->second.starts && room) Complain(i, "must be released");
    }
  }

  static std::string Shown(const ReferenceFate& fate) {
    if (fate.starts) return "starts";
    return fate.skipped.empty() ? "waits" : fate.skipped;
  }

  void CheckEnd() {
    if (!complaint_.empty()) return;
    RunState expected = RunState::kCancelled;
    if (cause_ == WorkflowCause::kDeadline) expected = RunState::kTimedOut;
    if (cause_ == WorkflowCause::kNone) {
      const auto result = ReferenceResult(workflow_, Ends());
      if (!result) return Complain("ended, but the reference waits");
      expected = *result;
    }
    if (end_->state == expected) return;
    Complain(fmt::format("ended {}, the reference says {}", Name(end_->state), Name(expected)));
  }

  void AdvanceSomething() {
    std::vector<size_t> active;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsActive(rows_[i]) || rows_[i].opened) active.push_back(i);
    }
    if (active.empty()) return Complain("nothing is active, and it has not ended");
    const size_t i = active[rng_.Below(active.size())];
    NodeRow& row = rows_[i];
    const NodeRow end = RandomEnd(seed_, graph_.node(i).id, row.attempt);
    if (row.opened && row.until != WallTime{}) {
      now_ = std::max(now_, row.until);
    } else if (row.opened) {
      const bool good = end.state == RunState::kCompleted;
      row = {.state = good ? RunState::kCompleted : RunState::kFailed,
             .blocked = false,
             .reason = good ? "" : "refused",
             .attempt = row.attempt};
    } else if (row.state == RunState::kPending && end.state == RunState::kSkipped) {
      row = end;
    } else if (row.state == RunState::kPending) {
      if (!attempts_.insert({i, row.attempt}).second) Complain(i, "an attempt runs twice");
      row.state = RunState::kRunning;
    } else if (row.state == RunState::kRunning && rng_.Chance(0.05)) {
      row.state = RunState::kHeld;
    } else if (row.cancel_requested && rng_.Chance(0.8)) {
      row = {.state = RunState::kCancelled, .blocked = false, .attempt = row.attempt};
    } else {
      row = end;
    }
  }

  bool SkipSomething() {
    const auto plan = PlanSkip(graph_, rows_, RandomId(), Overlap::kConfirmed);
    if (!plan.ok() || plan->refused()) return false;
    Apply(*plan);
    return true;
  }

  void Apply(const RetryPlan& plan) {
    for (const NodeChange& change : plan.changes) {
      const NodeRow& row = rows_[change.position];
      const bool tried = row.state != RunState::kPending && row.state != RunState::kSkipped;
      if (change.record_attempt != tried) Complain(change.position, "wrong record of an attempt");
      const bool offered = row.state == RunState::kSkipped && !IsSkippedByRule(row) &&
                           change.to == NodeChange::To::kAgain;
      if (change.given_back != offered) Complain(change.position, "wrong return of an attempt");
      if (change.attempt != row.attempt + (tried || offered ? 1 : 0)) {
        Complain(change.position, "attempt");
      }
    }
    ApplyChanges(plan.changes, rows_);
    if (!plan.changes.empty()) finally_since_.reset();
  }

  // The nodes from which the retry begins, and all downstream, wait again or were skipped as asked.
  void CheckRetry(const NodeRows& before, const WorkflowRetry& retry, const RetryPlan& plan) {
    std::set<size_t> changed;
    for (const NodeChange& change : plan.changes) changed.insert(change.position);
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!changed.contains(i) && rows_[i] != before[i]) Complain(i, "changed without a change");
      const std::string& id = graph_.node(i).id;
      const bool root = retry.from == RetryFrom::kStart ||
                        std::find(retry.nodes.begin(), retry.nodes.end(), id) != retry.nodes.end();
      if (!root) continue;
      std::vector<std::string> again = ReferenceDownstream(workflow_, id);
      again.push_back(id);
      for (const std::string& one : again) {
        const bool skipped =
            std::find(retry.skip.begin(), retry.skip.end(), one) != retry.skip.end();
        const NodeRow& row = rows_[*graph_.Find(one)];
        const bool right = skipped ? row.reason == "skipped_by_hand" : IsBlocked(row);
        if (!right) Complain(fmt::format("{}: is not run again after {}", one, id));
      }
    }
  }

  const WorkflowDefinition workflow_;
  const WorkflowGraph graph_;
  NodeRows rows_;
  const uint64_t seed_;
  Rng rng_;  // the order of everything
  WorkflowCause cause_ = WorkflowCause::kNone;
  bool killed_ = false;
  WallTime now_ = FromUnixMicros(1'772'323'200'000'000);
  std::optional<WallTime> finally_since_;
  std::optional<WorkflowEnd> end_;
  std::set<std::pair<size_t, int>> attempts_;
  std::string complaint_;
};

}  // namespace carillon::test
