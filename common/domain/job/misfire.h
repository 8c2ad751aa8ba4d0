// Decides which fires of a schedule become runs and which become a gap. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/schedule/jitter.h"
#include "common/domain/schedule/schedule.h"

namespace carillon {

// kEdited, kDeleted: the fires were due but not yet planned when their schedule was removed.
// kBadEvent: no parameters could be made from the event.
enum class GapReason { kMisfire, kPaused, kCatchUpLimit, kEdited, kDeleted, kBadEvent };
std::string_view Name(GapReason reason);
Result<GapReason> ParseGapReason(std::string_view text);

// `count` fires from `from` to `to`, both included, that were never planned as runs.
struct GapRange {
  WallTime from;
  WallTime to;
  int64_t count = 0;
  GapReason reason = GapReason::kMisfire;

  bool operator==(const GapRange&) const = default;
};

// A fire that is at most this late is never a misfire, even if the job's grace is shorter: a fire
// whose task message was lost once and published again is still in time.
inline constexpr Duration kMisfireFloor = 5s;

// A fire that is overtaken, because a later one of its schedule is due, is still in time if it is
// at most this late: a change of the leader takes less.
inline constexpr Duration kOvertakenAfter = 15s;

// A job's rules for late fires, as in JobDefinition.
struct MisfireRules {
  MisfirePolicy policy = MisfirePolicy::kLatest;
  Duration grace = 60s;
  Duration catch_up_window = 1h;
  int64_t catch_up_max = 100;
  // The runs of the job queue, so late ones do not start together: each is wanted, also if a later
  // one is due.
  bool queues = false;

  bool drops_overtaken() const { return policy != MisfirePolicy::kAll && !queues; }
  // A fire that is at most this late is no misfire.
  Duration in_time() const { return drops_overtaken() ? std::min(grace, kOvertakenAfter) : grace; }
};
// The rules of the job; the grace is at least kMisfireFloor.
MisfireRules MisfireRulesOf(const JobDefinition& job);

struct FirePlan {
  std::vector<WallTime> fires;  // to plan as runs, ascending
  std::vector<GapRange> gaps;   // in order of time, disjoint
  // First fire in neither list; nullopt = no more fires, or (delay) not before the run has ended.
  std::optional<WallTime> next;
};

// Plans the fires of `schedule` from `next_fire`, its first unplanned fire, to `horizon_end`; both
// are included. A call plans at most `fires_max` runs. If there are more, `next` is inside the
// horizon and the next call continues there. A fire with now - fire > grace is a misfire. So is,
// if rules.drops_overtaken(), every fire that a later one has overtaken, if the first unplanned
// fire is later than rules.in_time(): after a stall, at most the newest due fire is run. The policy
// decides which misfires are run; the other misfires are recorded in gaps:
//   skip    none is run
//   latest  the last one is run, if it is inside the catch-up window and not overtaken
//   all     the newest catch_up_max misfires inside the window are run, in order
// For example, at 00:00:50 after a stall since 00:00:00, a rate of 15 s has the unplanned fires
// 00:00:00, :15, :30 and :45. With latest or skip, :45 runs, and the others are one gap.
// `next` is strictly after the last fire that was planned or recorded in a gap. A gap's count is
// exact and is computed arithmetically: for a schedule that fires every millisecond, a missed year
// costs no more than a missed minute. The one fire of a delay schedule is run, however late.
FirePlan PlanFires(const Schedule& schedule, WallTime next_fire, WallTime now, WallTime horizon_end,
                   const MisfireRules& rules, size_t fires_max, const DueTimes& due_times = {});

// A planned run, by the times that its row has.
struct LateRun {
  WallTime fire;
  WallTime due;  // after it waited in a queue: the time of its admission
};

// Applies the policy for misfires to a run that was planned in time but is dispatched late, because
// no scheduler or executor was available. Returns true if the run must still be started. A run
// of a manual or delay schedule always must. Returns false if the run becomes SKIPPED with the
// reason misfire: one later than the grace, as the policy says, or, if rules.drops_overtaken(), one
// later than rules.in_time() that was overtaken. A run that was admitted from a queue cannot be
// overtaken: newer fires are always due there. The run's own lateness is that of its row, because
// an edit may have changed the jitter since it was planned; `schedule` only says which newer fires
// are due or misfires too.
bool StillWanted(const Schedule& schedule, const LateRun& run, WallTime now,
                 const MisfireRules& rules, const DueTimes& due_times = {});

}  // namespace carillon
