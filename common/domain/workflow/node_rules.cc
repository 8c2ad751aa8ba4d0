#include "common/domain/workflow/node_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon {
namespace {

// The number of edges of a node by their verdicts.
struct Tally {
  int64_t open = 0;
  int64_t met = 0;
  int64_t succeeded = 0;  // met, after a success
  int64_t failed = 0;
  int64_t broken = 0;
};

// Of an upstream node whose edge is met: whether trigger rule `succeeded` counts it.
bool CountsAsSuccess(const NodeRow& row) {
  return EndOf(row) == NodeEnd::kSuccess || failpoint::Broken("rule.allowed_counts");
}

Tally CountEdges(const WorkflowGraph& graph, size_t position, const NodeRows& rows) {
  Tally tally;
  for (const size_t edge : graph.upstream(position)) {
    switch (JudgeEdge(graph, graph.edges()[edge], rows)) {
      case EdgeVerdict::kOpen: ++tally.open; break;
      case EdgeVerdict::kMet:
        tally.met += failpoint::Broken("edge.met_twice") ? 2 : 1;
        if (CountsAsSuccess(rows[graph.edges()[edge].from])) ++tally.succeeded;
        break;
      case EdgeVerdict::kFailed: ++tally.failed; break;
      case EdgeVerdict::kBroken: ++tally.broken; break;
      case EdgeVerdict::kIgnored:
        if (failpoint::Broken("edge.ignored_blocks")) ++tally.failed;
        break;
    }
  }
  return tally;
}

EdgeVerdict ByTable(const WorkflowGraph::Edge& edge, NodeEnd end, bool allow_failure) {
  switch (end) {
    case NodeEnd::kOpen: return EdgeVerdict::kOpen;
    case NodeEnd::kSuccess:
      return edge.on == EdgeOn::kFailure ? EdgeVerdict::kIgnored : EdgeVerdict::kMet;
    case NodeEnd::kFailure:
      return edge.on == EdgeOn::kSuccess && !allow_failure ? EdgeVerdict::kFailed
                                                           : EdgeVerdict::kMet;
    case NodeEnd::kNotSelected: return EdgeVerdict::kIgnored;
    case NodeEnd::kUpstreamFailed:
    case NodeEnd::kTooFew: break;
  }
  const bool allowed = end == NodeEnd::kTooFew && allow_failure;
  switch (edge.on) {
    case EdgeOn::kSuccess: return allowed ? EdgeVerdict::kMet : EdgeVerdict::kFailed;
    case EdgeOn::kFailure: return EdgeVerdict::kIgnored;
    case EdgeOn::kDone: return EdgeVerdict::kMet;
  }
  return EdgeVerdict::kIgnored;
}

// `edges`: of the node.
NodeVerdict JudgeSucceeded(int64_t least, int64_t edges, const Tally& tally) {
  using Kind = NodeVerdict::Kind;
  const int64_t needed = least == TriggerRule::kAll ? edges : least;
  if (tally.succeeded >= needed) return {.kind = Kind::kStart};
  if (tally.open > 0) return {.kind = Kind::kWait};
  return {.kind = Kind::kSkip,
          .reason = tally.broken > 0 ? reason::kBadCondition : reason::kTooFew};
}

bool IsSkippedFor(const NodeRow& row, std::string_view why) {
  return row.state == RunState::kSkipped && row.reason == why;
}

// True if the node has ended after a start. A run may also be skipped or cancelled before one, for
// example because its job was deleted; it is a failure then, but has repaired nothing.
bool HasRun(const NodeRow& row) {
  if (row.state == RunState::kSkipped) return EndOf(row) == NodeEnd::kSuccess;
  const bool may_be_unstarted =
      row.state == RunState::kCancelled || row.reason == reason::kUpstreamTimeout;
  return IsFinal(row.state) && (!may_be_unstarted || row.claimed);
}

std::string WhyNotComputable(const Condition& condition, const NodeRow& row) {
  if (row.state == RunState::kSkipped) {
    return fmt::format("it was SKIPPED ({}), and so has neither exit code nor outputs", row.reason);
  }
  if (condition.AsksForExitCode() && !row.exit_code) return "it has no exit code";
  return "an output is missing, or is not of the type with which it is compared";
}

bool FollowsOneOf(const WorkflowGraph& graph, size_t position, const std::vector<bool>& chosen) {
  const auto& edges = graph.upstream(position);
  return std::ranges::any_of(edges, [&](size_t edge) { return chosen[graph.edges()[edge].from]; });
}

}  // namespace

NodeRow NodeRowOf(const RunRow& run, const AttemptResult& result, WallTime until) {
  NodeRow row{.state = run.state,
              .blocked = run.state == RunState::kPending && IsUnreleased(run.due),
              .awaiting = run.state == RunState::kPending && run.due == kAwaiting,
              .reason = result.reason,
              .attempt = run.attempt,
              .may_still_run = run.may_still_run,
              .cancel_requested = run.cancel_requested.has_value(),
              .claimed = run.claimed != WallTime{},
              .opened = run.state == RunState::kPending && IsOpenedNode(run.due),
              .until = until};
  if (row.opened) row.started = result.started;
  if (!IsFinal(run.state) || run.state == RunState::kSkipped) return row;
  row.exit_code = result.exit_code;
  row.outputs = result.outputs;
  return row;
}

NodeEnd EndOf(const NodeRow& row) {
  if (!IsFinal(row.state)) return NodeEnd::kOpen;
  if (row.state == RunState::kCompleted || IsSkippedFor(row, reason::kSkippedByHand)) {
    return NodeEnd::kSuccess;
  }
  if (IsSkippedFor(row, reason::kNotSelected)) return NodeEnd::kNotSelected;
  if (IsSkippedFor(row, reason::kUpstreamFailed)) return NodeEnd::kUpstreamFailed;
  if (IsSkippedFor(row, reason::kTooFew)) return NodeEnd::kTooFew;
  return NodeEnd::kFailure;
}

std::string_view Name(EdgeVerdict verdict) {
  switch (verdict) {
    case EdgeVerdict::kOpen: return "open";
    case EdgeVerdict::kMet: return "met";
    case EdgeVerdict::kFailed: return "failed";
    case EdgeVerdict::kIgnored: return "ignored";
    case EdgeVerdict::kBroken: return "broken";
  }
  return "";
}

EdgeVerdict JudgeEdge(const WorkflowGraph& graph, const WorkflowGraph::Edge& edge,
                      const NodeRows& rows) {
  const NodeRow& from = rows[edge.from];
  const EdgeVerdict verdict = ByTable(edge, EndOf(from), graph.node(edge.from).allow_failure);
  const bool asked =
      verdict == EdgeVerdict::kMet && edge.condition && !IsSkippedFor(from, reason::kSkippedByHand);
  if (!asked) return verdict;
  // A run that was skipped may still have the values of an attempt before that.
  const bool ran = from.state != RunState::kSkipped;
  const Truth truth = edge.condition->Evaluate({.state = from.state,
                                                .exit_code = ran ? from.exit_code : std::nullopt,
                                                .outputs = ran ? &from.outputs : nullptr});
  switch (truth) {
    case Truth::kTrue: return EdgeVerdict::kMet;
    case Truth::kFalse: return EdgeVerdict::kIgnored;
    case Truth::kNotComputable: break;
  }
  return EdgeVerdict::kBroken;
}

NodeVerdict JudgeNode(const WorkflowGraph& graph, size_t position, const NodeRows& rows) {
  using Kind = NodeVerdict::Kind;
  const bool early = failpoint::Broken("finally.early");
  if (graph.is_finally(position) && !HasMainEnded(graph, rows) && !early) {
    return {.kind = Kind::kWait};
  }
  if (graph.upstream(position).empty()) return {.kind = Kind::kStart};
  const Tally tally = CountEdges(graph, position, rows);
  const auto& [least, succeeded] = graph.node(position).trigger_rule;
  if (succeeded) {
    return JudgeSucceeded(least, static_cast<int64_t>(graph.upstream(position).size()), tally);
  }
  const bool all = least == TriggerRule::kAll;
  const bool decided_early = failpoint::Broken("node.decided_early") && tally.failed > 0;
  if (!all && tally.met >= least) return {.kind = Kind::kStart};
  if (tally.open > 0 && !decided_early) return {.kind = Kind::kWait};
  if (tally.broken > 0) return {.kind = Kind::kSkip, .reason = reason::kBadCondition};
  if (tally.failed > 0) return {.kind = Kind::kSkip, .reason = reason::kUpstreamFailed};
  if (all && tally.met > 0) return {.kind = Kind::kStart};
  return {.kind = Kind::kSkip, .reason = reason::kNotSelected};
}

bool HasMainEnded(const WorkflowGraph& graph, const NodeRows& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!graph.is_finally(i) && !IsFinal(rows[i].state)) return false;
  }
  return true;
}

std::string BrokenConditionOf(const WorkflowGraph& graph, size_t position, const NodeRows& rows) {
  for (const size_t index : graph.upstream(position)) {
    const WorkflowGraph::Edge& edge = graph.edges()[index];
    if (JudgeEdge(graph, edge, rows) != EdgeVerdict::kBroken) continue;
    const std::string& from = graph.node(edge.from).id;
    for (const WorkflowEdge& written : graph.node(position).after) {
      if (written.node != from) continue;
      return fmt::format("the condition after node {} cannot be computed from its end: {}; {}",
                         from, written.condition,
                         WhyNotComputable(*edge.condition, rows[edge.from]));
    }
  }
  return {};
}

bool IsSkippedByRule(const NodeRow& row) {
  return IsSkippedFor(row, reason::kNotSelected) || IsSkippedFor(row, reason::kUpstreamFailed) ||
         IsSkippedFor(row, reason::kBadCondition) || IsSkippedFor(row, reason::kTooFew);
}

bool IsRepaired(const WorkflowGraph& graph, size_t position, const NodeRows& rows) {
  if (failpoint::Broken("workflow.recovers")) return false;
  const auto& edges = graph.downstream(position);
  return std::any_of(edges.begin(), edges.end(), [&](size_t index) {
    const WorkflowGraph::Edge& edge = graph.edges()[index];
    return edge.recovers && JudgeEdge(graph, edge, rows) == EdgeVerdict::kMet &&
           HasRun(rows[edge.to]);
  });
}

std::vector<size_t> FailuresOf(const WorkflowGraph& graph, const NodeRows& rows) {
  std::vector<size_t> failures;
  std::vector<bool> fails(graph.size());  // the run: it, or one that has kept it from starting
  for (const size_t i : graph.order()) {
    const NodeEnd end = EndOf(rows[i]);
    const bool stopped = end == NodeEnd::kUpstreamFailed || end == NodeEnd::kTooFew;
    const bool behind = stopped && FollowsOneOf(graph, i, fails);
    const bool failed = end == NodeEnd::kFailure || (end == NodeEnd::kTooFew && !behind);
    const bool outdated = end == NodeEnd::kUpstreamFailed && CountEdges(graph, i, rows).failed == 0;
    const bool counts =
        !graph.node(i).allow_failure && (outdated || (failed && !IsRepaired(graph, i, rows)));
    if (counts) failures.push_back(i);
    fails[i] = counts || behind;
  }
  std::ranges::sort(failures);
  return failures;
}

}  // namespace carillon
