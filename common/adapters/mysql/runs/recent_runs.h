// Reads the last runs of many jobs, with one statement for each job: a joint statement would open
// the partitioned table once for each job anyway.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// Implements RunStore::ListRecentRuns.
Result<std::vector<RecentRuns>> ReadRecentRuns(Session& session, const RecentFilter& filter);

}  // namespace carillon::mysql
