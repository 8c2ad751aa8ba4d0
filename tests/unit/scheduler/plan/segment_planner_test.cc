#include "scheduler/plan/segment_planner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class SegmentPlannerTest : public test::RoomTest {
 protected:
  SegmentPlanner Make(SegmentPlanner::Options options = {}) {
    return SegmentPlanner({.clock = clock_,
                           .store = faults_.firing,
                           .calendars = calendars_,
                           .cluster = cluster_,
                           .segments = table_,
                           .fences = fences_,
                           .feed = feed_,
                           .metrics = metrics_,
                           .settings = settings_,
                           .backlog = [this] { return backlog_; },
                           .busy = [this] { return busy_; }},
                          options);
  }
  // Steps the planner until it waits.
  void Plan(SegmentPlanner& planner) {
    for (int i = 0; i < 100; ++i) {
      if (planner.Step(clock_.Steady()) > clock_.Steady()) return;
    }
    FAIL() << "the planner does not come to rest";
  }
  std::multiset<RunKey> Fed() {
    std::multiset<RunKey> keys;
    for (const auto& batch : feed_.PopUpTo(1000)) {
      for (const PendingRun& run : batch) keys.insert(run.key);
    }
    return keys;
  }
  std::vector<RunRow> Pending() {
    std::vector<SegmentId> segments;
    for (uint32_t n = 0; n < test::kSegments; ++n) segments.push_back(SegmentId(n));
    return stores_.firing.ScanPending(segments, clock_.Wall() + 24h, {}, 100'000)->runs;
  }

  // The store refuses every batch with such a schedule.
  void RefuseSchedules(std::function<bool(const ScheduleAdvance&)> is_bad) {
    faults_.plan.Refuse<PlanBatch>([is_bad = std::move(is_bad)](const PlanBatch& batch) {
      return std::any_of(batch.advances.begin(), batch.advances.end(), is_bad);
    });
  }

  size_t backlog_ = 0;
  bool busy_ = false;  // true: due runs wait for executors
};

TEST_F(SegmentPlannerTest, PlansEveryFireBetweenLookAndHorizonAndFeedsIt) {
  CreateRate("tick", 1s);
  SegmentPlanner planner = Make();
  Plan(planner);
  const auto runs = Pending();
  ASSERT_GE(runs.size(), 15u);
  ASSERT_LE(runs.size(), 30u);
  WallTime expected = clock_.Wall() + 1s;
  for (const RunRow& run : runs) {
    EXPECT_EQ(run.key.fire, expected);
    EXPECT_EQ(run.due, run.key.fire);
    expected += 1s;
  }
  EXPECT_EQ(Fed().size(), runs.size());
  EXPECT_EQ(metrics_.counter("carillon_fires_total", "rate").value(), runs.size());
}

// The planner that takes over after a crash writes the same due times.
TEST_F(SegmentPlannerTest, JitterMovesOnlyTheDueTimeAndAlwaysToTheSamePlace) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.schedules = {{.kind = ScheduleKind::kRate,
                    .every = 4s,
                    .start = clock_.Wall(),
                    .end = clock_.Wall() + 13s,
                    .jitter = 1h}};
  const StoredJob stored = CreateJob("spread", job);
  SegmentPlanner planner = Make();
  Plan(planner);
  const auto runs = Pending();
  ASSERT_EQ(runs.size(), 3u);
  const Schedule schedule =
      Schedule::Compile(job.schedules[0], DstGap::kFire, DstRepeat::kAuto).value();
  const DueTimes due_times(schedule, stored.schedules[0].schedule_id);
  WallTime fire = clock_.Wall() + 4s;
  bool moved = false;
  for (const RunRow& run : runs) {
    EXPECT_EQ(run.key.fire, fire);
    EXPECT_EQ(run.due, due_times.Of(fire));
    moved = moved || run.due != fire;
    fire += 4s;
  }
  EXPECT_TRUE(moved);
  for (const auto& batch : feed_.PopUpTo(1000)) {
    for (const PendingRun& run : batch) EXPECT_EQ(run.due, due_times.Of(run.key.fire));
  }
}

TEST_F(SegmentPlannerTest, WhatIsDueMuchLaterIsLeftToTheSweepWhileMemoryIsHalfFull) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.schedules = {
      {.kind = ScheduleKind::kRate, .every = 6h, .start = clock_.Wall() + 1s, .jitter = 1h}};
  for (int i = 0; i < 20; ++i) CreateJob("spread" + std::to_string(i), job);
  backlog_ = 60;
  SegmentPlanner planner = Make({.horizon = 10min, .backlog_max = 100});
  Plan(planner);
  const WallTime last = clock_.Wall() + 10min;
  const auto runs = Pending();
  ASSERT_EQ(runs.size(), 20u);
  const auto near = std::count_if(runs.begin(), runs.end(),
                                  [last](const RunRow& run) { return run.due <= last; });
  EXPECT_LT(near, 20);
  EXPECT_EQ(static_cast<int64_t>(Fed().size()), near);
  WallTime last_due = last;
  for (const RunRow& run : runs) last_due = std::max(last_due, run.due);
  EXPECT_EQ(feed_.TakeDropped(), last_due) << "the sweep looks for them until then";
}

// Planned 30 minutes after the fire, but still before it is due: no misfire.
TEST_F(SegmentPlannerTest, WhatIsNotDueYetIsNoMisfire) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.misfire_policy = MisfirePolicy::kSkip;
  job.schedules = {
      {.kind = ScheduleKind::kRate, .every = 6h, .start = clock_.Wall() + 1s, .jitter = 1h}};
  std::map<ScheduleId, WallTime> due;
  for (int i = 0; i < 20; ++i) {
    const StoredJob stored = CreateJob("spread" + std::to_string(i), job);
    const Schedule schedule =
        Schedule::Compile(job.schedules[0], DstGap::kFire, DstRepeat::kAuto).value();
    const ScheduleId id = stored.schedules[0].schedule_id;
    due[id] = DueTimes(schedule, id).Of(clock_.Wall() + 1s);
  }
  clock_.Advance(30min);
  SampleClock();
  SegmentPlanner planner = Make();
  Plan(planner);
  std::set<ScheduleId> planned;
  for (const RunRow& run : Pending()) planned.insert(run.key.schedule_id);
  const WallTime misfire_end = clock_.Wall() - std::chrono::seconds(job.misfire_grace_s);
  for (const auto& [id, at] : due) EXPECT_EQ(planned.contains(id), at >= misfire_end);
  EXPECT_GT(planned.size(), 2u);
  EXPECT_LT(planned.size(), 18u);
  EXPECT_EQ(metrics_.counter("carillon_misfires_total", "skip").value(), 20 - planned.size());
}

TEST_F(SegmentPlannerTest, FiresFollowEachOtherWithoutHoleOrRepetitionAsTimeGoes) {
  CreateRate("tick", 1s);
  SegmentPlanner planner = Make();
  std::multiset<RunKey> fed;
  for (int second = 0; second < 120; ++second) {
    Plan(planner);
    clock_.Advance(1s);
    for (const RunKey& key : Fed()) fed.insert(key);
  }
  WallTime expected = fed.begin()->fire;
  for (const RunKey& key : fed) {
    EXPECT_EQ(key.fire, expected);
    expected += 1s;
  }
}

TEST_F(SegmentPlannerTest, UnreadableScheduleIsSetAsideAndPlannedWhenItIsMended) {
  const StoredJob bad = CreateRate("bad", 20s);
  const StoredJob good = CreateRate("good", 20s);
  stores_.DamageSchedule(bad.schedules[0].schedule_id, true);
  SegmentPlanner planner = Make({.horizon = 60s});
  Plan(planner);
  const std::vector<RunRow> pending = Pending();
  ASSERT_FALSE(pending.empty());
  for (const RunRow& run : pending) EXPECT_EQ(run.job_no, good.job_no);
  EXPECT_EQ(metrics_.counter("carillon_schedules_set_aside_total", "corrupt").value(), 1u);
  stores_.DamageSchedule(bad.schedules[0].schedule_id, false);
  clock_.Advance(61s);
  Plan(planner);
  std::set<JobNo> planned;
  for (const RunRow& run : Pending()) planned.insert(run.job_no);
  EXPECT_TRUE(planned.contains(bad.job_no));
}

TEST_F(SegmentPlannerTest, WhatIsSetAsideIsBoundedAndForgotten) {
  for (int i = 0; i < 20; ++i) CreateRate("tick" + std::to_string(i), 20s);
  RefuseSchedules([](const ScheduleAdvance&) { return true; });
  SegmentPlanner planner = Make({.horizon = 60s, .set_aside_max = 5});
  for (int i = 0; i < 5; ++i) {
    planner.Step(clock_.Steady());
    EXPECT_LE(planner.set_aside(), 5u);
    clock_.Advance(1s);
  }
  EXPECT_GT(planner.set_aside(), 0u);
  const auto page = stores_.jobs.ListJobs({.limit = 100});
  ASSERT_TRUE(page.ok());
  for (const StoredJob& job : page->jobs) {
    const Status deleted = stores_.jobs.DeleteJob(job.job_id, job.version, {.now = clock_.Wall()});
    ASSERT_TRUE(deleted.ok()) << deleted.error().message;
  }
  clock_.Advance(3min);
  planner.Step(clock_.Steady());
  EXPECT_EQ(planner.set_aside(), 0u);
}

TEST_F(SegmentPlannerTest, BatchesStayWithinTheRowLimit) {
  CreateRate("fast", 5ms);  // thousands of fires within the horizon
  SegmentPlanner planner = Make();
  Plan(planner);
  const auto runs = Pending();
  EXPECT_GE(runs.size(), 3000u);
  EXPECT_GE(faults_.plan.calls("Plan"), static_cast<int>(runs.size() / kBatchRowsMax));
}

TEST_F(SegmentPlannerTest, EverybodysNextSecondsComeBeforeAnybodysNextHalfMinute) {
  for (int i = 0; i < 40; ++i) CreateRate("job" + std::to_string(i), 1s);
  SegmentPlanner planner = Make({.batches_per_step = 1, .batch_rows = 30});
  std::set<ScheduleId> planned;
  for (int steps = 0; planned.size() < 40; ++steps) {
    ASSERT_LT(steps, 12) << "5 rows a schedule would have been enough for everybody";
    planner.Step(clock_.Steady());
    for (const RunRow& run : Pending()) planned.insert(run.key.schedule_id);
  }
  EXPECT_LT(Pending().back().due, clock_.Wall() + 15s);
  for (int step = 0; step < 40; ++step) {
    Plan(planner);
    Fed();
    clock_.Advance(500ms);
  }
  Plan(planner);
  EXPECT_GT(Pending().back().due, clock_.Wall() + 15s);
}

// Counts the advances of schedules in each half second of `seconds`, after the first half minute.
class PlanningRateTest : public SegmentPlannerTest {
 protected:
  std::vector<int> AdvancesOf(SegmentPlanner& planner, int seconds) {
    int advances = 0;
    RefuseSchedules([&](const ScheduleAdvance&) {
      ++advances;
      return false;
    });
    std::vector<int> of_step;
    for (int step = 0; step < 2 * (30 + seconds); ++step) {
      advances = 0;
      Plan(planner);
      Fed();
      if (step >= 60) of_step.push_back(advances);
      clock_.Advance(500ms);
    }
    return of_step;
  }
  void CreateRates(int count) {
    for (int i = 0; i < count; ++i) CreateRate("job" + std::to_string(i), 1s);
  }
};

TEST_F(PlanningRateTest, EachScheduleIsPlannedOnceInHalfAHorizonAndNotAllAtOnce) {
  CreateRates(200);
  SegmentPlanner planner = Make();
  const std::vector<int> advances = AdvancesOf(planner, 150);
  EXPECT_EQ(std::accumulate(advances.begin(), advances.end(), 0), 200 * 150 / 15);
  EXPECT_LE(*std::max_element(advances.begin(), advances.end()), 4 * 200 / 30);
}

// Counts the rows in each half second after 400 schedules of 1 s were created.
class FirstSecondsTest : public PlanningRateTest {
 protected:
  std::vector<size_t> RowsOf(int steps) {
    CreateRates(400);
    SegmentPlanner planner = Make({.batch_rows = 100});
    std::vector<size_t> rows;
    size_t before = 0;
    for (int step = 0; step <= steps; ++step) {
      Plan(planner);
      Fed();
      const size_t planned = Pending().size();
      if (step > 0) rows.push_back(planned - before);
      before = planned;
      ExpectInTime();
      clock_.Advance(500ms);
    }
    return rows;
  }
  // Expects that every fire within the next second is planned.
  void ExpectInTime() {
    std::vector<SegmentId> segments;
    for (uint32_t n = 0; n < test::kSegments; ++n) segments.push_back(SegmentId(n));
    EXPECT_TRUE(stores_.firing.ScanDue(segments, clock_.Wall() + 1s, 1)->empty());
  }

  // Returns the most rows within two seconds, as a multiple of the rows that are needed.
  static double MostOf(const std::vector<size_t>& rows) {
    double most = 0;
    for (size_t at = 0; at + 4 <= rows.size(); ++at) {
      most = std::max(most, (rows[at] + rows[at + 1] + rows[at + 2] + rows[at + 3]) / (2 * 400.0));
    }
    return most;
  }
};

TEST_F(FirstSecondsTest, HorizonIsFilledWithAtMostTwiceTheRowsThatAreNeeded) {
  EXPECT_LE(MostOf(RowsOf(52)), 2.0);
  EXPECT_GE(Pending().back().due, clock_.Wall() + 25s) << "after 26 s";
}

TEST_F(FirstSecondsTest, HorizonIsFilledMoreSlowlyWhileRunsWait) {
  busy_ = true;
  const std::vector<size_t> rows = RowsOf(52);
  EXPECT_LE(MostOf(rows), 1.75);
  EXPECT_LE(std::accumulate(rows.begin(), rows.end(), size_t{0}), 400u * 26 * 13 / 10);
  EXPECT_LE(Pending().back().due, clock_.Wall() + 15s);
}

TEST_F(PlanningRateTest, ManyThatWereCreatedAtOnceDoNotComeBackAtOnce) {
  CreateRates(400);
  SegmentPlanner planner = Make({.batch_rows = 100});
  const std::vector<int> advances = AdvancesOf(planner, 60);
  EXPECT_LE(std::accumulate(advances.begin(), advances.end(), 0), 400 * 60 / 15 * 11 / 10);
  EXPECT_LE(*std::max_element(advances.begin(), advances.end()), 4 * 400 / 30);
}

TEST_F(SegmentPlannerTest, RestsAfterATransactionOfWhatIsNotNear) {
  CreateRate("fast", 5ms);
  SegmentPlanner planner = Make();
  RefuseSchedules([&](const ScheduleAdvance&) {
    clock_.Advance(60ms);  // the time of a transaction
    return false;
  });
  SteadyTime next = planner.Step(clock_.Steady());
  EXPECT_EQ(next, clock_.Steady()) << "the first fires are due at once";
  next = planner.Step(clock_.Steady());
  EXPECT_GT(next, clock_.Steady() + 15ms);
  EXPECT_LT(next, clock_.Steady() + 60ms);
  const int plans = faults_.plan.calls("Plan");
  planner.Step(next - 1ms);
  EXPECT_EQ(faults_.plan.calls("Plan"), plans);
}

TEST_F(SegmentPlannerTest, WhatWasScannedForASegmentThatMovedMeanwhileIsNotPlanned) {
  for (int i = 0; i < 20; ++i) CreateRate("job" + std::to_string(i), 1s);
  SegmentPlanner planner = Make({.batches_per_step = 1, .batch_rows = 30});
  planner.Step(clock_.Steady());
  const size_t planned = Pending().size();
  ASSERT_GT(planned, 0u);
  TakeAll("m2");
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kStoreHeld);
  planner.Step(clock_.Steady());
  EXPECT_EQ(Pending().size(), planned);
}

TEST_F(SegmentPlannerTest, OneRefusedScheduleDoesNotHoldUpTheOthers) {
  std::vector<ScheduleId> schedules;
  for (int i = 0; i < 20; ++i) {
    schedules.push_back(CreateRate("job" + std::to_string(i), 10s).schedules[0].schedule_id);
  }
  const ScheduleId bad = schedules[7];
  RefuseSchedules([&](const ScheduleAdvance& advance) { return advance.schedule_id == bad; });
  SegmentPlanner planner = Make();
  Plan(planner);
  std::set<ScheduleId> planned;
  for (const RunRow& run : Pending()) planned.insert(run.key.schedule_id);
  EXPECT_EQ(planned.size(), 19u);
  EXPECT_EQ(planned.count(bad), 0u);
  EXPECT_EQ(metrics_.counter("carillon_schedules_set_aside_total", "invalid").value(), 1u);
  faults_.plan.Refuse<PlanBatch>(nullptr);
  clock_.Advance(30s);
  Plan(planner);
  planned.clear();
  for (const RunRow& run : Pending()) planned.insert(run.key.schedule_id);
  EXPECT_EQ(planned.count(bad), 0u);
  clock_.Advance(31s);
  Plan(planner);
  for (const RunRow& run : Pending()) planned.insert(run.key.schedule_id);
  EXPECT_EQ(planned.count(bad), 1u);
}

TEST_F(SegmentPlannerTest, BrokenStoreSetsNoScheduleAside) {
  for (int i = 0; i < 20; ++i) CreateRate("job" + std::to_string(i), 10s);
  SegmentPlanner planner = Make();
  faults_.plan.ArmAlways("Plan", ErrorCode::kBrokenStore);
  for (int i = 0; i < 10; ++i) {
    const int before = faults_.plan.calls("Plan");
    planner.Step(clock_.Steady());
    EXPECT_LE(faults_.plan.calls("Plan"), before + 1) << "no schedule is looked for";
    clock_.Advance(100ms);
  }
  EXPECT_GT(faults_.plan.calls("Plan"), 2);
  EXPECT_EQ(planner.set_aside(), 0u);
  faults_.plan.Recover();
  clock_.Advance(2s);  // the longest backoff
  Plan(planner);
  std::set<ScheduleId> planned;
  for (const RunRow& run : Pending()) planned.insert(run.key.schedule_id);
  EXPECT_EQ(planned.size(), 20u);
}

TEST_F(SegmentPlannerTest, ConflictIsReadAgain) {
  CreateRate("tick", 10s);
  faults_.plan.Arm("Plan", ErrorCode::kConflict);
  SegmentPlanner planner = Make();
  planner.Step(clock_.Steady());
  EXPECT_TRUE(Pending().empty());
  clock_.Advance(100ms);
  Plan(planner);
  EXPECT_FALSE(Pending().empty());
}

TEST_F(SegmentPlannerTest, FencedWriteDropsTheSegmentsThatMoved) {
  const StoredJob job = CreateRate("tick", 10s);
  TakeAll("m2");
  SegmentPlanner planner = Make();
  planner.Step(clock_.Steady());
  EXPECT_EQ(table_.View()->Find(job.segment), nullptr);
  EXPECT_TRUE(Fed().empty());
  EXPECT_EQ(metrics_.counter("carillon_fenced_writes_total", "plan").value(), 1u);
}

TEST_F(SegmentPlannerTest, UnknownOutcomeDropsTheSegmentsAndFeedsNothing) {
  const StoredJob job = CreateRate("tick", 10s);
  faults_.plan.Arm("Plan", test::Fault::kTimeoutAfter);
  SegmentPlanner planner = Make();
  planner.Step(clock_.Steady());
  EXPECT_EQ(table_.View()->Find(job.segment), nullptr);
  EXPECT_EQ(owned(), test::kSegments - 1);
  EXPECT_TRUE(Fed().empty());
  EXPECT_FALSE(Pending().empty());
}

TEST_F(SegmentPlannerTest, BacklogHoldsPlanningBackUntilItIsGone) {
  CreateRate("tick", 1s);
  backlog_ = 1'000'000;
  SegmentPlanner planner = Make();
  Plan(planner);
  EXPECT_TRUE(Pending().empty());
  EXPECT_FALSE(planner.accepting());
  backlog_ = 0;
  clock_.Advance(1s);
  Plan(planner);
  EXPECT_FALSE(Pending().empty());
  EXPECT_TRUE(planner.accepting());
}

TEST_F(SegmentPlannerTest, NudgePlansBeforeTheNextScan) {
  SegmentPlanner planner = Make();
  Plan(planner);
  CreateRate("tick", 1s);
  planner.Step(clock_.Steady());
  EXPECT_TRUE(Pending().empty());
  planner.Nudge();
  planner.Step(clock_.Steady());
  EXPECT_FALSE(Pending().empty());
}

TEST_F(SegmentPlannerTest, FiresMissedWhileAwayFollowTheMisfirePolicyWithOneGap) {
  CreateRate("tick", 1s);
  clock_.Advance(10min);
  SegmentPlanner planner = Make();
  Plan(planner);
  const auto gaps = stores_.runs.ListGaps({});
  ASSERT_EQ(gaps->gaps.size(), 1u);
  EXPECT_EQ(gaps->gaps[0].range.reason, GapReason::kMisfire);
  const auto late = static_cast<uint64_t>(gaps->gaps[0].range.count);  // the newest is in time
  EXPECT_EQ(metrics_.counter("carillon_misfires_total", "latest").value(), late);
}

TEST_F(SegmentPlannerTest, NextFireFollowsTheFirePlannedNotTheClock) {
  CreateRate("tick", 1s);
  failpoint::Break("plan.next_after_now");
  SegmentPlanner planner = Make();
  planner.Step(clock_.Steady());
  const auto due = stores_.firing.ScanDue({SegmentId(0), SegmentId(1), SegmentId(2), SegmentId(3)},
                                          clock_.Wall() + 24h, 10);
  ASSERT_EQ(due->size(), 1u);
  // If the rule were broken, the next fire would follow the clock, and planned fires would repeat.
  EXPECT_LE(due->at(0).next_fire, clock_.Wall() + 1s);
}

TEST_F(SegmentPlannerTest, PlansNothingWhilePausedAndEveryFireAfterwards) {
  CreateRate("tick", 1s);
  SegmentPlanner planner = Make();
  Pause();
  planner.Nudge();
  Plan(planner);
  EXPECT_TRUE(Pending().empty());
  Pause(false);
  planner.Nudge();
  Plan(planner);
  EXPECT_GE(Pending().size(), 15u);
}

}  // namespace
}  // namespace carillon::scheduler
