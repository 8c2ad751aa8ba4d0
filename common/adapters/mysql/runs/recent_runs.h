// The last runs of many jobs. One statement for each job: together they would open the partitioned
// table as often as there are jobs.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// As RunStore::ListRecentRuns.
Result<std::vector<RecentRuns>> ReadRecentRuns(Session& session, const RecentFilter& filter);

}  // namespace carillon::mysql
