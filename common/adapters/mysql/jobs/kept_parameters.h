// Keeps the parameters of a schedule that an edit removes, in the runs that it has made.
//
// A run gets the parameters of its schedule from the definition when an attempt starts. Once the
// schedule is gone, the run must have them itself: a retry for one tenant must not become one
// for all.
#pragma once

#include <map>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/template/template.h"

namespace carillon::mysql {

// The schedules that an edit removes, if they have parameters.
using RemovedParameters = std::map<ScheduleId, Parameters>;

// Writes them into those of `runs`, which the caller has locked, that are of these schedules. What
// was given to a run itself goes on to win.
Status KeepParameters(Session& session, const std::vector<RunKey>& runs,
                      const RemovedParameters& removed);

// Runs of these schedules that have failed and may be retried. The caller has locked the job.
inline constexpr int64_t kFailedRunsKeptMax = 10'000;
Result<std::vector<RunKey>> ReadFailedRuns(Session& session, JobNo job_no,
                                           const RemovedParameters& removed);

}  // namespace carillon::mysql
