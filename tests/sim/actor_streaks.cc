// The part of the actor that has to do with jobs that are paused after failures.
#include "tests/sim/actor.h"

namespace carillon::sim {

// Decided without a random draw, as WithWindowAndJitter. Some jobs always fail; others fail with
// their first attempts, so that a retry by hand ends the streak.
void Actor::FailInARow(JobDefinition& job) const {
  if (!profile_.streaks) return;
  job.pause_after_failures = static_cast<int64_t>((static_cast<size_t>(made_) + deeds_ / 5) % 4);
  if (job.type != JobType::kShell || made_ % 4 == 3) return;
  job.command += made_ % 2 == 0 ? " exit=3" : " failures=1";
  job.retry_count = made_ % 3 == 0 ? 1 : 0;
}

}  // namespace carillon::sim
