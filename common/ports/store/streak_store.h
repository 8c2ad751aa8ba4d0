// Port of the pauses of jobs whose runs fail in a row (pause_after_failures).
//
// Threads  Thread-safe; blocking.
// Errors   As firing_store.h for calls with a fence, else as job_store.h.
#pragma once

#include <optional>
#include <vector>

#include "common/domain/run/streak.h"
#include "common/ports/fence.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/notice_store.h"

namespace carillon {

// An enabled job with pause_after_failures, and with dead letters since some time.
struct FailingJob {
  JobNo job_no;
  JobId job_id;
  SegmentId segment;
  StreakRule rule;
  // Of these dead letters, so that a caller sees whether there are further ones.
  int64_t letters = 0;
  uint64_t newest_letter = 0;
};

// The notice of a job that was paused for a full streak.
inline Notice NoticeOf(const FailingJob& job, const Streak& streak, WallTime now) {
  return {.kind = NoticeKind::kJobPaused,
          .segment = job.segment,
          .job_no = job.job_no,
          .key = streak.last_failed->key,
          .attempt = streak.last_failed->attempt,
          .state = streak.last_failed->state,
          .reason = streak.last_failed->reason,
          .fires = streak.failures,
          .created = now};
}

class StreakStore {
 public:
  virtual ~StreakStore() = default;

  // Such jobs of `segments` with dead letters since `since`, by number, after the job `after`.
  // Takes no locks.
  virtual Result<std::vector<FailingJob>> ScanFailing(const std::vector<SegmentId>& segments,
                                                      WallTime since, std::optional<JobNo> after,
                                                      size_t limit) = 0;
  // The streak of the job as CountStreak finds it in the runs with fires up to `now`. Of very many
  // runs, only the newest are examined. Takes no locks.
  virtual Result<Streak> ReadStreak(const FailingJob& job, WallTime now) = 0;
  // Pauses the job, if it is still at this version and its streak is full: as JobStore::PauseJob
  // does, with StreakSentence as the reason, an audit record of `context.actor` and a notice of the
  // last failed run; all or nothing. Returns whether it did so. kNotFound: the job was deleted.
  virtual Result<bool> PauseFailing(const FailingJob& job, const Fence& fence,
                                    const WriteContext& context) = 0;
};

}  // namespace carillon
