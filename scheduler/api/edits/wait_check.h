// Mistakes in the jobs that a definition names in `waits_for`, in the terms of the API.
#pragma once

#include <string>
#include <vector>

#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {

// Fires of a window, all of which a run may wait for.
inline constexpr int64_t kWaitFiresMax = 1'000;

// Of the entries that the stored definition `before` (or null) has not:
//   unknown_job        there is no such job. One that `before` names already may be deleted
//   never_met          the job is no node of the workflow, or nothing but people starts it, whose
//                      runs do not count
//   too_many_sources   more than kSourceJobsMax jobs are before it
//   too_many_fires     `all` of about more than kWaitFiresMax fires
// `self` may be a new job, or empty. A job that names itself is left to the store.
Outcome<std::vector<FieldError>> FindWaitMistakes(const Call& call, const JobId& self,
                                                  const JobDefinition* before,
                                                  const JobDefinition& definition,
                                                  const ComingJobs& coming);

// never_met of an entry: the job is no node of the workflow, or nothing but people starts it.
FieldError NotANode(size_t entry, const UpstreamWait& wait);
FieldError NeverMet(size_t entry, const UpstreamWait& wait);

// A sentence without its full stop, if runs of another job wait for fires to which this job would
// lead no more: it had schedules, and would have none; else "". Judges the other job by the
// definition that it has after the request.
Result<std::string> FindLostFires(const Call& call, const JobId& id, const JobDefinition& before,
                                  const JobDefinition& definition, const ComingJobs& coming);
// 409 in_use. Not for an empty text.
Problem LostFiresProblem(const std::string& lost);

// 422 with the code of the first mistake. Not for an empty list.
Problem WaitProblem(std::vector<FieldError> found);

}  // namespace carillon::scheduler
