// Decides whether so many runs of a job have failed in a row that it is paused: its
// pause_after_failures. Pure.
//
// A run counts if the scheduler started it by itself (RunKindRules::in_streak) for a fire since the
// present version of the job began. So an edit, a pause or a resume starts at zero, and a retry by
// hand of an older fire does not count.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/run/run.h"

namespace carillon {

// The part of a run that the decision depends on.
struct StreakRun {
  RunKey key;
  RunKind kind = RunKind::kCron;
  RunState state = RunState::kPending;
  std::string reason = {};
  int attempt = 1;
  int64_t def_version = 0;
  uint32_t flags = 0;
};

// The rule of the present version of a job.
struct StreakRule {
  int64_t version = 0;
  WallTime since = WallTime{};       // when this version began
  int64_t pause_after_failures = 0;  // 0 = never
};

struct Streak {
  int64_t failures = 0;                       // in a row, at most pause_after_failures
  bool ended = false;                         // no older run can change it
  std::optional<StreakRun> last_failed = {};  // the newest of them

  // True if the job is to be paused.
  bool IsFull(const StreakRule& rule) const {
    return rule.pause_after_failures > 0 && failures >= rule.pause_after_failures;
  }
};

// `newest_first`: runs of the job by descending fire, of any state and kind. Open, skipped,
// cancelled and lost runs, and failures that are the fault of a host, neither count nor end it.
Streak CountStreak(const std::vector<StreakRun>& newest_first, const StreakRule& rule);

// True if a failure with this reason says nothing about the job.
bool IsFaultOfHost(std::string_view reason);

// The author of such a pause in the audit log and in the versions of the job.
inline constexpr std::string_view kStreakActor = "system";

// "5 runs in a row have failed (pause_after_failures)"
std::string StreakSentence(int64_t failures);

}  // namespace carillon
