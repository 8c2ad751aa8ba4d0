#include <set>

#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

TEST_F(FiringLoopTest, PublishesAtTheDueTimeNotBefore) {
  const StoredJob job = Shell("job");
  Beat("x1", 4);
  const PendingRun run = Pending(job, 100ms);
  Feed({run});
  Step(99ms);
  EXPECT_TRUE(Tasks().empty());
  Step(1ms);
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].command, "echo " + EncodeRunId(run.key));
  EXPECT_EQ(tasks[0].member, MemberId("m1"));
  EXPECT_EQ(tasks[0].env.at("CARILLON_RUN_ID"), EncodeRunId(run.key));
}

TEST_F(FiringLoopTest, DuplicateOffersPublishOnce) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Beat("x1", 4);
  Feed({run, run});
  Step();
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  Tell(RunEvent::What::kEnded, run.key);
  Step();
  Feed({run});  // from a scan that was done before the run ended
  Step();
  EXPECT_TRUE(Tasks().empty());
}

TEST_F(FiringLoopTest, HigherPriorityGoesFirstAndAgeingBoundsIt) {
  const StoredJob job = Shell("job");
  const PendingRun low = Pending(job, 1ms, 0);
  const PendingRun high = Pending(job, 5ms, 50);
  const PendingRun old = Pending(job, -60s, 0);
  Feed({low, high, old});
  Step(10ms);
  std::vector<RunKey> order;
  for (int i = 0; i < 3; ++i) {
    Beat("x1", 1);
    Step();
    for (const TaskMessage& task : Tasks()) {
      order.push_back(task.key);
      Tell(RunEvent::What::kClaimed, task.key);
    }
    Step();
  }
  EXPECT_EQ(order, (std::vector<RunKey>{old.key, high.key, low.key}));
}

TEST_F(FiringLoopTest, NothingIsPublishedBeyondTheCredits) {
  const StoredJob job = Shell("job");
  Feed({Pending(job, 1ms), Pending(job, 1ms), Pending(job, 1ms)});
  Beat("x1", 2);
  Step();
  EXPECT_EQ(Tasks().size(), 2u);
  Step(1s);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_EQ(loop_->ready(), 1u);
}

TEST_F(FiringLoopTest, SelectorAndPinChooseAmongExecutorsAndHoldNobodyElseBack) {
  const StoredJob selects = Shell("selects", {.executor_selector = "zone = b"});
  const StoredJob pinned = Shell("pinned", {.executor_id = "x3"});
  const StoredJob nowhere = Shell("nowhere", {.executor_selector = "zone = nowhere"});
  const StoredJob anywhere = Shell("anywhere");
  Beat("x1", 4, 100, {{"zone", "a"}});
  Beat("x2", 4, 100, {{"zone", "b"}});
  Beat("x3", 4);
  Feed({Pending(nowhere, 1ms, 90), Pending(selects, 1ms, 50), Pending(selects, 1ms, 50),
        Pending(pinned, 1ms, 40), Pending(anywhere, 1ms)});
  Step();
  std::map<std::string, std::vector<std::string>> jobs;
  const std::vector<BusRecord> records = producer_.records;
  for (const char* id : {"x1", "x2", "x3"}) {
    for (const TaskMessage& task : Tasks(id)) jobs[id].push_back(task.job_id.value());
    producer_.records = records;
  }
  EXPECT_EQ(jobs["x2"].size() - std::count(jobs["x2"].begin(), jobs["x2"].end(), "anywhere"), 2);
  EXPECT_EQ(std::count(jobs["x3"].begin(), jobs["x3"].end(), "pinned"), 1);
  EXPECT_EQ(jobs["x1"].size() + jobs["x2"].size() + jobs["x3"].size(), 4u);
  EXPECT_EQ(loop_->ready(), 1u) << "nobody matches";
  producer_.records.clear();
  // A label is added while the run waits.
  executors_.Refresh({{.id = ExecutorId("x1"), .labels = {{"zone", "nowhere"}}}});
  Step();
  EXPECT_EQ(Tasks("x1").size(), 1u);
}

TEST_F(FiringLoopTest, ExecuteOnOneExecutorGoesBeforeTheSelectorOfTheJob) {
  PendingRun run = Pending(Shell("selects", {.executor_selector = "zone = b"}), 1ms);
  run.extras = std::make_shared<const RunExtras>(RunExtras{.pinned_executor = ExecutorId("x1")});
  Beat("x1", 4);
  Beat("x2", 4, 100, {{"zone", "b"}});
  Feed({run});
  Step();
  EXPECT_EQ(Tasks("x1").size(), 1u);
}

TEST_F(FiringLoopTest, InProcessTypesDoNotWaitForProcessSlots) {
  Feed({Pending(Shell("shell"), 1ms), Pending(CreateNoop("noop"), 1ms)});
  Beat("x1", 0);
  Step();
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].type, JobType::kNoop);
}

TEST_F(FiringLoopTest, UnclaimedTaskIsPublishedElsewhere) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  ASSERT_EQ(Tasks("x1").size(), 1u);
  Beat("x2", 1);
  Step(4900ms);
  EXPECT_TRUE(Tasks("x2").empty());
  Step(200ms);
  EXPECT_EQ(Tasks("x2").size(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_dispatch_timeouts_total").value(), 1u);
}

TEST_F(FiringLoopTest, LateClaimOfTheFirstExecutorEndsThePublishing) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  Tasks();
  Step(5100ms);
  Tell(RunEvent::What::kClaimed, run.key, 1, "x1");
  Tasks();
  Step();
  Step(20s);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_EQ(loop_->backlog(), 0u);
}

TEST_F(FiringLoopTest, LostExecutorGivesItsUnclaimedTasksBackAtOnce) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  ASSERT_EQ(Tasks("x1").size(), 1u);
  ExecutorRecord disabled{.id = ExecutorId("x1"), .incarnation = Incarnation("e1")};
  disabled.enabled = false;
  executors_.Refresh({disabled});
  Beat("x2", 1);
  Step();
  EXPECT_EQ(Tasks("x2").size(), 1u);
}

TEST_F(FiringLoopTest, RefusedBundleIsPublishedAgain) {
  Feed({Pending(Shell("job"), 1ms)});
  Beat("x1", 1);
  producer_.refuses = true;
  Step();
  producer_.refuses = false;
  Step(20ms);
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, QueueTimeoutSkipsWhatNobodyHasRoomFor) {
  JobDefinition job;
  job.queue_timeout_s = 5;
  const PendingRun run = Pending(Shell("job", job), 1ms);
  Feed({run});
  Step();
  Step(4s);
  EXPECT_TRUE(Skips().empty());
  Step(2s);
  const auto skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kQueueTimeout);
  EXPECT_EQ(skips[0].key, run.key);
}

TEST_F(FiringLoopTest, MisfireOfAPlannedRunFollowsThePolicy) {
  JobDefinition job;
  job.command = "true";
  job.misfire_policy = MisfirePolicy::kSkip;
  const WallTime fire = clock_.Wall() - 50s;
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 55s, .start = fire}};
  const StoredJob stored = CreateJob("late", job);
  PendingRun run = Pending(stored, Duration{});
  run.key.fire = run.due = fire;
  Feed({run});
  Step();
  EXPECT_TRUE(Skips().empty());
  Step(6s);  // overtaken
  ASSERT_EQ(Skips().size(), 1u);
}

// Both fire at the same instant; the later of job, schedule and request wins.
TEST_F(FiringLoopTest, ATaskHasTheParametersOfTheScheduleThatMadeItsRun) {
  JobDefinition job;
  job.command = "{{params.a}} {{params.b}} {{params.c}}";
  job.parameters = {{"a", "job"}, {"b", "job"}, {"c", "job"}};
  const ScheduleSpec hourly{.kind = ScheduleKind::kRate, .every = 1h};
  job.schedules = {hourly, hourly};
  job.schedules[0].parameters = {{"b", "first"}};
  job.schedules[1].parameters = {{"b", "second"}, {"c", "second"}};
  const StoredJob stored = CreateJob("job", job);
  Beat("x1", 4);
  const auto command = [&](ScheduleId id) {
    PendingRun run = Pending(stored, 1ms);
    run.key.schedule_id = id;
    Feed({run});
    Step();
    const auto tasks = Tasks();
    return tasks.size() == 1 ? tasks[0].command : "no task";
  };
  EXPECT_EQ(command(stored.schedules[0].schedule_id), "job first job");
  EXPECT_EQ(command(stored.schedules[1].schedule_id), "job second second");
  EXPECT_EQ(command(ScheduleId(999)), "job job job") << "of a schedule that an edit removed";
}

TEST_F(FiringLoopTest, SkipsThatCannotBeHandedOnAreNoBusyLoop) {
  JobDefinition job;
  job.queue_timeout_s = 1;
  const StoredJob stored = Shell("job", job);
  std::vector<PendingRun> runs;
  for (int i = 0; i < 12'000; ++i) runs.push_back(Pending(stored, -1min));
  while (skips_.Push({}).ok()) continue;
  Feed(runs);
  Beat("x1", 4);
  int steps = 0;
  const SteadyTime end = clock_.Steady() + 1s;
  for (SteadyTime next = clock_.Steady(); next < end && steps < 1000; ++steps) {
    clock_.Advance(std::max(next - clock_.Steady(), Duration{}));
    next = loop_->Step(clock_.Steady());
  }
  EXPECT_LT(steps, 100);
  EXPECT_LT(metrics_.counter("carillon_queue_rejections_total", "skips").value(), 50u);
  std::set<RunKey> skipped;  // when the queue has room, all of them are passed on
  for (int i = 0; i < 10; ++i) {
    Step(50ms);
    for (const SkipRequest& skip : Skips()) skipped.insert(skip.key);
  }
  EXPECT_EQ(skipped.size(), runs.size());
}

TEST_F(FiringLoopTest, HealthyFireIsNoMisfireWithoutGrace) {
  JobDefinition job;
  job.command = "true";
  job.misfire_policy = MisfirePolicy::kSkip;
  job.misfire_grace_s = 0;
  const WallTime start = clock_.Wall();
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 10min, .start = start}};
  const StoredJob stored = CreateJob("strict", job);
  PendingRun run = Pending(stored, Duration{});
  run.key.fire = run.due = start;
  Step(5s - 5ms);  // the delay of a message that was lost once and sent again
  Feed({run});
  Beat("x1", 4);
  Step();
  EXPECT_TRUE(Skips().empty());
  ASSERT_EQ(Tasks().size(), 1u);
  run.key.schedule_id = ScheduleId(99);
  Feed({run});
  Step();
  EXPECT_EQ(Skips().size(), 1u);
}

TEST_F(FiringLoopTest, OverlapFirstLookSkipsWhileAnotherRunIsActive) {
  JobDefinition job;
  job.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob stored = Shell("job", job);
  const HeldAttempt running = Claim(Execute(stored), 1);
  leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{running, EpochOf(running.segment)}},
                   clock_.Steady());
  Feed({Pending(stored, 1ms)});
  Beat("x1", 4);
  Step();
  EXPECT_TRUE(Tasks().empty());
  const auto skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kOverlap);
}

TEST_F(FiringLoopTest, DefinitionThatCannotBeRenderedIsRecorded) {
  PendingRun run = Pending(Shell("job"), 1ms);
  run.def_version = 99;
  Feed({run});
  Beat("x1", 4);
  Step();
  ASSERT_EQ(Skips().size(), 1u);
}

TEST_F(FiringLoopTest, RunWhoseDefinitionCannotBeReadWaitsForItsMending) {
  const StoredJob job = Shell("job");
  const PendingRun run = Pending(job, 1ms);
  stores_.DamageDefinition(job.job_id, job.version, true);
  Beat("x1", 4);
  for (int i = 0; i < 90; ++i) {  // for 9 s the sweep offers the run again and again
    Feed({run, Pending(Shell("good" + std::to_string(i)), 1ms)});
    Step(100ms);
    Beat("x1", 4);
    const auto tasks = Tasks();
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_NE(tasks[0].key, run.key);
    Tell(RunEvent::What::kClaimed, tasks[0].key);
  }
  EXPECT_TRUE(Skips().empty());
  EXPECT_EQ(faults_.plan.calls("LoadDefinitions"),
            90);  // the unreadable definition is not read again
  EXPECT_GT(metrics_.counter("carillon_runs_waiting_total", "unreadable_definition").value(), 0u);
  stores_.DamageDefinition(job.job_id, job.version, false);
  Step(kUnreadableRetry);
  Beat("x1", 4);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, StoreAwayDelaysOnlyWhatNeedsItsDefinition) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  faults_.plan.Arm("LoadDefinitions", ErrorCode::kUnavailable);
  Feed({run});
  Beat("x1", 4);
  Step();
  EXPECT_TRUE(Tasks().empty());
  Step(200ms);
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, RunMadeByHandWaitsForItsParameters) {
  PendingRun run = Pending(Shell("job"), Duration{});
  run.kind = RunKind::kManual;
  Feed({run});
  Beat("x1", 4);
  Step();
  EXPECT_TRUE(Tasks().empty());
  ASSERT_EQ(loads_.PopUpTo(10).size(), 1u);
  Feed({run});  // the sweep offers the run again, but its definition is not requested twice
  Step();
  EXPECT_EQ(loads_.size(), 0u);
  Step(2s);
  EXPECT_EQ(loads_.PopUpTo(10).size(), 1u);
  run.extras = std::make_shared<const RunExtras>(RunExtras{.request_loaded = true});
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, LostSegmentIsForgotten) {
  const StoredJob job = Shell("job");
  Feed({Pending(job, 10ms)});
  Step();
  EXPECT_EQ(loop_->backlog(), 1u);
  table_.Drop(table_.View()->FenceFor({job.segment}), DropCause::kFenced);
  Beat("x1", 4);
  Step(1s);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_EQ(loop_->backlog(), 0u);
}

TEST_F(FiringLoopTest, SegmentTakenAgainPublishesUnderItsNewEpoch) {
  const StoredJob job = Shell("job");
  PendingRun run = Pending(job, 1ms);
  Feed({run});
  Beat("x1", 4);
  Step();
  ASSERT_EQ(Tasks().size(), 1u);
  TakeAll();
  Step();
  run.epoch = EpochOf(job.segment);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, EditedRunIsForgottenAndTheSweepLooksAgain) {
  const StoredJob job = Shell("job");
  PendingRun run = Pending(job, 1ms);
  Feed({run});
  Beat("x1", 4);
  Step();
  Tasks();
  Tell(RunEvent::What::kStale, run.key);
  Step();
  EXPECT_EQ(looks_, 1);
  Feed({run});
  Step();
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, NewAttemptReplacesTheOld) {
  PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 4);
  Step();
  Tasks();
  Tell(RunEvent::What::kClaimed, run.key);
  Step();
  run.attempt = 2;
  Feed({run});
  Step();
  const auto tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].attempt, 2);
  Tell(RunEvent::What::kEnded, run.key, 1);  // a late event of the first attempt
  Tell(RunEvent::What::kClaimed, run.key, 2);
  Step();
  Step(10s);
  EXPECT_TRUE(Tasks().empty());
}

TEST_F(FiringLoopTest, RefusalToOneExecutorSaysNothingAboutARunAnotherHas) {
  const PendingRun run = Pending(Shell("job"), 1ms);
  Feed({run});
  Beat("x1", 1);
  Step();
  ASSERT_EQ(Tasks().size(), 1u);
  Tell(RunEvent::What::kClaimed, run.key, 1, "x1");
  Tell(RunEvent::What::kRefused, run.key, 1, "x2");
  Step();
  Feed({run});
  Step(3s);
  EXPECT_TRUE(Tasks().empty());
}

TEST_F(FiringLoopTest, MemoryIsBoundedAndWhatDoesNotFitIsCounted) {
  loop_ = Make({.capacity = 2});
  const StoredJob job = Shell("job");
  Feed({Pending(job, 1s), Pending(job, 1s), Pending(job, 1s)});
  Step();
  EXPECT_EQ(loop_->backlog(), 2u);
  EXPECT_EQ(metrics_.counter("carillon_queue_rejections_total", "wheel").value(), 1u);
}

TEST_F(FiringLoopTest, BundlesHoldAtMostTheirLimit) {
  const StoredJob job = CreateNoop("noop");
  std::vector<PendingRun> runs;
  for (int i = 0; i < 600; ++i) runs.push_back(Pending(job, 1ms));
  Feed(runs);
  Beat("x1", 0, 1000);
  Step();
  EXPECT_EQ(producer_.records.size(), 3u);
  EXPECT_EQ(Tasks().size(), 600u);
}

TEST_F(FiringLoopTest, WhatIsDueWaitsWhileTheClusterIsPaused) {
  Pause();
  Beat("x1", 4);
  Feed({Pending(Shell("job"), 1ms)});
  Step(10ms);
  Step(1s);
  EXPECT_TRUE(Tasks().empty());
  EXPECT_EQ(loop_->ready(), 1u);
  Pause(false);
  Beat("x1", 4);
  Step(1s);
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringLoopTest, WhatGrewTooOldInAPauseIsJudgedAfterIt) {
  Pause();
  Feed({Pending(Shell("job", {.queue_timeout_s = 1}), 1ms)});
  Step(10ms);
  Step(5s);
  EXPECT_TRUE(Skips().empty());
  Pause(false);
  Step(1s);
  EXPECT_EQ(Skips().size(), 1u);
  EXPECT_TRUE(Tasks().empty());
}

// An executor would refuse such a task, with all others of its bundle, and get it again and again.
TEST_F(FiringLoopTest, ATaskTooLargeForAnExecutorIsSkippedAndSaysSo) {
  JobDefinition job;
  job.command = "{{params.a}}{{params.a}}{{params.a}}{{params.a}}{{params.a}}";
  job.parameters["a"] = std::string(60'000, 'x');
  const StoredJob large = CreateJob("large", job);
  Beat("x1", 4);
  Feed({Pending(large, 1ms), Pending(Shell("small"), 1ms)});
  Step(10ms);
  const std::vector<TaskMessage> tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].job_id, JobId("small"));
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kBadDefinition);
  EXPECT_EQ(
      skips[0].error,
      "with the values of this run the command has 300000 bytes, and at most 262144 are possible");
}

}  // namespace
}  // namespace carillon::scheduler
