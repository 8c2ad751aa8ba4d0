// The triggers of events: schedules of kind event, with the definitions of their jobs.
//
// Errors   kUnavailable: triggers were edited during each of several reads.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/database/trigger_cache.h"

namespace carillon::mysql {

inline constexpr int kTriggerReadsMax = 5;

// Every trigger that was committed before the call. One statement if none was written since the
// cache was filled.
Result<SharedTriggers> PresentTriggers(Pool& pool, TriggerCache& cache);

// The triggers of these versions of jobs in the namespace. The caller has locked the jobs, and the
// versions are their present ones.
Result<std::vector<EventTrigger>> ReadTriggersOf(Session& session, const std::string& name_space,
                                                 const std::vector<JobVersionKey>& versions);

}  // namespace carillon::mysql
