// The ends of runs that a schedule, other jobs or the own run of a fire wait for
// (common/domain/run/completion.h), and what follows them.
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

// A fire of which parts have ended. Its own run ends when all have.
struct FireLook {
  RunKey own;
  SegmentId segment;
  JobNo job_no;
  // The completions of its parts that were read before: they are deleted. The parts are read later,
  // so that what they tell of is seen.
  std::vector<uint64_t> told = {};

  bool operator==(const FireLook&) const = default;
};

struct FireEffect {
  std::optional<RunState> ended = {};  // the own run, now or, by a late result of a part, anew
  bool freed_slot = false;             // a queued run of its job may be admitted
  bool completed = false;              // a completion of the own run was written
};

class CompletionStore {
 public:
  virtual ~CompletionStore() = default;

  // The oldest completions of `segments`, by id. There is no cursor: ids become visible out of
  // order, so a later call may return an earlier id. Takes no locks.
  virtual Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                             size_t limit) = 0;

  // Acts on completions, not of the target kParts, in their order, and deletes them: a delay
  // schedule that awaits the run gets its next fire (DecideNextFire), or keeps it for the resume if
  // its job is paused; each dependent that the end starts gets a run, due now (dependents.h), or a
  // gap if it is paused. All or nothing. One effect per completion. `now` must have been read after
  // the completions.
  virtual Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                                      const Fence& fence, WallTime now) = 0;

  // For each fire, locks its own run, then reads its parts, and applies EndOf and DecideFireEnd
  // (fire_end.h) if none is open. All or nothing. One effect per fire, in order; each fire once.
  // `now` must have been read after the completions.
  virtual Result<std::vector<FireEffect>> EndFires(const std::vector<FireLook>& fires,
                                                   const Fence& fence, WallTime now) = 0;
  // Fires of `segments` that have begun and were due by `due`, of which no part is open and no
  // completion tells. No write of Carillon leaves such a run; a repair by hand may. Takes no locks.
  virtual Result<std::vector<FireLook>> ScanUnended(const std::vector<SegmentId>& segments,
                                                    WallTime due, size_t limit) = 0;

  // Takes no locks.
  virtual Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                                       size_t limit) = 0;

  // Lets the schedule fire now, or when its job is resumed. Returns false if it has changed.
  virtual Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) = 0;
};

}  // namespace carillon
