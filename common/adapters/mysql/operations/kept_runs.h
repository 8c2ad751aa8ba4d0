// Copies the newest finished runs of each job to the table kept_runs before their day is dropped,
// and deletes them there when newer ones take their place.
//
// Always   A run is copied before it is dropped, so it is in one table at least. A second copy
//          replaces the first. While a run is in job_runs, readers ignore its copy.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/adapters/mysql/database/store_caches.h"
#include "common/adapters/mysql/schema/partitions.h"

namespace carillon::mysql {

inline constexpr int64_t kKeptJobsPerCall = 1'000;
// Of a job's newest runs, so many are searched for finished ones. The others may be skipped.
inline constexpr int64_t kNewestSearched = 1'000;

class RunKeeper final : public DayKeeper {
 public:
  RunKeeper(KeepProgress& progress, const Retention& retention)
      : progress_(progress), retention_(retention) {}

  // Looks at kKeptJobsPerCall jobs of the day.
  Result<bool> Keep(Session& session, const OldDay& day) override;
  Result<bool> IsCurrent(Session& session, const OldDay& day) override;

 private:
  Status KeepOf(Session& session, const OldDay& day, uint64_t job_no);

  KeepProgress& progress_;
  const Retention retention_;
};

// Deletes kept runs of which their job has keep_last newer ones, and all of jobs that keep none.
// Goes through kKeptJobsPerCall jobs after number `from`. Returns the number to continue from; 0
// after the last job.
Result<int64_t> DeleteKeptRuns(Pool& pool, int64_t from, const Retention& retention);

}  // namespace carillon::mysql
