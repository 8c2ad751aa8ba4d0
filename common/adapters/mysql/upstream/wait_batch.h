// The ends of waits for runs of other jobs, written inside a transaction.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/upstream_store.h"

namespace carillon::mysql {

struct WaitRules {
  Incarnations& incarnations;
  const Fence& fence;
  WallTime now;
};

// Implements UpstreamStore::EndWaits. Locks the fence, the jobs and the runs.
Result<std::vector<WaitEffect>> EndWaitsOf(Session& session, const std::vector<WaitItem>& items,
                                           const WaitRules& rules);

// Implements UpstreamStore::ReleaseRun. Locks the job and the run.
Result<RunDetail> ReleaseWaiting(Session& session, const RunKey& key, Incarnations& incarnations,
                                 WallTime now);

}  // namespace carillon::mysql
