// Decides whether a due run should still run. Pure. This is a first check; the claim decides again
// in the store's transaction, which alone can rule out a race.
//
// Place    Step 4 of docs/life-of-a-run.md.
#pragma once

#include <string_view>

#include "scheduler/fire/definition_cache.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

struct FiringFacts {
  WallTime now;                     // cluster time
  bool another_run_active = false;  // the job has another run with a lease; matters to overlap skip
};

// Empty = run it; otherwise the reason to store on the SKIPPED run (run.h reason::…).
std::string_view DecideFiring(const PendingRun& run, const Definition& definition,
                              const FiringFacts& facts);

// True if the passage of time alone may change the decision, so that it should be made again while
// the run waits.
bool AgesOut(const PendingRun& run, const Definition& definition);

}  // namespace carillon::scheduler
