#include "scheduler/plan/plan_builder.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

const WallTime kPlannedAt = FromUnixMicros(1'772'323'200'000'000);
const PlanTimes kTimes{.now = kPlannedAt, .look = 15s, .horizon = 30s};

DueSchedule Delay(WallTime next_fire) {
  return {.schedule_id = ScheduleId(7),
          .job_no = JobNo(5),
          .segment = SegmentId(1),
          .version = 3,
          .job_version = 4,
          .next_fire = next_fire,
          .spec = {.kind = ScheduleKind::kDelay, .every = 1s}};
}

PlannedSchedule Planned(const DueSchedule& due) {
  const auto compiled = Schedule::Compile(due.spec, due.dst_gap, due.dst_repeat);
  return PlanSchedule(due, *compiled, kTimes, 1000);
}

TEST(PlanBuilderTest, ADelayScheduleHasOneRunHoweverLateAndAwaitsIt) {
  for (const WallTime fire : {kPlannedAt - 24h, kPlannedAt, kPlannedAt + 5s}) {
    const PlannedSchedule planned = Planned(Delay(fire));
    ASSERT_EQ(planned.runs.size(), 1u);
    EXPECT_EQ(planned.runs[0].key.fire, fire);
    EXPECT_EQ(planned.runs[0].due, fire);
    EXPECT_EQ(planned.runs[0].kind, RunKind::kDelay);
    EXPECT_EQ(planned.runs[0].flags, run_flag::kDelay);
    EXPECT_TRUE(planned.gaps.empty());
    EXPECT_EQ(planned.advance.next_fire, kNever);
    EXPECT_EQ(planned.advance.awaited, fire);
    EXPECT_FALSE(planned.more);
  }
}

TEST(PlanBuilderTest, ATriggerOfEventsIsNeverPlanned) {
  DueSchedule due = Delay(kPlannedAt);
  due.spec = {.kind = ScheduleKind::kEvent, .event_type = "order.*"};
  for (const WallTime next : {kPlannedAt - 24h, kNever}) {
    due.next_fire = next;
    const PlannedSchedule planned = Planned(due);
    EXPECT_TRUE(planned.runs.empty());
    EXPECT_TRUE(planned.gaps.empty());
    EXPECT_EQ(planned.advance.next_fire, kNever);
    EXPECT_FALSE(planned.more);
  }
}

TEST(PlanBuilderTest, RunsOfAJobThatOthersAwaitHaveTheFlag) {
  DueSchedule due = Delay(kPlannedAt);
  due.run_flags = run_flag::kDependents;
  EXPECT_EQ(Planned(due).runs.at(0).flags, run_flag::kDelay | run_flag::kDependents);
  due.spec = {.kind = ScheduleKind::kRate, .every = 1s, .start = kPlannedAt};
  for (const PlannedRun& run : Planned(due).runs) EXPECT_EQ(run.flags, run_flag::kDependents);
}

TEST(PlanBuilderTest, RunsThatWaitForOtherJobsHaveNoDueTime) {
  DueSchedule due = Delay(kPlannedAt);
  due.run_flags = run_flag::kWaits | run_flag::kDependents;
  due.spec = {.kind = ScheduleKind::kRate, .every = 1s, .start = kPlannedAt, .jitter = 60s};
  const PlannedSchedule planned = Planned(due);
  ASSERT_FALSE(planned.runs.empty());
  for (const PlannedRun& run : planned.runs) {
    EXPECT_EQ(run.due, kAwaiting);
    EXPECT_EQ(run.flags, run_flag::kDependents) << "the mark is of the schedule alone";
  }
  due.spec = {.kind = ScheduleKind::kDelay, .every = 1s};
  EXPECT_EQ(Planned(due).runs.at(0).due, kAwaiting);
  EXPECT_EQ(Planned(due).advance.awaited, kPlannedAt);
}

TEST(PlanBuilderTest, ADelayScheduleBeyondTheHorizonAwaitsNothing) {
  const PlannedSchedule planned = Planned(Delay(kPlannedAt + 1h));
  EXPECT_TRUE(planned.runs.empty());
  EXPECT_EQ(planned.advance.next_fire, kPlannedAt + 1h);
  EXPECT_EQ(planned.advance.awaited, WallTime{});
}

TEST(PlanBuilderTest, OtherSchedulesAwaitNothing) {
  DueSchedule rate = Delay(kPlannedAt + 1s);
  rate.spec = {.kind = ScheduleKind::kRate, .every = 1s, .start = kPlannedAt};
  const PlannedSchedule planned = Planned(rate);
  EXPECT_GT(planned.runs.size(), 10u);
  EXPECT_EQ(planned.runs[0].flags, 0u);
  EXPECT_EQ(planned.advance.awaited, WallTime{});
}

}  // namespace
}  // namespace carillon::scheduler
