// Decides what follows in a workflow run from the rows of its node runs. Pure, and idempotent: a
// step that is repeated decides the same.
//
// Place    The owner of a workflow run calls it, inside a transaction, after each end of a node run
//          and after each request. node_rules.h has the rules of nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/workflow/node_rules.h"

namespace carillon {

// The reason why the run must end before its nodes have ended by themselves.
enum class WorkflowCause { kNone, kCancel, kDeadline };

// The workflow run as its step meets it.
struct StepFacts {
  WorkflowCause cause = WorkflowCause::kNone;
  WallTime now = WallTime{};
  // Of the cluster: no approval expires, and finally nodes are not stopped for their time.
  bool paused = false;
  // Of kCancel: finally nodes end, too, because the mode is CancelMode::kKill or the own run has
  // ended already.
  bool killed = false;
  WallTime fire = WallTime{};  // for waits, with the zone of the fire and the run's parameters
  std::string time_zone = "UTC";
  const std::map<std::string, ParameterValue>* parameters = nullptr;  // null: none
  // When only finally nodes were left; nullopt: not yet, or not since a person's retry or skip has
  // blocked nodes again.
  std::optional<WallTime> finally_since = {};
};

enum class NodeAction {
  kRelease,  // blocked: the run becomes claimable
  kSkip,     // blocked: write SKIPPED with the reason
  kCancel,   // PENDING, blocked or not: write CANCELLED
  kStop,     // RUNNING or HELD: request a cancel (DecideCancel)
  kOpen,     // blocked: an approval or a wait begins; write `due` and `until`, started = now
  kFinish,   // opened, or a wait that is over when it opens: write the end, `result`
};

struct NodeDecision {
  size_t position = 0;
  NodeAction action = NodeAction::kRelease;
  std::string_view reason = {};  // of kSkip
  std::string error = {};        // likewise: a sentence, if there is more to say
  WallTime due = kNever;         // of kOpen: kUndecided or kTimed
  WallTime until = WallTime{};   // of kOpen; zero = never
  AttemptResult result = {};     // of kFinish

  bool operator==(const NodeDecision&) const = default;
};

// The end of the workflow run itself.
struct WorkflowEnd {
  RunState state = RunState::kCompleted;  // COMPLETED, FAILED, CANCELLED or TIMED_OUT
  std::vector<size_t> failures = {};      // FailuresOf; names them in the run's `error`

  bool operator==(const WorkflowEnd&) const = default;
};

struct WorkflowStep {
  std::vector<NodeDecision> decisions = {};
  // Set if all nodes are final once the decisions are written. If one of them was not written,
  // because its row had changed or because its release became a skip (bad_parameters), then `end`
  // does not hold: take the next step from the new rows.
  std::optional<WorkflowEnd> end = {};
  // Only finally nodes are left from now on: write it, once (StepFacts::finally_since). There may
  // be no decision beside it.
  bool finally_begins = false;
  // Set if the nodes that are not finally had ended before this step: WorkflowFacts::state.
  std::optional<RunState> state = {};
};

// `rows` has the size of the graph. The ends of opened nodes are decided first, then skips, along
// the whole graph; then nodes that are ready are released, in the order of the definition, while
// fewer than max_parallel node runs are active. Approvals and waits open without that limit. A node
// is never released and skipped in one step, except for a wait whose time cannot be read.
//
// Finally nodes are decided about in a step of their own, once all others are final. Neither a
// graceful cancel nor the deadline keeps them from that. finally_timeout_s after it began, those
// that are open are stopped, and count as failed.
WorkflowStep StepWorkflow(const WorkflowGraph& graph, NodeRows rows, const StepFacts& facts);

}  // namespace carillon
