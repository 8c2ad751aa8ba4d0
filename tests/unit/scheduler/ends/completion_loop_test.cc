#include "scheduler/ends/completion_loop.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class CompletionLoopTest : public test::RoomTest {
 protected:
  CompletionLoopTest() {
    signals_.fires_soon.Connect([this] { ++soon_; });
    signals_.due.Connect([this](const ChangedWork& work) { started_.push_back(work); });
  }
  static std::vector<SegmentId> All() {
    std::vector<SegmentId> all;
    for (uint32_t n = 0; n < test::kSegments; ++n) all.push_back(SegmentId(n));
    return all;
  }
  // A job whose first run is planned.
  StoredJob CreateDelay(const std::string& id, Duration every) {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.schedules = {{.kind = ScheduleKind::kDelay, .every = every}};
    const StoredJob stored = CreateJob(id, job);
    clock_.Advance(1ms);
    PlanBatch batch;
    const auto all_due = stores_.firing.ScanDue(All(), clock_.Wall(), 10);
    for (const DueSchedule& due : *all_due) {
      batch.runs.push_back({.key = {due.next_fire, due.schedule_id},
                            .job_no = due.job_no,
                            .segment = due.segment,
                            .kind = RunKind::kDelay,
                            .due = due.next_fire,
                            .def_version = due.job_version,
                            .flags = run_flag::kDelay});
      batch.advances.push_back({.schedule_id = due.schedule_id,
                                .segment = due.segment,
                                .version = due.version,
                                .expected_next = due.next_fire,
                                .next_fire = kNever,
                                .awaited = due.next_fire,
                                .calendar_version = due.calendar_version});
    }
    const Status planned =
        stores_.firing.Plan(batch, table_.View()->FenceFor(All()), clock_.Wall());
    EXPECT_TRUE(planned.ok()) << (planned.ok() ? "" : planned.error().message);
    return stored;
  }
  RunRow Planned(const StoredJob& job) {
    const auto pending = stores_.firing.ScanPending(All(), kQueued, std::nullopt, 100);
    for (const RunRow& row : pending->runs) {
      if (row.job_no == job.job_no) return row;
    }
    ADD_FAILURE() << "no run of " << job.job_id.value();
    return {};
  }
  RunKey End(const StoredJob& job) {
    const RunRow row = Planned(job);
    EXPECT_TRUE(*stores_.runs.CancelRun(row.key, {.now = clock_.Wall()}));
    return row.key;
  }
  WallTime NextFire(const StoredJob& job) {
    const auto all_due = stores_.firing.ScanDue(All(), kQueued, 100);
    for (const DueSchedule& due : *all_due) {
      if (due.job_no == job.job_no) return due.next_fire;
    }
    return kNever;
  }
  // Fires of one part each, by key, as if the ends of the parts had told nobody.
  std::vector<RunKey> UntoldFires(size_t count) {
    JobDefinition definition;
    definition.type = JobType::kNoop;
    definition.shards = Shards{.total = 1};
    const StoredJob job = CreateJob("untold", definition);
    const Fence fence = table_.View()->FenceFor(All());
    std::vector<RunKey> owns;
    for (size_t i = 0; i < count; ++i) {
      const RunRow own = Execute(job);
      ClaimRequest request = ClaimOf(own, 0);
      request.token = {};
      request.executor = {};
      request.incarnation = {};
      EXPECT_TRUE(stores_.workflows.BeginParts({request}, fence, clock_.Wall()).ok());
      RunKey part = own.key;
      part.shard = 1;
      EXPECT_TRUE(*stores_.runs.CancelRun(part, {.now = clock_.Wall()}));
      owns.push_back(own.key);
    }
    MutexLock lock(stores_.tables.mu);
    stores_.tables.completions.clear();
    return owns;
  }
  size_t Left() { return stores_.completions.ScanCompletions(All(), 100)->size(); }
  SteadyTime Step() {
    SampleClock();
    return loop_.Step(clock_.Steady());
  }

  int soon_ = 0;
  CompletionLoop loop_{{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                        .store = faults_.completions}};
  std::vector<ChangedWork> started_;
};

TEST_F(CompletionLoopTest, AnEndStartsDependents) {
  JobDefinition manual;
  manual.type = JobType::kNoop;
  const StoredJob upstream = CreateJob("a", manual);
  JobDefinition after = manual;
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "a", .on = AfterOutcome::kDone}};
  const StoredJob dependent = CreateJob("b", after);
  const CreatedRun run =
      *stores_.runs.ExecuteJob({.job_id = upstream.job_id}, {.now = clock_.Wall()});
  clock_.Advance(1ms);
  const Fence fence = table_.View()->FenceFor(All());
  const ClaimToken token{.high = 1, .low = 2};
  ASSERT_TRUE(stores_.firing
                  .Claim({{.key = run.key,
                           .segment = run.segment,
                           .job_no = run.job_no,
                           .attempt = 1,
                           .def_version = upstream.version,
                           .token = token,
                           .executor = ExecutorId("e1"),
                           .incarnation = Incarnation("x1")}},
                         fence, clock_.Wall())
                  .ok());
  ResultReport report{.key = run.key,
                      .segment = run.segment,
                      .job_no = run.job_no,
                      .attempt = 1,
                      .token = token,
                      .executor = ExecutorId("e1")};
  report.result = {.state = RunState::kFailed, .ended = clock_.Wall()};
  ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  Step();
  ASSERT_EQ(started_.size(), 1u);
  EXPECT_EQ(started_[0].job_no, dependent.job_no);
  EXPECT_EQ(started_[0].segment, dependent.segment);
  const RunKey key{run.key.fire, dependent.schedules[0].schedule_id, 0};
  EXPECT_EQ(started_[0].run, key);
  EXPECT_EQ(Planned(dependent).key, key);
  EXPECT_EQ(Left(), 0u);
  EXPECT_EQ(metrics_.counter("carillon_dependents_total", "started").value(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_completions_total", "ignored").value(), 0u);
}

TEST_F(CompletionLoopTest, AnEndMakesTheNextFire) {
  const StoredJob job = CreateDelay("job", 10s);
  EXPECT_EQ(NextFire(job), kNever);
  End(job);
  const WallTime ended = clock_.Wall();
  clock_.Advance(300ms);
  Step();
  EXPECT_EQ(NextFire(job), ended + 10s);
  EXPECT_EQ(Left(), 0u);
  EXPECT_EQ(soon_, 0);
  EXPECT_EQ(metrics_.counter("carillon_completions_total", "awaited").value(), 1u);
}

TEST_F(CompletionLoopTest, AHostWhoseClockWasSetBackShortensNoDelay) {
  const StoredJob job = CreateDelay("job", 10s);
  End(job);
  const WallTime ended = clock_.Wall();
  clock_.StepWall(-5s);
  EXPECT_EQ(loop_.Step(clock_.Steady()), clock_.Steady() + 100ms);  // no sample yet
  EXPECT_EQ(Left(), 1u);
  EXPECT_EQ(NextFire(job), kNever);
  clock_.StepWall(5s);
  clock_.Advance(100ms);
  Step();
  EXPECT_EQ(NextFire(job), ended + 10s);
}

TEST_F(CompletionLoopTest, AnEndThatComesWhileTheStoreIsReadShortensNoDelay) {
  const StoredJob job = CreateDelay("job", 10s);
  faults_.plan.OnCall([&](const std::string& operation) {
    if (operation != "ScanCompletions") return;
    clock_.Advance(3s);
    End(job);
  });
  Step();
  EXPECT_EQ(NextFire(job), clock_.Wall() + 10s);
}

TEST_F(CompletionLoopTest, ThePlannerIsToldOfANearFire) {
  const StoredJob job = CreateDelay("job", 200ms);
  End(job);
  Step();
  EXPECT_EQ(soon_, 1);
}

TEST_F(CompletionLoopTest, LooksEverySecondAndSoonerWhenNudgedOrBusy) {
  const StoredJob job = CreateDelay("job", 10s);
  Step();
  EXPECT_EQ(faults_.plan.calls("ScanCompletions"), 1);
  clock_.Advance(500ms);
  Step();
  EXPECT_EQ(faults_.plan.calls("ScanCompletions"), 1);
  loop_.Nudge();
  EXPECT_EQ(Step(), clock_.Steady() + 500ms);
  EXPECT_EQ(faults_.plan.calls("ScanCompletions"), 2);
  loop_.Nudge();
  EXPECT_EQ(Step(), clock_.Steady() + 20ms);
  EXPECT_EQ(faults_.plan.calls("ScanCompletions"), 2);
  End(job);
  clock_.Advance(20ms);
  EXPECT_EQ(Step(), clock_.Steady() + 100ms);
  EXPECT_EQ(faults_.plan.calls("ScanCompletions"), 3);
  clock_.Advance(100ms);
  EXPECT_EQ(Step(), clock_.Steady() + 380ms);
  EXPECT_EQ(faults_.plan.calls("ScanCompletions"), 4);
}

TEST_F(CompletionLoopTest, OneThatIsRefusedIsSetAsideAndHoldsNobodyUp) {
  std::vector<StoredJob> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(CreateDelay("job-" + std::to_string(i), 10s));
  const RunKey bad = End(jobs[2]);
  for (const int i : {0, 1, 3, 4}) End(jobs[static_cast<size_t>(i)]);
  faults_.plan.Refuse<RunCompletion>([&](const auto& end) { return end.key == bad; },
                                     ErrorCode::kCorrupt);
  Step();
  EXPECT_EQ(Left(), 1u);
  EXPECT_EQ(loop_.set_aside(), 1u);
  EXPECT_NE(NextFire(jobs[4]), kNever);
  faults_.plan.Refuse<RunCompletion>(nullptr);
  clock_.Advance(9s);
  Step();
  EXPECT_EQ(Left(), 1u);
  clock_.Advance(1s);
  Step();
  EXPECT_EQ(Left(), 0u);
  EXPECT_EQ(loop_.set_aside(), 0u);
}

TEST_F(CompletionLoopTest, AStoreThatIsAwaySetsNothingAside) {
  const StoredJob job = CreateDelay("job", 10s);
  End(job);
  faults_.plan.ArmAlways("Apply", ErrorCode::kUnavailable);
  Step();
  EXPECT_EQ(loop_.set_aside(), 0u);
  faults_.plan.Recover();
  clock_.Advance(100ms);
  Step();
  EXPECT_EQ(Left(), 0u);
}

TEST_F(CompletionLoopTest, AFailedScanForStuckSchedulesIsCounted) {
  faults_.plan.Arm("ScanStuck", ErrorCode::kUnavailable);
  Step();
  EXPECT_EQ(metrics_.counter("carillon_store_errors_total", "unavailable").value(), 1u);
}

TEST_F(CompletionLoopTest, AnotherOwnersEndsAreLeftAlone) {
  const StoredJob job = CreateDelay("job", 10s);
  End(job);
  TakeAll("m2");
  Step();
  EXPECT_EQ(Left(), 1u);
  EXPECT_EQ(NextFire(job), kNever);
}

TEST_F(CompletionLoopTest, AScheduleThatWaitsForNothingFiresAgain) {
  const StoredJob job = CreateDelay("job", 10s);
  End(job);
  Step();
  // As if the end of the next run had been lost.
  clock_.Advance(10s);
  const ScheduleId id = job.schedules.at(0).schedule_id;
  {
    MutexLock lock(stores_.tables.mu);
    memory::ScheduleEntry entry = *stores_.tables.FindSchedule(id);
    entry.awaited = entry.next_fire;
    entry.next_fire = kNever;
    stores_.tables.PutSchedule(std::move(entry));
  }
  clock_.Advance(15s);
  Step();
  EXPECT_EQ(NextFire(job), kNever);
  clock_.Advance(5s);
  Step();
  EXPECT_EQ(NextFire(job), clock_.Wall());
  EXPECT_EQ(soon_, 1);
}

TEST_F(CompletionLoopTest, OneUntoldFireThatIsRefusedHoldsNoOtherUp) {
  const std::vector<RunKey> owns = UntoldFires(3);
  faults_.plan.Refuse<FireLook>([&](const auto& fire) { return fire.own == owns[1]; },
                                ErrorCode::kCorrupt);
  clock_.Advance(61s);
  Step();
  EXPECT_EQ(Row(owns[0]).state, RunState::kCancelled);
  EXPECT_EQ(Row(owns[1]).state, RunState::kRunning);
  EXPECT_EQ(Row(owns[2]).state, RunState::kCancelled);
  faults_.plan.Refuse<FireLook>(nullptr);
  clock_.Advance(30s);
  Step();
  EXPECT_EQ(Row(owns[1]).state, RunState::kCancelled);
}

TEST_F(CompletionLoopTest, HoweverManyUntoldFiresAreRefusedTheyHideNoOther) {
  const std::vector<RunKey> owns = UntoldFires(102);
  const auto is_bad = [&](const RunKey& own) { return own != owns[100] && own != owns[101]; };
  faults_.plan.Refuse<FireLook>([&](const auto& fire) { return is_bad(fire.own); },
                                ErrorCode::kCorrupt);
  clock_.Advance(61s);
  for (int look = 0; look < 2; ++look) {
    Step();
    clock_.Advance(30s);
  }
  EXPECT_EQ(Row(owns[100]).state, RunState::kCancelled);
  EXPECT_EQ(Row(owns[101]).state, RunState::kCancelled);
  EXPECT_EQ(Row(owns[0]).state, RunState::kRunning);
  faults_.plan.Refuse<FireLook>(nullptr);
  Step();
  for (const RunKey& own : owns) EXPECT_EQ(Row(own).state, RunState::kCancelled);
}

TEST_F(CompletionLoopTest, TheEndOfThePartsEndsTheirFire) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.total = 2};
  job.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob stored = CreateJob("a", job);
  int freed = 0;
  signals_.slot_freed.Connect([&freed] { ++freed; });
  std::vector<JobNo> ended;
  signals_.ended.Connect([&ended](const std::vector<JobNo>& jobs) { ended = jobs; });
  const RunRow own = Execute(stored);
  ClaimRequest request = ClaimOf(own, 0);
  request.token = {};
  request.executor = {};
  request.incarnation = {};
  request.overlap = OverlapRulesOf(job);
  const Fence fence = table_.View()->FenceFor(All());
  ASSERT_TRUE(stores_.workflows.BeginParts({request}, fence, clock_.Wall()).ok());
  RunKey part = own.key;
  for (const uint32_t shard : {1u, 2u}) {
    clock_.Advance(1s);
    Step();
    EXPECT_EQ(Row(own.key).state, RunState::kRunning) << shard;
    part.shard = shard;
    EXPECT_TRUE(*stores_.runs.CancelRun(part, {.now = clock_.Wall()}));
    EXPECT_EQ(Left(), 1u);
  }
  clock_.Advance(1s);
  Step();
  EXPECT_EQ(Row(own.key).state, RunState::kCancelled);
  EXPECT_EQ(Left(), 0u);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(ended, std::vector<JobNo>{stored.job_no});
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "CANCELLED").value(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
