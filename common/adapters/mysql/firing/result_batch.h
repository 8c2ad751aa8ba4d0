// Steps 9 and 10 of docs/life-of-a-run.md: applies the results and losses of attempts, in the
// caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/database/plain_writes.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// The input of ApplyBatch besides the reports themselves.
struct ResultRules {
  Incarnations& incarnations;
  SeenJobs& slot_jobs;
  const Fence& fence;
  WallTime now;
};

using Effects = std::vector<RunEffect>;
// Returns nullopt if a result treated as plain was not plain. Then the caller must roll the
// transaction back.
Result<std::optional<Effects>> ApplyBatch(Session& session,
                                          const std::vector<ResultReport>& reports,
                                          const ResultRules& rules, Look look);

enum class Loss { kLeaseEnded, kGivenUp, kPresumed };
// The input of LoseBatch besides the reports themselves.
struct LossInput {
  Loss loss;
  Incarnations& incarnations;
  const Fence& fence;
  WallTime now;
};
// Implements MarkLost, GiveUp and Presume of FiringStore.
Result<Effects> LoseBatch(Session& session, const std::vector<LostReport>& reports,
                          const LossInput& input);

}  // namespace carillon::mysql
