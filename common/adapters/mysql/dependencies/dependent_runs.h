// Starts the runs of dependents in the transaction that acts on the ends of runs.
#pragma once

#include <map>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/dependencies/dependency_rows.h"
#include "common/adapters/mysql/job_rows/job_rows.h"
#include "common/ports/store/completion_store.h"

namespace carillon::mysql {

using DependentsByJob = std::map<JobNo, UpstreamDependents>;

// The dependents of those of `ends` with this target. Without locks: call it again once the jobs
// that it named are locked.
Result<DependentsByJob> DependentsOf(Session& session, const std::vector<RunCompletion>& ends);

// Inserts the runs that are not there, and gaps for paused jobs. `jobs` are locked in share mode,
// and `dependents` were read after that. A dependent whose job is not among them is younger than
// the ends.
Status StartDependents(Session& session, const std::vector<RunCompletion>& ends,
                       const DependentsByJob& dependents, const LockedJobs& jobs, WallTime now,
                       std::vector<CompletionEffect>* effects);

}  // namespace carillon::mysql
