#include "scheduler/ends/pause_watch.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "scheduler/settings/new_fields.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class PauseWatchTest : public test::RoomTest {
 protected:
  PauseWatchTest() { SetFinished(kFanOutMigration); }
  void SetFinished(int level) {
    {
      MutexLock lock(stores_.tables.mu);
      stores_.tables.schema = {
          .known = kFanOutMigration, .applied = kFanOutMigration, .finished = level};
    }
    clock_.Advance(UpgradeWatch::kLookEvery);
    upgrade_.Step(clock_.Steady());
  }
  StoredJob CreateFailing(const std::string& id, int64_t failures) {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.pause_after_failures = failures;
    job.schedules = {{.kind = ScheduleKind::kRate, .every = 10s, .start = clock_.Wall()}};
    return CreateJob(id, job);
  }
  // Plans the next fire of each job, and ends its run so.
  void EndAll(RunState state) {
    clock_.Advance(10s);
    table_.Proved(table_.View()->FenceFor(All()), clock_.Steady());
    const Fence fence = table_.View()->FenceFor(All());
    const auto all_due = stores_.firing.ScanDue(All(), clock_.Wall(), 1'000);
    for (const DueSchedule& due : *all_due) {
      const RunKey key{due.next_fire, due.schedule_id, 0};
      PlanBatch batch;
      batch.runs.push_back({.key = key,
                            .job_no = due.job_no,
                            .segment = due.segment,
                            .kind = RunKind::kRate,
                            .due = due.next_fire,
                            .def_version = due.job_version});
      batch.advances.push_back({.schedule_id = due.schedule_id,
                                .segment = due.segment,
                                .version = due.version,
                                .expected_next = due.next_fire,
                                .next_fire = due.next_fire + 10s,
                                .calendar_version = due.calendar_version});
      ASSERT_TRUE(stores_.firing.Plan(batch, fence, clock_.Wall()).ok());
      const HeldAttempt held = Claim(Row(key), ++token_);
      ResultReport report{.key = key,
                          .segment = due.segment,
                          .job_no = due.job_no,
                          .attempt = 1,
                          .token = held.token,
                          .executor = ExecutorId("x1")};
      report.result = {.state = state, .reason = "exit_code", .ended = clock_.Wall()};
      ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
    }
  }
  static std::vector<SegmentId> All() {
    std::vector<SegmentId> all;
    for (uint32_t n = 0; n < test::kSegments; ++n) all.push_back(SegmentId(n));
    return all;
  }
  // Lets the watch look for `time`.
  void Watch(Duration time = 2 * PauseWatch::kLookEvery) {
    for (const SteadyTime end = clock_.Steady() + time; clock_.Steady() < end;) {
      SampleClock();
      const SteadyTime next = watch_->Step(clock_.Steady());
      clock_.Advance(std::clamp<Duration>(next - clock_.Steady(), 1ms, end - clock_.Steady()));
    }
  }
  bool IsPaused(const std::string& id) {
    const StoredJob job = *stores_.jobs.GetJob(JobId(id));
    EXPECT_EQ(job.paused_by_failures, !job.definition.enabled);
    return job.paused_by_failures;
  }
  std::unique_ptr<PauseWatch> NewWatch() {
    return std::make_unique<PauseWatch>(
        PauseWatch::Ports{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                          .store = faults_.streaks,
                          .upgrade = upgrade_});
  }
  uint64_t Paused() { return metrics_.counter("carillon_jobs_paused_by_failures_total").value(); }

  uint64_t token_ = 0;
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  std::unique_ptr<PauseWatch> watch_ = NewWatch();
};

TEST_F(PauseWatchTest, AJobIsPausedOnceForSoManyFailures) {
  CreateFailing("a", 3);
  CreateFailing("b", 4);
  for (int i = 0; i < 2; ++i) EndAll(RunState::kFailed);
  Watch();
  EXPECT_FALSE(IsPaused("a"));
  EndAll(RunState::kTimedOut);
  Watch();
  EXPECT_TRUE(IsPaused("a"));
  EXPECT_FALSE(IsPaused("b"));
  EXPECT_EQ(Paused(), 1u);
  const int64_t version = stores_.jobs.GetJob(JobId("a"))->version;
  Watch(1min);
  EXPECT_EQ(stores_.jobs.GetJob(JobId("a"))->version, version);
  ASSERT_TRUE(stores_.jobs.ResumeJob(JobId("a"), "", {.now = clock_.Wall()}).ok());
  Watch(1min);
  EXPECT_FALSE(IsPaused("a"));
  EXPECT_EQ(Paused(), 1u);
}

TEST_F(PauseWatchTest, AJobIsReadAgainOnlyAfterAnotherFailure) {
  CreateFailing("a", 3);
  EndAll(RunState::kFailed);
  Watch(30s);
  EXPECT_EQ(faults_.plan.calls("ReadStreak"), 1);
  EndAll(RunState::kFailed);
  Watch(10s);
  EXPECT_EQ(faults_.plan.calls("ReadStreak"), 2);
}

TEST_F(PauseWatchTest, NothingIsPausedBeforeTheUpgradeIsFinished) {
  CreateFailing("a", 1);
  EndAll(RunState::kFailed);
  // A watch that has not seen the finished upgrade.
  UpgradeWatch unfinished{{.coordinator = *coordinator_, .store = stores_.schema}};
  PauseWatch watch({.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                    .store = faults_.streaks,
                    .upgrade = unfinished});
  SampleClock();
  watch.Step(clock_.Steady());
  EXPECT_EQ(faults_.plan.calls("ScanFailing"), 0);
  EXPECT_FALSE(IsPaused("a"));
  Watch();
  EXPECT_TRUE(IsPaused("a"));
}

TEST_F(PauseWatchTest, AfterATakeoverItLooksBackFurther) {
  Watch();
  CreateFailing("a", 1);
  EndAll(RunState::kFailed);
  clock_.Advance(5min);
  watch_ = NewWatch();
  Watch();
  EXPECT_TRUE(IsPaused("a"));
}

TEST_F(PauseWatchTest, ASegmentThatIsTakenAnewIsLookedAtFurtherBack) {
  Watch();
  CreateFailing("a", 1);
  EndAll(RunState::kFailed);
  faults_.plan.ArmAlways("PauseFailing", test::Fault::kUnavailable);
  Watch();
  EXPECT_FALSE(IsPaused("a"));
  faults_.plan.Recover();
  // The errors are over; the failure is older than the usual look.
  clock_.Advance(5min);
  TakeAll();
  Watch(20s);
  EXPECT_TRUE(IsPaused("a"));
}

TEST_F(PauseWatchTest, AFailedPauseIsTriedAgainHoweverLongItTakes) {
  CreateFailing("a", 1);
  EndAll(RunState::kFailed);
  faults_.plan.ArmAlways("PauseFailing", test::Fault::kUnavailable);
  for (int i = 0; i < 10; ++i) {
    table_.Proved(table_.View()->FenceFor(All()), clock_.Steady());
    Watch(20s);
  }
  EXPECT_FALSE(IsPaused("a"));
  EXPECT_LE(faults_.plan.calls("PauseFailing"), 21) << "it is set aside for 10 s";
  faults_.plan.Recover();
  Watch(20s);
  EXPECT_TRUE(IsPaused("a"));
}

TEST_F(PauseWatchTest, AScanThatFailsGoesOnWhereItEnded) {
  CreateFailing("a", 1);
  EndAll(RunState::kFailed);
  faults_.plan.ArmAlways("ScanFailing", test::Fault::kUnavailable);
  Watch(3min);
  faults_.plan.Recover();
  Watch();
  EXPECT_TRUE(IsPaused("a"));
}

TEST_F(PauseWatchTest, AnyNumberOfJobsIsPausedInOneRound) {
  constexpr size_t kJobs = PauseWatch::kJobsPerStep * 2 + 1;
  for (size_t i = 0; i < kJobs; ++i) CreateFailing("job-" + std::to_string(i), 1);
  EndAll(RunState::kFailed);
  Watch();
  EXPECT_EQ(Paused(), kJobs);
}

}  // namespace
}  // namespace carillon::scheduler
