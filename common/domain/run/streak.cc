#include "common/domain/run/streak.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "common/base/failpoint.h"
#include "common/domain/run/returns.h"
#include "common/domain/run/run_kind.h"

namespace carillon {
namespace {

// Its parts make their own attempts, so only a person gives another to such a run. It may have
// succeeded before, which nothing here tells: what follows it counts, as after a success.
bool IsFireRetriedByHand(const StreakRun& run) {
  return (run.flags & run_flag::kParts) != 0 && !IsFirstTry(run);
}

}  // namespace

bool IsFaultOfHost(std::string_view reason) {
  constexpr std::array kReasons = {
      reason::kSpawn,         reason::kHost,       reason::kExecutorLost,
      reason::kWardenDied,    reason::kLeaseEnded, reason::kWorkerDied,
      reason::kWorkerStopped, reason::kNotStarted, reason::kUpstreamTimeout};
  return std::ranges::find(kReasons, reason) != kReasons.end();
}

Streak CountStreak(const std::vector<StreakRun>& newest_first, const StreakRule& rule) {
  Streak streak;
  for (const StreakRun& run : newest_first) {
    if (streak.failures >= rule.pause_after_failures || run.key.fire < rule.since) {
      streak.ended = true;
      break;
    }
    const bool counts = IsInStreak(run.kind) || failpoint::Broken("streak.by_hand");
    if (run.def_version != rule.version || !counts || IsBackground(run.flags) ||
        run.key.shard != 0) {
      continue;
    }
    if (run.state == RunState::kCompleted || IsFireRetriedByHand(run)) {
      streak.ended = true;
      break;
    }
    const bool failed = run.state == RunState::kFailed || run.state == RunState::kTimedOut;
    if (!failed || IsFaultOfHost(run.reason)) continue;
    ++streak.failures;
    if (!streak.last_failed) streak.last_failed = run;
  }
  streak.ended = streak.ended || streak.failures >= rule.pause_after_failures;
  return streak;
}

std::string StreakSentence(int64_t failures) {
  if (failures == 1) return "a run has failed (pause_after_failures)";
  return fmt::format("{} runs in a row have failed (pause_after_failures)", failures);
}

}  // namespace carillon
