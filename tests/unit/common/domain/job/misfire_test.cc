#include "common/domain/job/misfire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "common/base/rng.h"

namespace carillon::test {
namespace {

WallTime T(std::string_view text) { return ParseRfc3339(text).value(); }
const WallTime kStart = T("2026-03-01T00:00:00Z");

LateRun OnTime(WallTime fire) { return {.fire = fire, .due = fire}; }

Schedule Rate(Duration every) {
  return Schedule::Compile({.kind = ScheduleKind::kRate, .every = every, .start = kStart},
                           DstGap::kFire, DstRepeat::kAuto)
      .value();
}
Schedule Cron(std::string text, std::string zone = "UTC") {
  return Schedule::Compile({.kind = ScheduleKind::kCron,
                            .cron_expression = std::move(text),
                            .time_zone = std::move(zone)},
                           DstGap::kFire, DstRepeat::kAuto)
      .value();
}

using Times = std::vector<WallTime>;

TEST(MisfireTest, ReasonsAreReadAsTheyAreWritten) {
  for (const char* name :
       {"misfire", "paused", "catch_up_limit", "edited", "deleted", "bad_event"}) {
    EXPECT_EQ(Name(ParseGapReason(name).value()), name);
  }
  EXPECT_EQ(ParseGapReason("Misfire").code(), ErrorCode::kInvalid);
}

TEST(MisfireTest, PlansTheHorizonWhenNothingIsLate) {
  const Schedule minutely = Rate(60s);
  const FirePlan plan = PlanFires(minutely, kStart, kStart - 10s, kStart + 120s, {}, 100);
  EXPECT_EQ(plan.fires, (Times{kStart, kStart + 60s, kStart + 120s}));
  EXPECT_TRUE(plan.gaps.empty());
  EXPECT_EQ(plan.next, kStart + 180s);
}

TEST(MisfireTest, NothingInsideTheHorizonLeavesTheScheduleWhereItIs) {
  const FirePlan plan = PlanFires(Rate(1h), kStart + 1h, kStart, kStart + 30s, {}, 100);
  EXPECT_TRUE(plan.fires.empty());
  EXPECT_EQ(plan.next, kStart + 1h);
}

TEST(MisfireTest, GraceIsInclusive) {
  const MisfireRules skip{.policy = MisfirePolicy::kSkip, .grace = 60s};
  const Schedule hourly = Rate(1h);
  EXPECT_EQ(PlanFires(hourly, kStart, kStart + 60s, kStart + 60s, skip, 9).fires, Times{kStart});
  const FirePlan late = PlanFires(hourly, kStart, kStart + 60s + 1us, kStart + 60s + 1us, skip, 9);
  EXPECT_TRUE(late.fires.empty());
  EXPECT_EQ(late.gaps, (std::vector<GapRange>{{kStart, kStart, 1, GapReason::kMisfire}}));
  EXPECT_EQ(late.next, kStart + 1h);
  EXPECT_TRUE(StillWanted(hourly, OnTime(kStart), kStart + 60s, skip));
  EXPECT_FALSE(StillWanted(hourly, OnTime(kStart), kStart + 60s + 1us, skip));
}

// A job that fires each minute, an outage of ten minutes, and a grace period of one minute: the
// fires from 00:00 to 00:08 are misfires, and with skip and latest 00:09, too, because 00:10 has
// overtaken it.
TEST(MisfireTest, EachPolicyAfterAnOutage) {
  const Schedule minutely = Rate(60s);
  const WallTime now = kStart + 10min;
  const auto planned = [&](MisfireRules rules) {
    return PlanFires(minutely, kStart, now, now, rules, 100);
  };
  for (const MisfirePolicy policy : {MisfirePolicy::kSkip, MisfirePolicy::kLatest}) {
    const FirePlan newest = planned({.policy = policy});
    EXPECT_EQ(newest.fires, Times{now});
    EXPECT_EQ(newest.gaps,
              (std::vector<GapRange>{{kStart, kStart + 9min, 10, GapReason::kMisfire}}));
  }

  const FirePlan all = planned({.policy = MisfirePolicy::kAll});
  EXPECT_EQ(all.fires.size(), 11u);
  EXPECT_TRUE(all.gaps.empty());

  const FirePlan window =
      planned({.policy = MisfirePolicy::kAll, .catch_up_window = 5min, .catch_up_max = 2});
  EXPECT_EQ(window.fires, (Times{kStart + 7min, kStart + 8min, kStart + 9min, now}));
  EXPECT_EQ(window.gaps,
            (std::vector<GapRange>{{kStart, kStart + 4min, 5, GapReason::kMisfire},
                                   {kStart + 5min, kStart + 6min, 2, GapReason::kCatchUpLimit}}));
  EXPECT_EQ(window.next, kStart + 11min);
}

// The grace is longer than the interval, so that no fire is later than the grace.
TEST(MisfireTest, OvertakenFiresDoNotStartTogetherAfterAStall) {
  const Schedule rate = Rate(15s);
  const WallTime now = kStart + 50s;
  const MisfireRules all{.policy = MisfirePolicy::kAll};
  EXPECT_EQ(PlanFires(rate, kStart, now, now, all, 9).fires.size(), 4u);
  for (const MisfirePolicy policy : {MisfirePolicy::kSkip, MisfirePolicy::kLatest}) {
    const MisfireRules rules{.policy = policy};
    const FirePlan plan = PlanFires(rate, kStart, now, now + 30s, rules, 9);
    EXPECT_EQ(plan.fires, (Times{kStart + 45s, kStart + 60s, kStart + 75s}));
    EXPECT_EQ(plan.gaps, (std::vector<GapRange>{{kStart, kStart + 30s, 3, GapReason::kMisfire}}));
    // The same of runs that were planned before the stall.
    for (const Duration fire : {0s, 15s, 30s}) {
      EXPECT_FALSE(StillWanted(rate, OnTime(kStart + fire), now, rules));
    }
    EXPECT_TRUE(StillWanted(rate, OnTime(kStart + 45s), now, rules));
    // A fire of each second: all that were not planned but the newest.
    EXPECT_EQ(PlanFires(Rate(1s), kStart, now, now, rules, 99).fires, Times{now});
  }
}

TEST(MisfireTest, BusyMomentLosesNoFire) {
  const Schedule each_second = Rate(1s);
  for (const MisfirePolicy policy : {MisfirePolicy::kSkip, MisfirePolicy::kLatest}) {
    const MisfireRules rules{.policy = policy};
    for (const Duration late : {Duration(1'200'000), Duration(7s), kOvertakenAfter}) {
      const FirePlan plan = PlanFires(each_second, kStart, kStart + late, kStart + late, rules, 99);
      EXPECT_EQ(plan.fires.size(), static_cast<size_t>(late / 1s) + 1);
      EXPECT_TRUE(plan.gaps.empty());
      EXPECT_TRUE(StillWanted(each_second, OnTime(kStart), kStart + late, rules));
    }
    const WallTime after = kStart + kOvertakenAfter + 1us;
    EXPECT_EQ(PlanFires(each_second, kStart, after, after, rules, 99).fires, Times{kStart + 15s});
    EXPECT_FALSE(StillWanted(each_second, OnTime(kStart), after, rules));
    // A fire that is as late but the newest is in time.
    EXPECT_EQ(PlanFires(Rate(1h), kStart, after, after, rules, 99).fires, Times{kStart});
    EXPECT_TRUE(StillWanted(Rate(1h), OnTime(kStart), kStart + 59s, rules));
  }
}

// Runs that wait one after another do not start together, so nothing is gained by dropping some.
TEST(MisfireTest, LateRunsOfAJobThatQueuesAreNotOvertaken) {
  const Schedule rate = Rate(5s);
  const WallTime now = kStart + 50s;
  for (const OverlapPolicy overlap : {OverlapPolicy::kQueueOne, OverlapPolicy::kQueueAll}) {
    JobDefinition job;
    job.overlap_policy = overlap;
    const MisfireRules rules = MisfireRulesOf(job);
    EXPECT_EQ(PlanFires(rate, kStart, now, now, rules, 99).fires.size(), 11u);
    EXPECT_TRUE(StillWanted(rate, OnTime(kStart), kStart + 60s, rules));
    EXPECT_FALSE(StillWanted(rate, OnTime(kStart), kStart + 66s, rules)) << "later than the grace";
  }
}

// Newer fires are always due when a run leaves a queue, that of a group for example.
TEST(MisfireTest, RunThatWasAdmittedFromAQueueIsNotOvertaken) {
  const Schedule rate = Rate(5s);
  const LateRun admitted{.fire = kStart, .due = kStart + 10min};
  EXPECT_TRUE(StillWanted(rate, admitted, admitted.due + 20s, {}));
  EXPECT_FALSE(StillWanted(rate, admitted, admitted.due + 66s, {}));
  EXPECT_FALSE(StillWanted(rate, OnTime(kStart), kStart + 20s, {}));
}

// They come when they come, so a policy for fires that are late says nothing about them.
TEST(MisfireTest, RunsOfEventsAreWantedHoweverLate) {
  const Schedule schedule =
      Schedule::Compile({.kind = ScheduleKind::kEvent, .event_type = "order.*"}, DstGap::kFire,
                        DstRepeat::kAuto)
          .value();
  const MisfireRules rules{.policy = MisfirePolicy::kSkip, .grace = 0s, .catch_up_window = 1s};
  EXPECT_TRUE(StillWanted(schedule, OnTime(kStart), kStart + 30 * 24h, rules));
  EXPECT_FALSE(StillWanted(Rate(1h), OnTime(kStart), kStart + 30 * 24h, rules));
}

TEST(MisfireTest, LatestOutsideTheWindowIsNotRun) {
  const MisfireRules rules{.policy = MisfirePolicy::kLatest, .catch_up_window = 1h};
  const FirePlan plan = PlanFires(Cron("0 0 * * *"), kStart, kStart + 26h, kStart + 26h, rules, 10);
  EXPECT_TRUE(plan.fires.empty());
  EXPECT_EQ(plan.gaps, (std::vector<GapRange>{{kStart, kStart + 24h, 2, GapReason::kMisfire}}));
  EXPECT_EQ(plan.next, kStart + 48h);
}

// The schedule may have changed since the run was planned, and with it the jitter.
TEST(MisfireTest, WindowOfAPlannedRunCountsFromItsOwnDueTime) {
  const Schedule daily = Rate(24h);
  const MisfireRules latest{.grace = 60s, .catch_up_window = 1h};
  const LateRun delayed{.fire = kStart, .due = kStart + 55min};
  EXPECT_TRUE(StillWanted(daily, delayed, delayed.due + 1h, latest));
  EXPECT_FALSE(StillWanted(daily, delayed, delayed.due + 1h + 1us, latest));
}

TEST(MisfireTest, LatenessCountsFromTheDueTime) {
  const Schedule hourly =
      Schedule::Compile({.kind = ScheduleKind::kRate, .every = 2h, .start = kStart, .jitter = 1h},
                        DstGap::kFire, DstRepeat::kAuto)
          .value();
  const MisfireRules skip{.policy = MisfirePolicy::kSkip, .grace = 60s};
  const DueTimes due_times(hourly, ScheduleId(1));
  const WallTime due = due_times.Of(kStart);
  ASSERT_GT(due, kStart + 60s);
  const auto planned = [&](WallTime now) {
    return PlanFires(hourly, kStart, now, now, skip, 9, due_times);
  };
  EXPECT_EQ(planned(due + 60s).fires, Times{kStart});
  EXPECT_TRUE(planned(due + 60s + 1us).fires.empty());
  EXPECT_EQ(planned(due + 60s + 1us).gaps.size(), 1u);
  EXPECT_TRUE(StillWanted(hourly, {kStart, due}, due + 60s, skip, due_times));
  EXPECT_FALSE(StillWanted(hourly, {kStart, due}, due + 60s + 1us, skip, due_times));
}

// A fire outside the window of the schedule is no misfire and leaves no gap.
TEST(MisfireTest, FiresOutsideTheWindowOfTheScheduleAreNone) {
  const Schedule limited = Schedule::Compile({.kind = ScheduleKind::kCron,
                                              .cron_expression = "* * * * *",
                                              .start = kStart + 2min,
                                              .end = kStart + 5min},
                                             DstGap::kFire, DstRepeat::kAuto)
                               .value();
  const MisfireRules skip{.policy = MisfirePolicy::kSkip};
  const FirePlan plan = PlanFires(limited, kStart, kStart + 1h, kStart + 1h, skip, 100);
  EXPECT_TRUE(plan.fires.empty());
  EXPECT_EQ(plan.gaps,
            (std::vector<GapRange>{{kStart + 2min, kStart + 4min, 3, GapReason::kMisfire}}));
  EXPECT_FALSE(plan.next.has_value());
}

TEST(MisfireTest, OnceThatWasMissedHasAFateAndNoNext) {
  const Schedule once = Schedule::Compile({.kind = ScheduleKind::kOnce, .at = kStart},
                                          DstGap::kFire, DstRepeat::kAuto)
                            .value();
  const FirePlan latest = PlanFires(once, kStart, kStart + 30min, kStart + 31min, {}, 10);
  EXPECT_EQ(latest.fires, Times{kStart});
  EXPECT_FALSE(latest.next.has_value());
  const FirePlan late = PlanFires(once, kStart, kStart + 2h, kStart + 2h, {}, 10);
  EXPECT_EQ(late.gaps, (std::vector<GapRange>{{kStart, kStart, 1, GapReason::kMisfire}}));
  EXPECT_FALSE(late.next.has_value());
}

TEST(MisfireTest, FiresMaxLeavesTheRestForTheNextCall) {
  const Schedule rate = Rate(1s);
  const FirePlan first = PlanFires(rate, kStart, kStart, kStart + 9s, {}, 4);
  EXPECT_EQ(first.fires.size(), 4u);
  EXPECT_EQ(first.next, kStart + 4s);
  const FirePlan none = PlanFires(rate, kStart, kStart, kStart + 9s, {}, 0);
  EXPECT_TRUE(none.fires.empty());
  EXPECT_EQ(none.next, kStart);
}

TEST(MisfireTest, AStoredTimeThatIsNoFireAnyMoreMovesToTheNextFire) {
  // The time zone database has changed, so that an earlier fire is no longer a fire.
  const FirePlan plan = PlanFires(Rate(60s), kStart + 7s, kStart, kStart + 2min, {}, 10);
  EXPECT_EQ(plan.fires, (Times{kStart + 60s, kStart + 120s}));
}

// A year of missed fires, each millisecond or (cron) each second, is counted without visiting each.
TEST(MisfireTest, AYearOfMissedFiresIsCountedExactly) {
  constexpr Duration kYear = 365 * 24h;
  const WallTime now = kStart + kYear;
  const MisfireRules rules{.policy = MisfirePolicy::kAll, .catch_up_max = 10'000};
  const auto began = std::clock();
  const FirePlan rate = PlanFires(Rate(1ms), kStart, now, now, rules, 1'000);
  const FirePlan cron =
      PlanFires(Cron("* * * * * *", "Europe/Paris"), kStart, now, now, rules, 1'000);
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 0.25) << "counting is not arithmetic any more";

  ASSERT_EQ(rate.gaps.size(), 2u);
  EXPECT_EQ(rate.gaps[0].count, (kYear - 1h) / 1ms);
  EXPECT_EQ(rate.gaps[0].count + rate.gaps[1].count, (kYear - 60s) / 1ms - 10'000);
  EXPECT_EQ(rate.fires.front(), now - 60s - 10'000ms);
  EXPECT_EQ(rate.fires.size(), 1'000u);
  EXPECT_EQ(rate.next, rate.fires.back() + 1ms);

  ASSERT_EQ(cron.gaps.size(), 1u);  // an hour of seconds is below catch_up_max
  EXPECT_EQ(cron.gaps[0].count, (kYear - 1h) / 1s);
  EXPECT_EQ(cron.fires.front(), now - 1h);
}

MisfireRules RandomRules(Rng& rng) {
  return {.policy = static_cast<MisfirePolicy>(rng.Below(3)),
          .grace = 1s * rng.Below(300),
          .catch_up_window = 1s * rng.Below(20'000),
          .catch_up_max = 1 + static_cast<int64_t>(rng.Below(30)),
          .queues = rng.Chance(0.3)};
}

ScheduleSpec RandomSpec(Rng& rng) {
  switch (rng.Below(4)) {
    case 0:
      return {
          .kind = ScheduleKind::kRate, .every = 1ms * (1 + rng.Below(2'000'000)), .start = kStart};
    case 1:
      return {.kind = ScheduleKind::kCron,
              .cron_expression = "*/7 * * * *",
              .time_zone = "Europe/Paris"};
    case 2:
      return {.kind = ScheduleKind::kCron,
              .cron_expression = "30 2 * * *",
              .time_zone = "Europe/Paris"};
    default:
      return {.kind = ScheduleKind::kCron,
              .cron_expression = "*/40 * 1-4 * * *",
              .time_zone = "Australia/Lord_Howe"};
  }
}

// With a jitter in half of the cases.
Schedule RandomSchedule(Rng& rng) {
  ScheduleSpec spec = RandomSpec(rng);
  if (rng.Chance(0.5)) spec.jitter = 1s * rng.Below(3'601);
  return Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto).value();
}

// The fires of a schedule at `now`, in order.
struct ReferenceFires {
  Times due = {};       // all due ones
  Times misfires = {};  // those later than the grace
};

// A simple evaluation: whether `fire`, due at `due`, runs. `stalled`: fires that are in time are
// left out, too, if they are overtaken.
bool ReferenceRuns(const ReferenceFires& fires, WallTime fire, WallTime due, WallTime now,
                   const MisfireRules& rules, bool stalled) {
  const Duration late = now - due;
  if (rules.policy == MisfirePolicy::kAll || rules.queues) {
    if (late <= rules.grace) return true;
    if (rules.policy == MisfirePolicy::kSkip || late > rules.catch_up_window) return false;
    const Times& misfires = fires.misfires;
    const auto newer = misfires.end() - std::upper_bound(misfires.begin(), misfires.end(), fire);
    return newer < (rules.policy == MisfirePolicy::kAll ? rules.catch_up_max : 1);
  }
  const bool overtaken = !fires.due.empty() && fire < fires.due.back();
  if (overtaken && (stalled || late > std::min<Duration>(rules.grace, 15s))) return false;
  if (late <= rules.grace) return true;
  return rules.policy == MisfirePolicy::kLatest && late <= rules.catch_up_window;
}

TEST(MisfireTest, OneCallFollowsTheObviousReading) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Schedule schedule = RandomSchedule(rng);
    const MisfireRules rules = RandomRules(rng);
    const WallTime first = schedule.Next(T("2026-03-28T12:00:00Z") + 1s * rng.Below(86'400))->time;
    const WallTime now = first + 1s * rng.Below(30'000);
    const WallTime horizon_end = now + 30s;
    const DueTimes due(schedule, ScheduleId(seed));
    Times fires;
    for (WallTime at = first; at <= horizon_end; at = schedule.Next(at)->time) fires.push_back(at);
    ReferenceFires known;
    for (const WallTime t : fires) {
      if (due.Of(t) <= now) known.due.push_back(t);
      if (now - due.Of(t) > rules.grace) known.misfires.push_back(t);
    }
    const bool stalled = now - due.Of(first) > std::min<Duration>(rules.grace, 15s);
    Times expected;
    for (const WallTime t : fires) {
      if (ReferenceRuns(known, t, due.Of(t), now, rules, stalled)) expected.push_back(t);
    }
    const FirePlan plan =
        PlanFires(schedule, first, now, horizon_end, rules, fires.size() + 1, due);
    EXPECT_EQ(plan.fires, expected);
    int64_t in_gaps = 0;
    for (const GapRange& gap : plan.gaps) in_gaps += gap.count;
    EXPECT_EQ(in_gaps + static_cast<int64_t>(plan.fires.size()),
              static_cast<int64_t>(fires.size()));
    EXPECT_EQ(plan.next, schedule.Next(fires.empty() ? first - 1us : fires.back())->time);
    for (const WallTime t : fires) {
      EXPECT_EQ(StillWanted(schedule, {t, due.Of(t)}, now, rules, due),
                ReferenceRuns(known, t, due.Of(t), now, rules, false))
          << FormatRfc3339(t);
    }
  }
}

// Calls as a planner makes them while time advances: every fire gets exactly one outcome.
TEST(MisfireTest, RepeatedCallsGiveEachFireExactlyOneFate) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed * 31);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Schedule schedule = RandomSchedule(rng);
    const MisfireRules rules = RandomRules(rng);
    const WallTime first = schedule.Next(T("2026-03-28T12:00:00Z") + 1s * rng.Below(86'400))->time;
    WallTime now = first - 1min;
    WallTime next = first;
    int64_t accounted = 0;
    WallTime last = first - 1us;  // the last fire that has an outcome
    for (int call = 0; call < 60; ++call) {
      now += rng.Chance(0.1) ? 1s * rng.Below(20'000) : Duration(rng.Below(5'000'000));
      const WallTime horizon_end = rng.Chance(0.1) ? now - 200s : now + 30s;
      const FirePlan plan = PlanFires(schedule, next, now, horizon_end, rules, rng.Below(12),
                                      DueTimes(schedule, ScheduleId(seed)));
      for (const GapRange& gap : plan.gaps) {
        ASSERT_GT(gap.from, last);
        ASSERT_GE(gap.to, gap.from);
        ASSERT_EQ(gap.count, schedule.Count(gap.from, gap.to + 1us));
        ASSERT_EQ(gap.from, schedule.Next(last)->time) << "a fire was left out";
        accounted += gap.count;
        last = gap.to;
      }
      for (const WallTime fire : plan.fires) {
        ASSERT_EQ(fire, schedule.Next(last)->time) << "a fire was left out or repeated";
        ASSERT_LE(fire, horizon_end);
        ++accounted;
        last = fire;
      }
      ASSERT_TRUE(plan.next.has_value());
      ASSERT_GT(*plan.next, last);
      ASSERT_EQ(*plan.next, schedule.Next(last)->time);
      next = *plan.next;
    }
    EXPECT_EQ(accounted, schedule.Count(first, next));
  }
}

TEST(MisfireTest, WhatAPersonStartedIsAlwaysWanted) {
  const Schedule manual = Schedule::Compile({}, DstGap::kFire, DstRepeat::kAuto).value();
  const MisfireRules skip{.policy = MisfirePolicy::kSkip, .grace = 0s};
  EXPECT_TRUE(StillWanted(manual, OnTime(kStart), kStart + 24h, skip));
}

TEST(MisfireTest, TheOneFireOfADelayScheduleIsRunHoweverLate) {
  const Schedule delay = Schedule::Compile({.kind = ScheduleKind::kDelay, .every = 10s},
                                           DstGap::kFire, DstRepeat::kAuto)
                             .value();
  const MisfireRules skip{.policy = MisfirePolicy::kSkip, .grace = 0s};
  const FirePlan late = PlanFires(delay, kStart, kStart + 24h, kStart + 25h, skip, 100);
  EXPECT_EQ(late.fires, Times{kStart});
  EXPECT_TRUE(late.gaps.empty());
  EXPECT_FALSE(late.next.has_value());
  EXPECT_TRUE(StillWanted(delay, OnTime(kStart), kStart + 24h, skip));
  const FirePlan early = PlanFires(delay, kStart, kStart - 1h, kStart - 1s, skip, 100);
  EXPECT_TRUE(early.fires.empty());
  EXPECT_EQ(early.next, kStart);
}

TEST(MisfireTest, RulesComeFromTheJob) {
  JobDefinition job;
  job.misfire_policy = MisfirePolicy::kAll;
  job.misfire_grace_s = 8;
  job.catch_up_window_s = 7;
  job.catch_up_max = 9;
  const MisfireRules rules = MisfireRulesOf(job);
  EXPECT_EQ(rules.policy, MisfirePolicy::kAll);
  EXPECT_EQ(rules.grace, 8s);
  EXPECT_EQ(rules.catch_up_window, 7s);
  EXPECT_EQ(rules.catch_up_max, 9);
}

TEST(MisfireTest, OrdinaryLatenessIsNoMisfireWhateverTheGrace) {
  JobDefinition job;
  job.misfire_policy = MisfirePolicy::kSkip;
  for (const int64_t grace_s : {0, 1, 5}) {
    job.misfire_grace_s = grace_s;
    EXPECT_EQ(MisfireRulesOf(job).grace, kMisfireFloor);
  }
  const Schedule rate =
      Schedule::Compile({.kind = ScheduleKind::kRate, .every = 1min, .start = kStart},
                        DstGap::kFire, DstRepeat::kAuto)
          .value();
  const MisfireRules rules = MisfireRulesOf(job);
  EXPECT_TRUE(StillWanted(rate, OnTime(kStart), kStart + 40ms, rules));
  EXPECT_TRUE(StillWanted(rate, OnTime(kStart), kStart + kMisfireFloor, rules));
  EXPECT_FALSE(StillWanted(rate, OnTime(kStart), kStart + kMisfireFloor + 1us, rules));
}

}  // namespace
}  // namespace carillon::test
