// Counts the fires in each part of a span of time over all stored jobs, with the code
// that plans them.
//
// Always   Bounded: jobs are read page by page up to kLoadJobsMax, and schedules are asked up to
//          kLoadStepsMax times; beyond either `truncated` says so. Schedules that are alike are
//          asked once.
// Errors   Those of the store.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/domain/job.h"
#include "common/ports/job_store.h"

namespace carillon::scheduler {

inline constexpr size_t kLoadJobsMax = 20'000;
inline constexpr int64_t kLoadStepsMax = 1'000'000;

struct LoadSpan {
  WallTime from;
  WallTime until;   // excluded
  Duration bucket;  // the last one may be cut off by `until`

  size_t buckets() const {
    return static_cast<size_t>((until - from + bucket - Duration(1)) / bucket);
  }
};

// Of one job: only what is not empty.
struct JobLoad {
  JobId job_id;
  std::string name;
  int64_t fires = 0;
  WallTime first;
  std::map<size_t, int64_t> buckets;
};

struct FireLoad {
  std::vector<int64_t> buckets;
  std::vector<JobLoad> jobs;  // those that fire in the span, by their first fire
  size_t jobs_read = 0;
  bool truncated = false;
};

struct LoadLimits {
  size_t jobs = kLoadJobsMax;
  int64_t steps = kLoadStepsMax;
};

// Of the enabled jobs, of each from when it was created on.
Result<FireLoad> CountFires(JobStore& jobs, const LoadSpan& span, const LoadLimits& limits = {});

}  // namespace carillon::scheduler
