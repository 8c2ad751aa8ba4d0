// Deletes the runs of jobs with a retention of their own (`retention_days`), row by row. The runs
// of other jobs are dropped with the partition of their day (partitions.h).
#pragma once

#include "common/adapters/mysql/client/pool.h"
#include "common/base/time.h"

namespace carillon::mysql {

inline constexpr int64_t kShortLivedRunsPerCall = 1'000;
// Dead letters, and rows of runs with those of their parts and nodes, of which a run without any
// counts as two. A transaction deletes at least one run with its nodes, but the parts of one that
// has more rows in transactions before, a fire in each.
inline constexpr int64_t kShortLivedRowsPerCall = 10'000;
inline constexpr int64_t kShortLivedRowsPerTransaction = 2'000;
inline constexpr int64_t kShortLivedJobsPerCall = 200;

struct ShortLivedRuns {
  int64_t next_job = 0;  // where the next call continues; 0 = with the first job
  bool behind = false;   // runs are left of the jobs that the call looked at
};
// Deletes ended runs with their attempts, logs and dead letters, if they ended more than
// `retention_days` of their job ago, and this is less than `retention`. Goes through the jobs after
// number `from`: kShortLivedJobsPerCall of them at most, and kShortLivedRunsPerCall runs, or about
// kShortLivedRowsPerCall rows. A run that somebody reopens meanwhile is kept. Several members may
// call it at the same time.
Result<ShortLivedRuns> DeleteShortLivedRuns(Pool& pool, int64_t from, WallTime now,
                                            Duration retention);

}  // namespace carillon::mysql
