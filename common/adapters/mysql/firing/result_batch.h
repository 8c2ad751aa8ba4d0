// Steps 9 and 10: applies what became of attempts, in the caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/rows/plain_writes.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// What a batch of reports is applied with.
struct ResultRules {
  Incarnations& incarnations;
  SlotJobs& slot_jobs;
  const Fence& fence;
  WallTime now;
};

using Effects = std::vector<RunEffect>;
// nullopt: it is not as plain as it looked, and the transaction is to be undone.
Result<std::optional<Effects>> ApplyBatch(Session& session,
                                          const std::vector<ResultReport>& reports,
                                          const ResultRules& rules, Look look);
// Ends the attempts whose leases ran out.
Result<Effects> LoseBatch(Session& session, const std::vector<LostReport>& reports,
                          Incarnations& incarnations, const Fence& fence, WallTime now);

}  // namespace carillon::mysql
