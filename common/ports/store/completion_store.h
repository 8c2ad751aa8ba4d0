// The ends of runs that a schedule or other jobs wait for (common/domain/run/completion.h), and
// what follows them.
//
// Threads  Thread-safe; calls may block for the configured statement timeout.
// Errors   As FiringStore.
// Always   Every write that gives an awaited run a final state adds its completion in the same
//          transaction. A completion is deleted in the transaction that acts on it. So acting twice
//          on the same one, after an unknown outcome, changes nothing.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/run/completion.h"
#include "common/ports/fence.h"

namespace carillon {

// The effect of one completion.
struct CompletionEffect {
  bool awaited = false;         // the schedule waited for this end
  WallTime next_fire = kNever;  // of the schedule then; kNever if its job is paused
  // For the target kDependents:
  std::vector<RunRow> started = {};  // the new runs of dependents
  int64_t existing = 0;              // dependents that the run has started before
  int64_t paused = 0;  // dependents that are paused, or have no room: a gap was written
};

// A delay schedule that waits for the end of a run that is not open, although no completion tells
// of its end. No write of Carillon leaves such a row; a repair by hand may.
struct StuckSchedule {
  ScheduleId schedule_id;
  JobNo job_no;
  SegmentId segment;
  WallTime awaited;

  bool operator==(const StuckSchedule&) const = default;
};

class CompletionStore {
 public:
  virtual ~CompletionStore() = default;

  // The oldest completions of `segments`, by id. There is no cursor: ids become visible out of
  // order, so a later call may return an earlier id. Takes no locks.
  virtual Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                             size_t limit) = 0;

  // Acts on the completions in their order, and deletes them: a delay schedule that awaits the run
  // gets its next fire (DecideNextFire), or keeps it for the resume if its job is paused; each
  // dependent that the end starts gets a run, due now (dependents.h), or a gap if it is paused. All
  // or nothing. One effect per completion. `now` must have been read after the completions.
  virtual Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                                      const Fence& fence, WallTime now) = 0;

  // Takes no locks.
  virtual Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                                       size_t limit) = 0;

  // Lets the schedule fire now, or when its job is resumed. Returns false if it has changed.
  virtual Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) = 0;
};

}  // namespace carillon
