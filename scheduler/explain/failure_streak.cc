#include "scheduler/explain/failure_streak.h"

namespace carillon::scheduler {
namespace {

bool Failed(RunState state) {
  return state == RunState::kFailed || state == RunState::kTimedOut || state == RunState::kLost;
}

}  // namespace

FailureStreak StreakOf(const std::vector<RunSummary>& runs, Reaches reaches) {
  FailureStreak streak{.open_ended = reaches == Reaches::kPart};
  for (const RunSummary& run : runs) {
    if (run.state == RunState::kCompleted) {
      streak.last_success = run;
      streak.open_ended = false;
      return streak;
    }
    if (!Failed(run.state)) continue;
    if (streak.failures == 0) streak.last = run;
    ++streak.failures;
    streak.since = run.ended;
  }
  return streak;
}

}  // namespace carillon::scheduler
