// Step 7 of docs/life-of-a-run.md: decides and writes a batch of claims, or of skips, in the
// caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/database/plain_writes.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// The input of ClaimBatch besides the requests themselves.
struct ClaimRules {
  Incarnations& incarnations;
  PlainMemory& memory;
  const std::vector<uint32_t>& numbers;  // the incarnation numbers, one per request
  const Fence& fence;
  WallTime now;
};

using Replies = std::vector<ClaimReply>;
// Returns nullopt if a claim treated as plain was not plain. Then the caller must roll the
// transaction back.
Result<std::optional<Replies>> ClaimBatch(Session& session,
                                          const std::vector<ClaimRequest>& requests,
                                          const ClaimRules& rules, Look look);

// Call it after the fence was locked. Returns the number of runs that were skipped.
Result<std::vector<RunKey>> SkipBatch(Session& session, const std::vector<SkipItem>& items,
                                      Incarnations& incarnations, WallTime now);

}  // namespace carillon::mysql
