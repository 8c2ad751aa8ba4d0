// Decides whether a due run should still start. Pure. This is only a first check: the claim checks
// again in the store's transaction, because only there a race with another claim is impossible.
//
// Place    Step 4 of docs/life-of-a-run.md.
#pragma once

#include <optional>
#include <string_view>

#include "scheduler/definitions/definition_cache.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

struct FiringFacts {
  WallTime now;            // cluster time
  int64_t other_runs = 0;  // of the job, with a lease; needed if its policy is to skip
  // Load is shed: runs of a lower priority are skipped once they have waited so long, if their
  // schedule fires again within kShedFiresAgain. 0: none.
  int shed_below = 0;
  Duration shed_after = {};
  // For so long the executor to which the part of a fire is bound could not have taken it. nullopt:
  // it can, or that is not known.
  std::optional<Duration> host_down_for = {};
  bool host_left = false;  // this executor does not match the selector of the job any more
};

inline constexpr Duration kShedFiresAgain = 1h;

// Returns the reason to store on the SKIPPED run (a constant of namespace `reason` in run.h); empty
// if the run should start.
std::string_view DecideFiring(const PendingRun& run, const Definition& definition,
                              const FiringFacts& facts);

// True for the part of a broadcast: no other executor may run it, and this one only while it
// matches the job.
inline bool IsBoundPart(const PendingRun& run) {
  return run.key.shard > 0 && run.extras != nullptr && !run.extras->pinned_executor.empty();
}

// True if the passage of time alone may change the decision. The caller then repeats it while the
// run waits.
bool AgesOut(const PendingRun& run, const Definition& definition);

}  // namespace carillon::scheduler
