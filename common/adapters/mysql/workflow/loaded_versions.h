// Versions of jobs from the cache of the store, or read in the caller's transaction.
#pragma once

#include <map>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/database/version_cache.h"

namespace carillon::mysql {

// Versions that do not exist are absent. One that cannot be read is there, and is not cached; so is
// a workflow's whose graph cannot be compiled, without a graph.
Result<std::map<JobVersionKey, SharedVersion>> LoadVersions(Session& session,
                                                            const std::vector<JobVersionKey>& keys,
                                                            VersionCache& cache);

// The version `key`, out of those found. kCorrupt: it is unreadable, gone or not a workflow's.
Result<SharedVersion> WithGraph(const std::map<JobVersionKey, SharedVersion>& found,
                                const JobVersionKey& key);

}  // namespace carillon::mysql
