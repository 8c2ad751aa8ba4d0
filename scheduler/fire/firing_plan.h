// Decides whether a due run should still start. Pure. This is only a first check: the claim checks
// again in the store's transaction, because only there a race with another claim is impossible.
//
// Place    Step 4 of docs/life-of-a-run.md.
#pragma once

#include <string_view>

#include "scheduler/fire/definition_cache.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

struct FiringFacts {
  WallTime now;                     // cluster time
  bool another_run_active = false;  // another run of the job has a lease; for overlap policy skip
};

// Returns the reason to store on the SKIPPED run (a constant of namespace `reason` in run.h); empty
// if the run should start.
std::string_view DecideFiring(const PendingRun& run, const Definition& definition,
                              const FiringFacts& facts);

// True if the passage of time alone may change the decision. The caller then repeats it while the
// run waits.
bool AgesOut(const PendingRun& run, const Definition& definition);

}  // namespace carillon::scheduler
