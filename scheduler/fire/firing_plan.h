// Decides whether a due run should still run. Pure: the first check; the claim decides again where
// it matters.
//
// Place    Step 4 of docs/life-of-a-run.md.
#pragma once

#include <string_view>

#include "scheduler/fire/definition_cache.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

struct FiringFacts {
  WallTime now;                     // cluster time
  bool another_run_active = false;  // of the job, with a lease; only looked at for overlap skip
};

// Empty = run it; otherwise the reason for which it is SKIPPED (run.h reason::…).
std::string_view DecideFiring(const PendingRun& run, const Definition& definition,
                              const FiringFacts& facts);

// True if time alone may change the decision from here on: worth asking again while it waits.
bool AgesOut(const PendingRun& run, const Definition& definition);

}  // namespace carillon::scheduler
