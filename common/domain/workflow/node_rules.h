// Decides from the ends of its upstream nodes whether a node starts, waits or is skipped. Pure.
//
//   upstream is                   on: success   on: failure   on: done
//   success                       met           ignored       met
//   failure                       failed        met           met
//   failure, allow_failure        met           met           met
//   not selected                  ignored       ignored       ignored
//   upstream failed               failed        ignored       met
//   too few                       failed        ignored       met
//   too few, allow_failure        met           ignored       met
//
// The condition of an edge is asked where the table says met, except if a person skipped the
// upstream node. False: ignored. Not computable: broken.
//
// Trigger rule `all`: starts when all upstream have ended, none is failed or broken, and one is
// met; or if there is no upstream. `any`, or a number: starts when that many edges are met. A node
// that does not start is skipped, but not before all upstream have ended, so that the order in
// which they end does not matter: bad_condition if an edge is broken, else upstream_failed if one
// is failed, else not_selected.
//
// Trigger rule `succeeded`: an edge counts only if it is met and its upstream node is a success. A
// number: starts when so many count. `all`: when all do. Otherwise, once all upstream have ended,
// it is skipped: bad_condition if an edge is broken, else too_few. That was no start, so nothing
// that follows a failure starts after it.
//
// A finally node waits until all nodes that are not finally have ended; then the same rules apply.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/run/run.h"
#include "common/domain/workflow/workflow_graph.h"

namespace carillon {

// Reasons of node runs that are SKIPPED without having started.
namespace reason {
// By the rules above. The first two are no failures.
inline constexpr std::string_view kNotSelected = "not_selected";
inline constexpr std::string_view kUpstreamFailed = "upstream_failed";
inline constexpr std::string_view kBadCondition = "bad_condition";
inline constexpr std::string_view kTooFew = "too_few";  // TriggerRule::succeeded cannot be met
// By a person; counts as a success.
inline constexpr std::string_view kSkippedByHand = "skipped_by_hand";
// At the release, as kForbidden: a parameter cannot be rendered, or the job does not accept it.
inline constexpr std::string_view kBadParameters = "bad_parameters";
// A parameter with text from outside would become part of the job's command.
inline constexpr std::string_view kUnsafeParameter = "unsafe_parameter";
}  // namespace reason

// The row of a node's run, as far as decisions depend on it.
struct NodeRow {
  RunState state = RunState::kPending;
  bool blocked = true;    // PENDING behind upstream nodes: never released, or blocked again
  bool awaiting = false;  // blocked, and waits for runs of other jobs first: not to be released
  std::string reason = {};
  int attempt = 1;
  bool may_still_run = false;
  bool cancel_requested = false;
  bool claimed = true;            // an attempt was started once
  bool opened = false;            // PENDING without a process: an approval or a wait (IsOpenedNode)
  WallTime until = WallTime{};    // of an opened one: its end; zero = none
  WallTime started = WallTime{};  // likewise: when it opened, if that is known
  // Of the attempt that ended; empty if the run is not final, or was skipped.
  std::optional<int> exit_code = {};
  Outputs outputs = {};

  bool operator==(const NodeRow&) const = default;
};
// In the order of the definition.
using NodeRows = std::vector<NodeRow>;

// `result` is that of the last attempt, as far as it has ended. `until` is RunDetail::until.
NodeRow NodeRowOf(const RunRow& run, const AttemptResult& result, WallTime until);

constexpr bool IsBlocked(const NodeRow& row) {
  return row.state == RunState::kPending && row.blocked;
}
// True if the run counts towards max_parallel. A node that only waits does not.
constexpr bool IsActive(const NodeRow& row) {
  return !IsFinal(row.state) && !IsBlocked(row) && !row.opened;
}

enum class NodeEnd { kOpen, kSuccess, kFailure, kNotSelected, kUpstreamFailed, kTooFew };
NodeEnd EndOf(const NodeRow& row);

enum class EdgeVerdict { kOpen, kMet, kFailed, kIgnored, kBroken };
std::string_view Name(EdgeVerdict verdict);  // "open", "met", …
EdgeVerdict JudgeEdge(const WorkflowGraph& graph, const WorkflowGraph::Edge& edge,
                      const NodeRows& rows);

struct NodeVerdict {
  enum class Kind { kWait, kStart, kSkip };
  Kind kind = Kind::kWait;
  std::string_view reason = {};  // of kSkip

  bool operator==(const NodeVerdict&) const = default;
};
// Judges a node by its upstream alone, whatever its own state is.
NodeVerdict JudgeNode(const WorkflowGraph& graph, size_t position, const NodeRows& rows);

// True if every node that is not finally has ended. From then on no deadline of the workflow run
// applies; finally nodes have their own.
bool HasMainEnded(const WorkflowGraph& graph, const NodeRows& rows);

// Names the first condition of the node that cannot be computed; "" = there is none.
std::string BrokenConditionOf(const WorkflowGraph& graph, size_t position, const NodeRows& rows);

// True if JudgeNode's verdict, and nobody else, has skipped the node.
bool IsSkippedByRule(const NodeRow& row);

// True if a node repairs the failure of this one: an edge with `recovers` is met, and its node was
// started, or skipped by a person.
bool IsRepaired(const WorkflowGraph& graph, size_t position, const NodeRows& rows);

// Positions of the nodes that make the workflow run fail: failures without allow_failure that are
// not repaired. A node that is upstream_failed although no upstream failed counts too: the late
// success of a run that was lost has come after the node had been skipped. One that is too_few
// counts unless a node before it does: the run was not to go on with so few successes, whether
// these were allowed failures, repaired ones or nodes that were not selected.
std::vector<size_t> FailuresOf(const WorkflowGraph& graph, const NodeRows& rows);

}  // namespace carillon
