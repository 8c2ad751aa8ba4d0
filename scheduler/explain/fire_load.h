// Counts the fires of all stored jobs in each bucket of a span of time, with the planner's code.
//
// Always   Bounded. Jobs are read page by page up to kLoadJobsMax, and schedules are evaluated up
//          to kLoadStepsMax times. If one of these limits is too small, `truncated` is set. Equal
//          schedules are evaluated once.
// Errors   The errors of the store.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"
#include "common/ports/store/job_store.h"

namespace carillon::scheduler {

inline constexpr size_t kLoadJobsMax = 20'000;
inline constexpr int64_t kLoadStepsMax = 1'000'000;

struct LoadSpan {
  WallTime from;
  WallTime until;   // excluded
  Duration bucket;  // length of a bucket; the last one may be shorter, as it ends at `until`

  size_t buckets() const {
    return static_cast<size_t>((until - from + bucket - Duration(1)) / bucket);
  }
};

// The fires of one job.
struct JobLoad {
  JobId job_id;
  std::string name;
  int64_t fires = 0;
  WallTime first;                     // the first fire in the span
  std::map<size_t, int64_t> buckets;  // fires by bucket, without empty ones
};

struct FireLoad {
  std::vector<int64_t> buckets;  // fires of all jobs
  std::vector<JobLoad> jobs;     // jobs that fire in the span, ordered by their first fire
  size_t jobs_read = 0;
  bool truncated = false;
};

struct LoadLimits {
  size_t jobs = kLoadJobsMax;
  int64_t steps = kLoadStepsMax;
};

// Counts the fires of enabled jobs. The fires of a job count from its creation on. Schedules whose
// calendars are not in the set count no fires.
Result<FireLoad> CountFires(JobStore& jobs, const CalendarSet& calendars, const LoadSpan& span,
                            const LoadLimits& limits = {});

}  // namespace carillon::scheduler
