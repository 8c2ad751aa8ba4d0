// Ends the own runs of fires whose parts have ended, in the caller's transaction.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/completion_store.h"

namespace carillon::mysql {

struct FireEndRules {
  Incarnations& incarnations;
  const Fence& fence;
  WallTime now;
};

// Implements CompletionStore::EndFires. Locks first the segments, then the jobs, then the own runs.
Result<std::vector<FireEffect>> EndFiresOf(Session& session, const std::vector<FireLook>& fires,
                                           const FireEndRules& rules);

// Implements CompletionStore::ScanUnended. `segments` is not empty.
Result<std::vector<FireLook>> ReadUnended(Session& session, const std::vector<SegmentId>& segments,
                                          WallTime due, size_t limit);

}  // namespace carillon::mysql
