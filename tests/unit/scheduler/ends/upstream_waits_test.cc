#include "scheduler/ends/upstream_waits.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "scheduler/settings/new_fields.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class UpstreamWaitsTest : public test::RoomTest {
 protected:
  UpstreamWaitsTest() {
    SetFinished(kFanOutMigration);
    up_ = CreateRate("up", 10s);
  }
  void SetFinished(int level) {
    {
      MutexLock lock(stores_.tables.mu);
      stores_.tables.schema = {
          .known = kFanOutMigration, .applied = kFanOutMigration, .finished = level};
    }
    clock_.Advance(UpgradeWatch::kLookEvery);
    upgrade_.Step(clock_.Steady());
  }
  // A job with the fires of "up", whose runs wait for those of "up" of the last hour.
  StoredJob CreateWaiting(const std::string& id, int64_t limit_s = 60) {
    return CreateWaiting(id, {WaitFor("up")}, limit_s);
  }
  StoredJob CreateWaiting(const std::string& id, std::vector<UpstreamWait> waits,
                          int64_t limit_s = 60) {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.schedules = up_.definition.schedules;
    job.waits_for = std::move(waits);
    job.wait_limit_s = limit_s;
    return CreateJob(id, job);
  }
  static UpstreamWait WaitFor(const std::string& id) {
    return {.job = JobId(id), .window = {.back_s = 3'600}};
  }
  // Plans the next fire of each job, whose time has come then. Returns the run of the job.
  RunKey PlanNext(const StoredJob& job) {
    Advance(10s);
    PlanBatch batch;
    const auto all_due = stores_.firing.ScanDue(All(), clock_.Wall(), 1'000);
    RunKey planned;
    for (const DueSchedule& due : *all_due) {
      const RunKey key{due.next_fire, due.schedule_id, 0};
      if (due.job_no == job.job_no) planned = key;
      const bool waits = (due.run_flags & run_flag::kWaits) != 0;
      batch.runs.push_back({.key = key,
                            .job_no = due.job_no,
                            .segment = due.segment,
                            .kind = RunKind::kRate,
                            .due = waits ? kAwaiting : due.next_fire,
                            .def_version = due.job_version});
      batch.advances.push_back({.schedule_id = due.schedule_id,
                                .segment = due.segment,
                                .version = due.version,
                                .expected_next = due.next_fire,
                                .next_fire = due.next_fire + 10s,
                                .calendar_version = due.calendar_version});
    }
    EXPECT_TRUE(stores_.firing.Plan(batch, table_.View()->FenceFor(All()), clock_.Wall()).ok());
    return planned;
  }
  // Lets "up" begin anew: its fires of before are a gap.
  void CatchUp() {
    const WriteContext context{.now = clock_.Wall()};
    ASSERT_TRUE(stores_.jobs.PauseJob(JobId("up"), "", context).ok());
    ASSERT_TRUE(stores_.jobs.ResumeJob(JobId("up"), "", context).ok());
  }
  // Ends the newest run of the job.
  void EndUp(RunState state, const std::string& id = "up") {
    const auto runs = stores_.runs.ListRuns({.job_id = JobId(id), .limit = 1}, clock_.Wall());
    const HeldAttempt held = Claim(runs->runs.at(0).row, ++token_);
    ResultReport report{.key = held.key,
                        .segment = held.segment,
                        .job_no = held.job_no,
                        .attempt = 1,
                        .token = held.token,
                        .executor = ExecutorId("x1")};
    report.result = {.state = state, .reason = "exit_code", .ended = clock_.Wall()};
    const Fence fence = table_.View()->FenceFor(All());
    ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  }
  static std::vector<SegmentId> All() {
    std::vector<SegmentId> all;
    for (uint32_t n = 0; n < test::kSegments; ++n) all.push_back(SegmentId(n));
    return all;
  }
  void Advance(Duration time) {
    clock_.Advance(time);
    table_.Proved(table_.View()->FenceFor(All()), clock_.Steady());
  }
  // Lets the room look for `time`.
  void Watch(Duration time = UpstreamWaits::kLookEvery) {
    for (const SteadyTime end = clock_.Steady() + time; clock_.Steady() < end;) {
      SampleClock();
      const SteadyTime next = waits_->Step(clock_.Steady());
      Advance(std::clamp<Duration>(next - clock_.Steady(), 1ms, end - clock_.Steady()));
    }
  }
  std::unique_ptr<UpstreamWaits> NewWaits() {
    return std::make_unique<UpstreamWaits>(
        UpstreamWaits::Ports{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                             .store = faults_.upstream,
                             .firing = faults_.firing,
                             .feed = feed_,
                             .upgrade = upgrade_});
  }
  std::vector<PendingRun> Fed() {
    std::vector<PendingRun> all;
    for (auto& batch : feed_.PopUpTo(100)) all.insert(all.end(), batch.begin(), batch.end());
    return all;
  }
  bool Waits(const RunKey& key) {
    const RunRow row = Row(key);
    return row.state == RunState::kPending && row.due == kAwaiting;
  }
  RunState StateOf(const RunKey& key) { return Row(key).state; }
  uint64_t Count(const char* result) {
    return metrics_.counter("carillon_upstream_waits_total", result).value();
  }

  StoredJob up_;
  uint64_t token_ = 0;
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  std::unique_ptr<UpstreamWaits> waits_ = NewWaits();
};

TEST_F(UpstreamWaitsTest, ARunIsDueSoonAfterTheEndOfTheOther) {
  const RunKey key = PlanNext(CreateWaiting("job"));
  Watch(10s);
  EXPECT_TRUE(Waits(key));
  EXPECT_TRUE(Fed().empty());
  EndUp(RunState::kCompleted);
  Watch();
  EXPECT_FALSE(Waits(key));
  const std::vector<PendingRun> fed = Fed();
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].key, key);
  EXPECT_EQ(fed[0].due, Row(key).due);
  EXPECT_EQ(fed[0].epoch, EpochOf(Row(key).segment));
  EXPECT_EQ(Count("met"), 1u);
  Watch(10s);
  EXPECT_EQ(Count("met"), 1u);
}

TEST_F(UpstreamWaitsTest, WhileNobodyWaitsNothingElseIsRead) {
  PlanNext(up_);
  Watch(10s);
  EXPECT_EQ(faults_.plan.calls("ScanAwaiting"), 5);
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 0);
  EXPECT_EQ(faults_.plan.calls("ReadSources"), 0);
}

TEST_F(UpstreamWaitsTest, EqualQuestionsAreAskedOnceALook) {
  std::vector<StoredJob> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(CreateWaiting("job" + std::to_string(i)));
  PlanNext(jobs[0]);
  Watch();
  EXPECT_EQ(faults_.plan.calls("ReadSources"), 1);
  EXPECT_EQ(faults_.plan.calls("ReadUpstreamRuns"), 1);
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  Watch();
  EXPECT_EQ(faults_.plan.calls("ReadSources"), 2);
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1) << "versions do not change";
}

TEST_F(UpstreamWaitsTest, ARunFailsAtTheLimit) {
  Watch(UpstreamWaits::kNoExpiryFor);  // since the segments were taken
  CatchUp();
  const RunKey key = PlanNext(CreateWaiting("job", 60));
  EndUp(RunState::kFailed);
  Watch(50s);
  EXPECT_TRUE(Waits(key));
  Watch(15s);
  EXPECT_EQ(StateOf(key), RunState::kFailed);
  const auto run = stores_.runs.GetRun(key);
  EXPECT_EQ(run->result.reason, reason::kUpstreamTimeout);
  EXPECT_TRUE(run->result.error.starts_with("Waits for up of ")) << run->result.error;
  EXPECT_NE(run->result.error.find("FAILED"), std::string::npos) << run->result.error;
  EXPECT_EQ(Count("expired"), 1u);
}

TEST_F(UpstreamWaitsTest, NothingFailsSoonAfterATakeover) {
  const RunKey key = PlanNext(CreateWaiting("job", 60));
  Watch(14min);
  EXPECT_TRUE(Waits(key));
  Watch(2min);
  EXPECT_EQ(StateOf(key), RunState::kFailed);
}

TEST_F(UpstreamWaitsTest, APauseOfTheClusterReleasesRunsAndFailsNone) {
  Watch(UpstreamWaits::kNoExpiryFor);
  CatchUp();
  const RunKey late = PlanNext(CreateWaiting("late", 60));
  Pause();
  Watch(5min);
  EXPECT_TRUE(Waits(late));
  Pause(false);
  Watch(14min);
  EXPECT_TRUE(Waits(late)) << "the other jobs need time, too";
  Pause();
  EndUp(RunState::kCompleted);
  Watch();
  EXPECT_FALSE(Waits(late));
  EXPECT_EQ(StateOf(late), RunState::kPending);
}

TEST_F(UpstreamWaitsTest, NothingFailsSoonAfterTheStoreWasAway) {
  Watch(UpstreamWaits::kNoExpiryFor);
  CatchUp();
  const RunKey key = PlanNext(CreateWaiting("job", 60));
  faults_.plan.ArmAlways("*", test::Fault::kUnavailable);
  Watch(2min);
  faults_.plan.Recover();
  Watch(14min);
  EXPECT_TRUE(Waits(key)) << "the other jobs need time, too";
  Watch(2min);
  EXPECT_EQ(StateOf(key), RunState::kFailed);
}

TEST_F(UpstreamWaitsTest, NothingFailsSoonAfterTheProcessStoodStill) {
  Watch(UpstreamWaits::kNoExpiryFor);
  CatchUp();
  const RunKey key = PlanNext(CreateWaiting("job", 60));
  Watch();
  Advance(UpstreamWaits::kUnseenMax + 1s);
  Watch(14min);
  EXPECT_TRUE(Waits(key));
  Watch(2min);
  EXPECT_EQ(StateOf(key), RunState::kFailed);
}

// Steady time stands still meanwhile, so only cluster time shows it.
TEST_F(UpstreamWaitsTest, NothingFailsSoonAfterTheHostWasSuspended) {
  Watch(UpstreamWaits::kNoExpiryFor);
  CatchUp();
  const RunKey key = PlanNext(CreateWaiting("job", 60));
  Watch();
  clock_.StepWall(1h);
  Watch(14min);
  EXPECT_TRUE(Waits(key));
  Watch(2min);
  EXPECT_EQ(StateOf(key), RunState::kFailed);
}

TEST_F(UpstreamWaitsTest, AShortPauseOfTheLooksDelaysNoFailure) {
  Watch(UpstreamWaits::kNoExpiryFor);
  CatchUp();
  const RunKey key = PlanNext(CreateWaiting("job", 60));
  Watch(10s);
  Advance(UpstreamWaits::kUnseenMax - 5s);
  Watch();
  EXPECT_EQ(StateOf(key), RunState::kFailed);
}

TEST_F(UpstreamWaitsTest, NothingIsReadBeforeTheUpgradeIsFinished) {
  UpgradeWatch unfinished{{.coordinator = *coordinator_, .store = stores_.schema}};
  UpstreamWaits waits({.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                       .store = faults_.upstream,
                       .firing = faults_.firing,
                       .feed = feed_,
                       .upgrade = unfinished});
  SampleClock();
  waits.Step(clock_.Steady());
  EXPECT_EQ(faults_.plan.calls("ScanAwaiting"), 0);
}

TEST_F(UpstreamWaitsTest, AnErrorOfTheStoreOnlyDelaysIt) {
  for (const char* call :
       {"ScanAwaiting", "LoadDefinitions", "ReadSources", "ReadUpstreamRuns", "EndWaits"}) {
    waits_ = NewWaits();
    CatchUp();
    const RunKey key = PlanNext(CreateWaiting(std::string("job-") + std::to_string(token_)));
    EndUp(RunState::kCompleted);
    faults_.plan.ArmAlways(call, test::Fault::kUnavailable);
    Watch(4s);
    EXPECT_TRUE(Waits(key)) << call;
    faults_.plan.Recover();
    Watch(4s);
    EXPECT_FALSE(Waits(key)) << call;
  }
}

TEST_F(UpstreamWaitsTest, AJobThatCannotBeReadHoldsUpNobodyElse) {
  CreateRate("bad", 10s);
  const StoredJob good = CreateWaiting("good");
  const StoredJob held = CreateWaiting("held", {WaitFor("bad")});
  const StoredJob both = CreateWaiting("both", {WaitFor("up"), WaitFor("bad")});
  const RunKey key = PlanNext(good);
  const auto key_of = [&](const StoredJob& job) {
    return stores_.runs.ListRuns({.job_id = job.job_id, .limit = 1}, clock_.Wall())
        ->runs.at(0)
        .row.key;
  };
  for (const char* id : {"up", "bad"}) EndUp(RunState::kCompleted, id);
  faults_.plan.Refuse<UpstreamTarget>(
      [](const UpstreamTarget& target) { return target.job == JobId("bad"); }, ErrorCode::kCorrupt);
  Watch(6s);
  EXPECT_FALSE(Waits(key));
  EXPECT_TRUE(Waits(key_of(held)));
  EXPECT_TRUE(Waits(key_of(both))) << "of one of its jobs nothing is known";
  faults_.plan.Refuse<UpstreamTarget>(nullptr);
  Watch(UpstreamReader::kAsideMax);
  EXPECT_FALSE(Waits(key_of(held)));
  EXPECT_FALSE(Waits(key_of(both)));
}

TEST_F(UpstreamWaitsTest, NoWaitEndsByWhatAnEditLeftBetweenTheReads) {
  const StoredJob job = CreateWaiting(
      "job", {{.job = JobId("up"), .on = AfterOutcome::kDone, .window = {.back_s = 3'600}}});
  const RunKey key = PlanNext(job);
  int64_t deletions = 0;
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "ReadUpstreamRuns" || ++deletions > 1) return;
    const WriteContext context{.now = clock_.Wall(), .force = true};
    ASSERT_TRUE(stores_.jobs.DeleteJob(JobId("up"), up_.version, context).ok());
  });
  Watch(10s);
  faults_.plan.OnCall(nullptr);
  EXPECT_GT(deletions, 1);
  EXPECT_TRUE(Waits(key)) << "its run has ended by the deletion, after which there is no job";
}

TEST_F(UpstreamWaitsTest, OfVeryManyTargetsSomeAreReadAtOnceAndAllInALook) {
  const size_t jobs =
      UpstreamReader::kReadsAtOnce * UpstreamReader::kTargetsPerRead / kWaitsMax + 2;
  for (size_t i = 0; i < jobs; ++i) {
    std::vector<UpstreamWait> waits;
    for (size_t n = 0; n < kWaitsMax; ++n) {
      const std::string never = "never-" + std::to_string(i * kWaitsMax + n);
      CreateNoop(never);
      waits.push_back(WaitFor(never));
    }
    CreateWaiting("job-" + std::to_string(i), waits);
  }
  const RunKey key = PlanNext(CreateWaiting("last"));
  EndUp(RunState::kCompleted);
  Watch();
  EXPECT_FALSE(Waits(key));
  EXPECT_EQ(faults_.plan.calls("ScanAwaiting"), 1);
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"), 1);
  EXPECT_EQ(faults_.plan.calls("ReadUpstreamRuns"), 6) << "5 + 1";
}

TEST_F(UpstreamWaitsTest, ARunWhoseJobWaitsNoLongerIsReleased) {
  StoredJob job = CreateWaiting("job");
  const RunKey key = PlanNext(job);
  Watch();
  EXPECT_TRUE(Waits(key));
  job.definition.waits_for.clear();
  job.definition.wait_limit_s = 0;
  ASSERT_TRUE(
      stores_.jobs.ReplaceJob(job.job_id, job.version, job.definition, {.now = clock_.Wall()})
          .ok());
  EXPECT_TRUE(Waits(key)) << "its fire has come";
  Watch();
  EXPECT_FALSE(Waits(key));
}

TEST_F(UpstreamWaitsTest, ARunOfAnUnreadableVersionIsLeft) {
  const StoredJob job = CreateWaiting("job");
  const RunKey key = PlanNext(job);
  EndUp(RunState::kCompleted);
  stores_.DamageDefinition(job.job_id, job.version, true);
  Watch(10s);
  EXPECT_TRUE(Waits(key));
  stores_.DamageDefinition(job.job_id, job.version, false);
  Watch();
  EXPECT_FALSE(Waits(key));
}

TEST_F(UpstreamWaitsTest, ManyRunsAreReleasedPageByPage) {
  const StoredJob job = CreateWaiting("job");
  PlanNext(job);
  EndUp(RunState::kCompleted);
  Advance(1s);  // so that the fires below are later than that of the other job
  constexpr int kRuns = 2'500;
  static_assert(kRuns > 2 * UpstreamWaits::kPageRows);
  for (int first = 0; first < kRuns; first += 500) {
    PlanBatch batch;
    for (int i = first; i < first + 500; ++i) {
      batch.runs.push_back({.key = {clock_.Wall() - Duration(1 + i), ScheduleId(9'000), 0},
                            .job_no = job.job_no,
                            .segment = job.segment,
                            .kind = RunKind::kRate,
                            .due = kAwaiting,
                            .def_version = job.version});
    }
    ASSERT_TRUE(stores_.firing.Plan(batch, table_.View()->FenceFor(All()), clock_.Wall()).ok());
  }
  Watch();
  EXPECT_EQ(Count("met"), kRuns + 1u);
  EXPECT_TRUE(stores_.upstream.ScanAwaiting(All(), clock_.Wall(), std::nullopt, 1)->empty());
}

// More than two looks take, whose fires come before that of the run that is met.
TEST_F(UpstreamWaitsTest, AmongVeryManyRunsNoneWaitsForManyLooks) {
  CreateNoop("never");
  const StoredJob held = CreateWaiting("held", {WaitFor("never")});
  const RunKey key = PlanNext(CreateWaiting("job"));
  constexpr int kRuns = 25'000;
  static_assert(kRuns > 2 * UpstreamWaits::kRunsPerLook);
  for (int first = 0; first < kRuns; first += 500) {
    PlanBatch batch;
    for (int i = first; i < first + 500; ++i) {
      batch.runs.push_back({.key = {key.fire - 1min + Duration(i), ScheduleId(9'000), 0},
                            .job_no = held.job_no,
                            .segment = held.segment,
                            .kind = RunKind::kRate,
                            .due = kAwaiting,
                            .def_version = held.version});
    }
    ASSERT_TRUE(stores_.firing.Plan(batch, table_.View()->FenceFor(All()), clock_.Wall()).ok());
  }
  Watch(5s);
  EXPECT_TRUE(Waits(key));
  EndUp(RunState::kCompleted);
  Watch(3s);
  EXPECT_FALSE(Waits(key));
  // The rests between the looks are as long as these.
  const int64_t before = faults_.plan.calls("ScanAwaiting");
  Watch(10s);
  EXPECT_LE(faults_.plan.calls("ScanAwaiting") - before, 6 * (kRuns / 1'000 + 1));
}

TEST_F(UpstreamWaitsTest, AFireOfTheOtherThatIsNotPlannedYetIsWaitedFor) {
  const StoredJob job = CreateWaiting("job");
  const RunKey key = PlanNext(job);
  EndUp(RunState::kCompleted);
  // The other's next fire is due, but not planned: it is not known what there will be at it.
  Advance(10s);
  RunKey next = key;
  next.fire += 10s;
  PlanBatch batch;
  batch.runs.push_back({.key = next,
                        .job_no = job.job_no,
                        .segment = job.segment,
                        .kind = RunKind::kRate,
                        .due = kAwaiting,
                        .def_version = job.version});
  ASSERT_TRUE(stores_.firing.Plan(batch, table_.View()->FenceFor(All()), clock_.Wall()).ok());
  Watch();
  EXPECT_FALSE(Waits(key));
  EXPECT_TRUE(Waits(next));
}

}  // namespace
}  // namespace carillon::scheduler
