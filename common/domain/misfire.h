// Decides which fires of a schedule become runs and which become a gap. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/domain/schedule.h"

namespace carillon {

// kEdited, kDeleted: fires that were due but not yet planned when their schedule was removed.
enum class GapReason { kMisfire, kPaused, kCatchUpLimit, kEdited, kDeleted };
std::string_view Name(GapReason reason);
Result<GapReason> ParseGapReason(std::string_view text);

// Fires from `from` to `to`, both included, `count` of them, that were never planned as runs.
struct GapRange {
  WallTime from;
  WallTime to;
  int64_t count = 0;
  GapReason reason = GapReason::kMisfire;

  bool operator==(const GapRange&) const = default;
};

// What is not later than this is no misfire, whatever the job's
// grace: the time in which a fire that goes wrong once on its way (a
// task message that is lost and published again) is still in time.
inline constexpr Duration kMisfireFloor = 5s;

struct MisfireRules {
  MisfirePolicy policy = MisfirePolicy::kLatest;
  Duration grace = 60s;
  Duration catch_up_window = 1h;
  int64_t catch_up_max = 100;
};
// With the grace of the job, kMisfireFloor at least.
MisfireRules MisfireRulesOf(const JobDefinition& job);

struct FirePlan {
  std::vector<WallTime> fires;   // to plan as runs, ascending
  std::vector<GapRange> gaps;    // in order, disjoint
  std::optional<WallTime> next;  // where the schedule stands afterwards; nullopt = no more
};

// Plans everything of `schedule` from `next_fire` (its first unplanned fire, included) up to
// `horizon_end` (included), at most `fires_max` runs a call (the rest follows by calling again:
// `next` then lies inside the horizon). A fire with now - fire > grace is a misfire: policy skip
// records it in a gap; latest runs only the last of the misfired ones, if it is inside the catch-up
// window; all runs those inside the window, the newest catch_up_max of them, in order. `next` is
// strictly after the last fire that was planned or put into a gap. A gap's count is exact and comes
// from arithmetic, so a year of missed milliseconds costs no more than a minute of them.
FirePlan PlanFires(const Schedule& schedule, WallTime next_fire, WallTime now, WallTime horizon_end,
                   const MisfireRules& rules, size_t fires_max);

// The same rule for a run that was planned in time but comes to be dispatched late (the
// scheduler or every executor was away): true = run it, false = SKIPPED, reason misfire. A run that
// a person started (a manual schedule) is always wanted.
bool StillWanted(const Schedule& schedule, WallTime fire, WallTime now, const MisfireRules& rules);

}  // namespace carillon
