// Step 7: decides and writes a batch of claims, or of skips, in the caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/rows/plain_writes.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// What a batch of requests is decided with.
struct ClaimRules {
  Incarnations& incarnations;
  SlotJobs& slot_jobs;
  const std::vector<uint32_t>& numbers;  // of each request's incarnation
  const Fence& fence;
  WallTime now;
};

using Replies = std::vector<ClaimReply>;
// nullopt: it is not as plain as it looked, and the transaction is to be undone.
Result<std::optional<Replies>> ClaimBatch(Session& session,
                                          const std::vector<ClaimRequest>& requests,
                                          const ClaimRules& rules, Look look);

// After the fence was locked. Returns how many were skipped.
Result<size_t> SkipBatch(Session& session, const std::vector<SkipItem>& items,
                         Incarnations& incarnations, WallTime now);

}  // namespace carillon::mysql
