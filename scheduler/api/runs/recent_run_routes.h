// Handler of /api/recent-runs: the last runs of many jobs at once, as the list of jobs shows them.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListRecentRuns(const Call& call);

}  // namespace carillon::scheduler
