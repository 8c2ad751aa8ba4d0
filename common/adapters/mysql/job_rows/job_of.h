// The row of a job for one of its runs, out of those that are locked. The tidy test refuses other
// lookups where runs are decided: a node may have rules of its own.
#pragma once

#include <optional>

#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/domain/nodes/for_run.h"

namespace carillon::mysql {

// The row as the run meets it (ForRun); nullopt if it is not locked, or gone. `of_attempt`: the
// rules of the version by which the attempt started, if it is another one.
inline std::optional<JobRow> JobOf(const LockedJobs& jobs, const RunRow& run,
                                   std::optional<LossRules> of_attempt = {}) {
  const auto found = jobs.find(run.job_no);
  if (found == jobs.end()) return std::nullopt;
  JobRow job = found->second;
  job.attempt_rules = of_attempt;
  return ForRun(std::move(job), run);
}

// The row as such, where no run is decided by it.
inline const JobRow* RowOf(const LockedJobs& jobs, JobNo job_no) {
  const auto found = jobs.find(job_no);
  return found == jobs.end() ? nullptr : &found->second;
}

}  // namespace carillon::mysql
