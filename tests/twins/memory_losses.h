// Ends of attempts without a result, for MarkLost, GiveUp and Presume of MemoryFiringStore.
#pragma once

#include <vector>

#include "common/ports/store/firing_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

enum class Loss { kLeaseEnded, kGivenUp, kPresumed };
struct LossInput {
  Loss loss;
  const Fence& fence;
  WallTime now;
};
Result<std::vector<RunEffect>> LoseBatch(MemoryTables& tables,
                                         const std::vector<LostReport>& reports,
                                         const LossInput& input);

}  // namespace carillon::memory
