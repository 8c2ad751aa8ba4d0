#include "common/domain/job/misfire.h"

#include <algorithm>

#include "common/base/failpoint.h"

namespace carillon {
namespace {

WallTime JustAfter(WallTime t) { return t == WallTime::max() ? t : t + Duration(1); }

bool QueuesRuns(OverlapPolicy policy) {
  return policy == OverlapPolicy::kQueueOne || policy == OverlapPolicy::kQueueAll;
}

std::optional<WallTime> FirstAtOrAfter(const Schedule& schedule, WallTime t) {
  return schedule.Nth(t, 0);
}

// Divides the misfires of a plan into those recorded as gaps and those run.
struct Split {
  WallTime window;  // fires before it are too old: a gap of kMisfire
  // Fires from `window` until this time exceed catch_up_max: a gap of kCatchUpLimit. Misfires from
  // this time on are run.
  WallTime run_from;
};

// Fires before `end` are misfires; those at or after it are in time.
struct Misfires {
  WallTime end;
  bool newest = true;  // the last misfire is the newest due fire, i.e. not overtaken
};

// `first` is late.
Misfires MisfiresOf(const Schedule& schedule, WallTime first, WallTime now,
                    const MisfireRules& rules, const DueTimes& due_times) {
  const WallTime by_grace = due_times.FiresDueBefore(now - rules.grace);
  if (!rules.drops_overtaken() || failpoint::Broken("misfire.overtaken")) return {.end = by_grace};
  const WallTime due_end = due_times.FiresDueBefore(JustAfter(now));
  const WallTime newest = schedule.Nth(first, schedule.Count(first, due_end) - 1).value();
  if (newest < by_grace) return {.end = by_grace};
  return {.end = newest, .newest = false};
}

// No fire before `window_begin` is run. `first` is late.
Split SplitMisfires(const Schedule& schedule, WallTime first, WallTime window_begin,
                    const Misfires& misfires, const MisfireRules& rules) {
  const WallTime misfire_end = misfires.end;
  const Split none{.window = misfire_end, .run_from = misfire_end};
  const bool broken = failpoint::Broken("misfire.policy");
  if (rules.policy == MisfirePolicy::kSkip || broken || !misfires.newest) return none;
  const WallTime window = std::max(first, window_begin);
  if (window >= misfire_end) return none;
  const int64_t wanted = schedule.Count(window, misfire_end);
  if (wanted == 0) return none;
  if (rules.policy == MisfirePolicy::kLatest) {
    const WallTime last = schedule.Nth(window, wanted - 1).value();
    return {.window = last, .run_from = last};
  }
  if (wanted <= rules.catch_up_max) return {.window = window, .run_from = window};
  return {.window = window, .run_from = schedule.Nth(window, wanted - rules.catch_up_max).value()};
}

// Records the fires in [from, until), if there are any.
void AddGap(const Schedule& schedule, WallTime from, WallTime until, GapReason reason,
            FirePlan& plan) {
  if (from >= until) return;
  const int64_t count = schedule.Count(from, until);
  if (count == 0) return;
  plan.gaps.push_back({.from = schedule.Nth(from, 0).value(),
                       .to = schedule.Nth(from, count - 1).value(),
                       .count = count,
                       .reason = reason});
}

}  // namespace

std::string_view Name(GapReason reason) {
  switch (reason) {
    case GapReason::kMisfire: return "misfire";
    case GapReason::kPaused: return "paused";
    case GapReason::kCatchUpLimit: return "catch_up_limit";
    case GapReason::kEdited: return "edited";
    case GapReason::kDeleted: return "deleted";
    case GapReason::kBadEvent: return "bad_event";
  }
  return "unknown";
}

Result<GapReason> ParseGapReason(std::string_view text) {
  for (const GapReason reason : {GapReason::kMisfire, GapReason::kPaused, GapReason::kCatchUpLimit,
                                 GapReason::kEdited, GapReason::kDeleted, GapReason::kBadEvent}) {
    if (Name(reason) == text) return reason;
  }
  return {ErrorCode::kInvalid, "not a reason of a gap: '" + std::string(text) + "'"};
}

MisfireRules MisfireRulesOf(const JobDefinition& job) {
  return {.policy = job.misfire_policy,
          .grace = std::max<Duration>(std::chrono::seconds(job.misfire_grace_s), kMisfireFloor),
          .catch_up_window = std::chrono::seconds(job.catch_up_window_s),
          .catch_up_max = job.catch_up_max,
          .queues = QueuesRuns(job.overlap_policy)};
}

FirePlan PlanFires(const Schedule& schedule, WallTime next_fire, WallTime now, WallTime horizon_end,
                   const MisfireRules& rules, size_t fires_max, const DueTimes& due_times) {
  FirePlan plan;
  if (schedule.kind() == ScheduleKind::kDelay) {
    if (next_fire <= horizon_end) {
      plan.fires.push_back(next_fire);
    } else {
      plan.next = next_fire;
    }
    return plan;
  }
  plan.next = FirstAtOrAfter(schedule, next_fire);
  if (!plan.next || *plan.next > horizon_end) return plan;
  // A fire is never due before itself, so the searches among due times, which jitter makes costly,
  // are needed only if the first fire is late.
  const WallTime late = now - rules.in_time();
  if (*plan.next < late && *plan.next < due_times.FiresDueBefore(late)) {
    const WallTime first = *plan.next;
    const WallTime planned_end = JustAfter(horizon_end);
    const WallTime window = due_times.FiresDueBefore(now - rules.catch_up_window);
    const Misfires misfires = MisfiresOf(schedule, first, now, rules, due_times);
    const Split split = SplitMisfires(schedule, first, window, misfires, rules);
    const WallTime old_end = std::min(split.window, planned_end);
    const WallTime gap_end = std::min(split.run_from, planned_end);
    AddGap(schedule, first, old_end, GapReason::kMisfire, plan);
    AddGap(schedule, old_end, gap_end, GapReason::kCatchUpLimit, plan);
    plan.next = FirstAtOrAfter(schedule, gap_end);
  }
  while (plan.next && *plan.next <= horizon_end && plan.fires.size() < fires_max) {
    plan.fires.push_back(*plan.next);
    const auto following = schedule.Next(*plan.next);
    plan.next = following ? std::optional<WallTime>(following->time) : std::nullopt;
  }
  return plan;
}

bool StillWanted(const Schedule& schedule, const LateRun& run, WallTime now,
                 const MisfireRules& rules, const DueTimes& due_times) {
  const Duration late = now - run.due;
  if (!HasTimes(schedule.kind()) || late <= rules.in_time()) return true;
  const bool was_queued = run.due > due_times.Of(run.fire);
  if (rules.drops_overtaken() && !was_queued) {
    const WallTime due_end = due_times.FiresDueBefore(JustAfter(now));
    if (schedule.Count(JustAfter(run.fire), due_end) > 0) return false;
  }
  if (late <= rules.grace) return true;
  if (rules.policy == MisfirePolicy::kSkip || late > rules.catch_up_window) return false;
  const WallTime misfire_end = due_times.FiresDueBefore(now - rules.grace);
  const int64_t newer = schedule.Count(JustAfter(run.fire), misfire_end);
  return newer < (rules.policy == MisfirePolicy::kLatest ? 1 : rules.catch_up_max);
}

}  // namespace carillon
