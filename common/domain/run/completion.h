// The ends of runs that something waits for, such as the next fire of a delay schedule. Pure.
//
// The store writes a RunCompletion in the transaction that gives the run its final state. Whoever
// waits acts on it later, in another transaction, which also deletes it. So an end is acted upon
// although a process may die between the two.
//
// Place    docs/adr/0024-ends-are-told-by-an-outbox.md.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/domain/run/run.h"

namespace carillon {

// The receivers of an end: the schedule of the run (a delay), other jobs (dependents.h), the
// workflow run of which it is a node, or the own run of the fire of which it is a part. The
// workflow run has an owner and a store of its own (workflow_store.h).
enum class CompletionTarget { kSchedule, kDependents, kWorkflow, kParts };

struct RunCompletion {
  uint64_t id = 0;
  SegmentId segment;
  RunKey key;
  JobNo job_no;
  RunState state = RunState::kCompleted;
  WallTime ended;
  CompletionTarget target = CompletionTarget::kSchedule;
  bool by_hand = false;  // ByHandFlag of the run: a person started its chain

  bool operator==(const RunCompletion&) const = default;
};

// True if a completion must be written when the run ends.
constexpr bool IsAwaited(const RunRow& row) { return (row.flags & run_flag::kAwaited) != 0; }
// The targets of the completions that are written then, one each.
std::vector<CompletionTarget> TargetsOf(const RunRow& row);
std::string_view Name(CompletionTarget target);  // "schedule", "dependents", …

// The time of an end, which a host has reported by its own clock: not before the claim.
WallTime EndOf(const RunRow& row, WallTime reported);

// The part of a delay schedule's row that decides about an end.
struct DelayWait {
  Duration every{};
  WallTime awaited = WallTime{};  // the fire whose run is open; zero: the schedule awaits nothing
};

// Returns the next fire of a delay schedule after the end of one of its runs: `every` after the
// end, but later than the last fire. nullopt: the schedule does not wait for this run. That is so
// for every end after the first: if a user retried the run, or a late result replaced LOST. `now`
// is cluster time, read after the end was; the clock of the host that reported the end may be ahead
// of it.
std::optional<WallTime> DecideNextFire(const DelayWait& wait, const RunCompletion& end,
                                       WallTime now);

// The fire of a delay schedule that awaits a run that exists no more.
WallTime FireAfterLoss(const DelayWait& wait, WallTime now);

}  // namespace carillon
