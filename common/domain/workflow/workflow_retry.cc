#include "common/domain/workflow/workflow_retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"

namespace carillon {
namespace {

using To = NodeChange::To;

// Before the ids of nodes in the sentence of a refusal, with a colon, which no id has.
constexpr std::string_view kRunning = "running";
constexpr std::string_view kMayStillRun = "may still run";

// A choice of nodes: an entry for each position.
using Chosen = std::vector<bool>;

Result<Chosen> ChosenByName(const WorkflowGraph& graph, const std::vector<std::string>& names,
                            std::string_view pointer) {
  Chosen chosen(graph.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto position = graph.Find(names[i]);
    if (!position) {
      return Error{ErrorCode::kInvalid, fmt::format("no node '{}'", names[i].substr(0, 64)),
                   fmt::format("{}/{}", pointer, i)};
    }
    chosen[*position] = true;
  }
  return chosen;
}

Result<Chosen> RootsOf(const WorkflowGraph& graph, const NodeRows& rows,
                       const WorkflowRetry& retry) {
  Chosen chosen(graph.size(), retry.from == RetryFrom::kStart);
  if (retry.from == RetryFrom::kNodes) return ChosenByName(graph, retry.nodes, "/from");
  if (retry.from == RetryFrom::kFailed) {
    for (const size_t position : FailuresOf(graph, rows)) chosen[position] = true;
    for (size_t i = 0; i < graph.size(); ++i) {
      const RunState state = rows[i].state;
      if (state == RunState::kCancelled && !IsRepaired(graph, i, rows)) chosen[i] = true;
      if (state == RunState::kHeld) chosen[i] = true;
    }
  }
  return chosen;
}

// True if one of the nodes is not finally.
bool HasMain(const WorkflowGraph& graph, const Chosen& chosen) {
  for (size_t i = 0; i < graph.size(); ++i) {
    if (chosen[i] && !graph.is_finally(i)) return true;
  }
  return false;
}

void AddDownstream(const WorkflowGraph& graph, Chosen& chosen) {
  if (failpoint::Broken("retry.without_downstream")) return;
  const bool with_finally = HasMain(graph, chosen) && !failpoint::Broken("finally.not_again");
  for (const size_t position : graph.order()) {
    if (with_finally && graph.is_finally(position)) chosen[position] = true;
    if (!chosen[position]) continue;
    for (const size_t edge : graph.downstream(position)) chosen[graph.edges()[edge].to] = true;
  }
}

// True if the node starts after one of the chosen ones: it is downstream of it, or finally.
bool Follows(const WorkflowGraph& graph, size_t position, const Chosen& chosen) {
  if (graph.is_finally(position) && HasMain(graph, chosen)) return true;
  const auto& edges = graph.upstream(position);
  return std::any_of(edges.begin(), edges.end(),
                     [&](size_t edge) { return chosen[graph.edges()[edge].from]; });
}

// Plans changes of single nodes, and notes those that refuse them.
class Planner {
 public:
  Planner(const WorkflowGraph& graph, const NodeRows& rows, Overlap overlap)
      : graph_(graph),
        rows_(rows),
        overlap_(overlap),
        asked_(graph.size()),
        changed_(graph.size()) {}

  void BlockAgain(size_t position) { Change(position, To::kAgain); }
  void SkipByHand(size_t position) { Change(position, To::kSkippedByHand); }

  // Blocks the nodes again that the rules have skipped, and would not skip so now.
  void BlockWhatWasStopped() {
    NodeRows after = rows_;
    ApplyChanges(plan_.changes, after);
    for (const size_t position : graph_.order()) {
      if (changed_[position] || !IsSkippedByRule(after[position])) continue;
      const NodeVerdict verdict = JudgeNode(graph_, position, after);
      const bool same = verdict.kind == NodeVerdict::Kind::kSkip &&
                        verdict.reason == std::string_view(after[position].reason);
      if (same) continue;
      Change(position, To::kAgain);
      ApplyChanges({plan_.changes.back()}, after);
    }
  }

  // Blocks all finally nodes again if another one is.
  void BlockFinally() {
    if (failpoint::Broken("finally.not_again") || !HasMain(graph_, Again())) return;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (graph_.is_finally(i) && !asked_[i]) Change(i, To::kAgain);
    }
  }

  // `from_start`: a person wants everything to run again.
  RetryPlan Plan(bool from_start) && {
    BlockFinally();
    ChangeWhatWouldContinue();
    std::sort(plan_.changes.begin(), plan_.changes.end(),
              [](const NodeChange& a, const NodeChange& b) { return a.position < b.position; });
    for (NodeChange& change : plan_.changes) {
      if (change.to != To::kAgain) continue;
      const bool old_input =
          from_start || !HasFailed(change.position) || UpstreamChanges(change.position);
      change.anew = old_input && !failpoint::Broken("retry.nested_continues");
      plan_.run_again.push_back(graph_.node(change.position).id);
    }
    return std::move(plan_);
  }

 private:
  // A node that an earlier retry has blocked may be a nested workflow run that is to continue. What
  // it worked with is no longer true if a node before it runs again as well.
  void ChangeWhatWouldContinue() {
    Chosen again = Again();
    for (const size_t position : graph_.order()) {
      const NodeRow& row = rows_[position];
      if (changed_[position] || !IsBlocked(row) || row.attempt == 1) continue;
      if (!Follows(graph_, position, again)) continue;
      again[position] = true;
      plan_.changes.push_back({.position = position, .attempt = row.attempt});
    }
  }
  // The nodes that the changes so far block again.
  Chosen Again() const {
    Chosen again(graph_.size());
    for (const NodeChange& change : plan_.changes) again[change.position] = change.to == To::kAgain;
    return again;
  }
  // It was tried and failed; a node that was SKIPPED has not worked with what is there now.
  bool HasFailed(size_t position) const {
    const NodeRow& row = rows_[position];
    return IsFinal(row.state) && row.state != RunState::kCompleted &&
           row.state != RunState::kSkipped;
  }
  // The runs of a node that is blocked already will run again, too.
  bool UpstreamChanges(size_t position) const {
    Chosen changes = changed_;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsBlocked(rows_[i])) changes[i] = true;
    }
    return Follows(graph_, position, changes);
  }
  void Change(size_t position, To to) {
    const NodeRow& row = rows_[position];
    asked_[position] = true;
    if (IsBlocked(row) && to == To::kAgain) return;
    if (row.may_still_run && overlap_ == Overlap::kUnconfirmed) {
      plan_.may_still_run.push_back(position);
      return;
    }
    // A run that waits can be taken away, but not be made to wait once more.
    const bool waits = row.state == RunState::kPending && to == To::kSkippedByHand;
    const bool open = (IsActive(row) && row.state != RunState::kHeld) || row.opened;
    if (open && !waits) {
      plan_.open.push_back(position);
      return;
    }
    const bool was_tried = row.state != RunState::kSkipped && row.state != RunState::kPending;
    const bool given_back = row.state == RunState::kSkipped && !IsSkippedByRule(row) &&
                            to == To::kAgain && !failpoint::Broken("retry.same_attempt");
    changed_[position] = true;
    plan_.changes.push_back({.position = position,
                             .to = to,
                             .attempt = row.attempt + (was_tried || given_back ? 1 : 0),
                             .record_attempt = was_tried,
                             .given_back = given_back});
  }

  const WorkflowGraph& graph_;
  const NodeRows& rows_;
  const Overlap overlap_;
  Chosen asked_;  // whether it can be changed
  Chosen changed_;
  RetryPlan plan_;
};

bool MayBeSkipped(const NodeRow& row) {
  return row.state == RunState::kPending || row.state == RunState::kHeld ||
         EndOf(row) == NodeEnd::kFailure || EndOf(row) == NodeEnd::kTooFew;
}

// True if the retry names nodes, and all of them wait to be started.
bool WaitAlready(const NodeRows& rows, const WorkflowRetry& retry, const Chosen& named) {
  if (retry.from != RetryFrom::kNodes) return false;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (named[i] && !IsBlocked(rows[i])) return false;
  }
  return true;
}

Status CheckGoesOn(std::string_view what, const RunRow& own, bool timed_out) {
  const bool late = timed_out && !IsFinal(own.state);
  if (!own.cancel_requested && !late) return {};
  return {
      ErrorCode::kConflict,
      fmt::format(
          "{}: the workflow run {}; if it waits for a HELD node, cancel it with "
          "confirm_overlap",
          what, own.cancel_requested ? "is being cancelled" : "has reached its deadline and ends")};
}

Error CannotSkip(const WorkflowGraph& graph, size_t position, const NodeRow& row) {
  return {ErrorCode::kConflict,
          fmt::format("node '{}' is {}{}{}; only a node that waits, is HELD or has failed can be "
                      "skipped",
                      graph.node(position).id, Name(row.state), row.reason.empty() ? "" : " ",
                      row.reason)};
}

std::string Named(const WorkflowGraph& graph, std::string_view what,
                  const std::vector<size_t>& positions) {
  std::string text;
  for (const size_t position : positions) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", graph.node(position).id);
  }
  return text.empty() ? text : fmt::format("{}: {}", what, text);
}

}  // namespace

Result<RetryPlan> PlanRetry(const WorkflowGraph& graph, const NodeRows& rows,
                            const WorkflowRetry& retry, bool begins_again) {
  CARILLON_CHECK(rows.size() == graph.size(), "a row for each node");
  CARILLON_ASSIGN_OR_RETURN(Chosen chosen, RootsOf(graph, rows, retry));
  CARILLON_ASSIGN_OR_RETURN(const Chosen skip, ChosenByName(graph, retry.skip, "/skip"));
  const bool granted = begins_again || WaitAlready(rows, retry, chosen);
  AddDownstream(graph, chosen);
  Planner planner(graph, rows, retry.overlap);
  for (size_t i = 0; i < graph.size(); ++i) {
    if (skip[i] && !chosen[i] && !MayBeSkipped(rows[i])) return CannotSkip(graph, i, rows[i]);
    if (skip[i]) {
      planner.SkipByHand(i);
    } else if (chosen[i]) {
      planner.BlockAgain(i);
    }
  }
  planner.BlockWhatWasStopped();
  RetryPlan plan = std::move(planner).Plan(retry.from == RetryFrom::kStart);
  if (!plan.changes.empty() || plan.refused() || granted) return plan;
  return Error{ErrorCode::kConflict, "no node is to be run again"};
}

bool BeginsAgain(const RunRow& own) {
  return own.state == RunState::kPending && (own.flags & run_flag::kAnew) == 0;
}

Status CheckMayRetry(const RunRow& own, bool timed_out) {
  if (own.state == RunState::kPending && !BeginsAgain(own)) {
    return {ErrorCode::kConflict, "retry: the workflow run waits to begin anew"};
  }
  return CheckGoesOn("retry", own, timed_out);
}

Status CheckMaySkip(const RunRow& own, bool timed_out) {
  if (IsFinal(own.state) || (own.state == RunState::kPending && !BeginsAgain(own))) {
    return {ErrorCode::kConflict, "skip: the workflow run has ended; retry it and name the node"};
  }
  return CheckGoesOn("skip", own, timed_out);
}

Result<RetryPlan> PlanSkip(const WorkflowGraph& graph, const NodeRows& rows, std::string_view node,
                           Overlap overlap) {
  CARILLON_CHECK(rows.size() == graph.size(), "a row for each node");
  const auto position = graph.Find(node);
  if (!position) {
    return Error{ErrorCode::kInvalid, fmt::format("no node '{}'", node.substr(0, 64)), "/node"};
  }
  if (!MayBeSkipped(rows[*position])) return CannotSkip(graph, *position, rows[*position]);
  Planner planner(graph, rows, overlap);
  planner.SkipByHand(*position);
  planner.BlockWhatWasStopped();
  return std::move(planner).Plan(false);
}

void ApplyChanges(const std::vector<NodeChange>& changes, NodeRows& rows) {
  for (const NodeChange& change : changes) {
    const bool skipped = change.to == To::kSkippedByHand;
    rows[change.position] = {
        .state = skipped ? RunState::kSkipped : RunState::kPending,
        .blocked = !skipped,
        .reason = skipped ? std::string(reason::kSkippedByHand) : std::string(),
        .attempt = change.attempt};
  }
}

std::string RefusalSentence(const WorkflowGraph& graph, const RetryPlan& plan) {
  const std::string open = Named(graph, kRunning, plan.open);
  const std::string unknown = Named(graph, kMayStillRun, plan.may_still_run);
  return open + (open.empty() || unknown.empty() ? "" : "; ") + unknown;
}

Error RefusalOf(std::string_view what, const WorkflowGraph& graph, const RetryPlan& plan) {
  return {ErrorCode::kConflict, fmt::format("{}: {}", what, RefusalSentence(graph, plan)),
          plan.open.empty() ? "/confirm_overlap" : ""};
}

bool NamesOpenNodes(const Error& error) {
  if (error.code != ErrorCode::kConflict) return false;
  const auto has = [&](std::string_view part) {
    return error.message.find(fmt::format("{}: ", part)) != std::string::npos;
  };
  return has(kRunning) || has(kMayStillRun);
}

}  // namespace carillon
