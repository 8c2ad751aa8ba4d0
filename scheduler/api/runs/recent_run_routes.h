// Handler of /api/recent-runs: the latest runs of several jobs, for the list of jobs.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListRecentRuns(const Call& call);

}  // namespace carillon::scheduler
