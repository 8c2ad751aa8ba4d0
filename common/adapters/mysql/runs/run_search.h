// Searches for runs: chooses the index for a filter, and bounds the search if no index fits it.
#pragma once

#include <cstdint>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/bounded_count.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

struct SearchScope {
  uint32_t segment_count = 1;
  WallTime now;
};

// Implements RunStore::RunsFingerprint.
Result<uint64_t> ReadMark(Session& session, const SearchScope& scope);

// Implements RunStore::ListRuns.
Result<RunPage> SearchRuns(Session& session, const RunFilter& filter, const SearchScope& scope,
                           Incarnations& incarnations);

// Implements RunStore::CountRuns.
Result<BoundedCount> CountFound(Session& session, const RunFilter& filter,
                                const SearchScope& scope);

}  // namespace carillon::mysql
