// The key of a node's run, computed from the workflow run and the node's position. Pure.
//
//   fire      the fire of the workflow run, so that the logical date passes down
//   schedule  2^51 + number of the workflow run * 1,024 + position of the node
//   shard     0
//
// Ids of schedules are given out from 1 upwards and stay far below 2^51.
#pragma once

#include <cstdint>
#include <optional>

#include "common/domain/run/run.h"

namespace carillon {

inline constexpr uint64_t kFirstNodeSchedule = uint64_t{1} << 51;
inline constexpr uint64_t kNodePositionsMax = 1024;
// Numbers of workflow runs are below this, so that every key fits into a run id.
inline constexpr uint64_t kWorkflowRunNoMax = kFirstNodeSchedule / kNodePositionsMax;

// The place of a node run: which workflow run (within its fire), and which node.
struct NodePlace {
  uint64_t workflow_run_no = 0;
  size_t position = 0;

  bool operator==(const NodePlace&) const = default;
};

// kExhausted: the number or the position is too large.
Result<RunKey> NodeKey(WallTime fire, const NodePlace& place);

// nullopt: the run is not a node's.
std::optional<NodePlace> NodePlaceOf(const RunKey& key);

// True if a failure of the run leaves a dead letter. That of a node belongs to its workflow, the
// outermost one; that of a part to the own run of its fire.
bool LeavesDeadLetter(const RunRow& row);

// The priority of a node's run: that of its job, or that of the workflow's own run if it is higher.
int PriorityOfNode(int of_job, const RunRow& own);
// The priority of a run after an edit of its job, and for its next attempt. A node may have the one
// of its workflow's run, so it never becomes lower.
int NextPriority(const RunRow& row, int of_job);

// True for the run of a workflow while it runs: no executor has claimed it, so it has no lease and
// is never lost. Its owner ends it when its nodes have ended (workflow_step.h).
bool IsRunningWorkflow(const RunRow& row);

// One line, for the store. nullopt: the text says something else, or this version cannot read it.
std::string ToText(const NodeOrigin& origin);
std::optional<NodeOrigin> NodeOriginFromText(std::string_view text);

// The keys of all node runs of a workflow run are in [first, last].
struct NodeKeyRange {
  RunKey first;
  RunKey last;
};
Result<NodeKeyRange> NodeKeysOf(WallTime fire, uint64_t workflow_run_no);

}  // namespace carillon
