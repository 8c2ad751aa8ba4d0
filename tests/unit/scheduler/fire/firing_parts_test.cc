// The firing loop, with fires that are done in parts.
#include <set>

#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringPartsTest : public FiringLoopTest {
 protected:
  FiringPartsTest() {
    begin_workflow_ = [this](const PendingRun& run, const JobDefinition&) {
      begun_.push_back(run.key);
    };
  }
  void BeatWithShards(const std::string& id, int free_slots = 4) {
    Beat(id, free_slots);
    executors_.HeartbeatFrom(
        ExecutorId(id), Incarnation("e1"),
        {.free_slots = free_slots, .free_light_slots = 100, .features = {Feature::kShards}},
        clock_.Wall(), clock_.Steady());
  }
  static JobDefinition InParts() {
    JobDefinition job;
    job.shards = Shards{.total = 4};
    return job;
  }
  static JobDefinition OnAllHosts(int64_t wait_s) {
    JobDefinition job;
    job.broadcast = Broadcast{.wait_s = wait_s};
    return job;
  }
  PendingRun Part(const StoredJob& job, uint32_t shard, const std::string& host = "") {
    PendingRun run = Pending(job, 1ms);
    run.key.shard = shard;
    run.kind = RunKind::kShard;
    run.shard_total = 4;
    run.flags = run_flag::kPart;
    if (!host.empty()) {
      run.extras = std::make_shared<RunExtras>(RunExtras{.pinned_executor = ExecutorId(host)});
    }
    return run;
  }

  // Fires that wait, the first of them for the longest.
  std::vector<PendingRun> Fires(const StoredJob& job, int count) {
    std::vector<PendingRun> fires;
    for (int i = 0; i < count; ++i) fires.push_back(Pending(job, Duration(i)));
    Feed(fires);
    return fires;
  }
  PendingRun PartOf(const PendingRun& own, uint32_t shard) {
    PendingRun part = own;
    part.key.shard = shard;
    part.kind = RunKind::kShard;
    part.due = clock_.Wall();
    part.shard_total = 4;
    part.flags = run_flag::kPart;
    return part;
  }
  // An executor runs the part.
  void LetPartRun(const PendingRun& own, uint32_t shard) {
    const HeldAttempt held{.key = PartOf(own, shard).key,
                           .segment = own.segment,
                           .job_no = own.job_no,
                           .attempt = 1,
                           .token = {9, ++tokens_}};
    leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{held, EpochOf(own.segment)}},
                     clock_.Steady());
  }
  void SayBegun(const RunKey& own) {
    events_.Push({{}, {{.what = RunEvent::What::kBegun, .key = own}}});
  }
  void SayNotBegun(const RunKey& own) {
    events_.Push({{}, {{.what = RunEvent::What::kNotBegun, .key = own}}});
  }
  // Lets time pass, in which the executor is heard.
  void Pass(Duration time, int free_slots = 4) {
    for (Duration passed{}; passed < time; passed += 1s) {
      SampleClock();
      BeatWithShards("x1", free_slots);
      Step(1s);
    }
  }

  // Makes x1 claim nothing. Afterwards none of the runs that have found out waits any more.
  std::vector<PendingRun> MakeSilent(int free_slots = 4) {
    JobDefinition light;
    light.type = JobType::kNoop;
    std::vector<PendingRun> plain;
    for (int i = 0; i < ExecutorCredits::kSilentAfter; ++i) {
      plain.push_back(Pending(CreateJob("silent" + std::to_string(++silent_runs_), light), 1ms));
    }
    BeatWithShards("x1", free_slots);
    Feed(plain);
    Pass(7s, free_slots);
    EXPECT_TRUE(executors_.Find(ExecutorId("x1"))->claims_nothing);
    for (const PendingRun& run : plain) {
      events_.Push({{}, {{.what = RunEvent::What::kGone, .key = run.key}}});
    }
    return plain;
  }

  void DownSince(SteadyTime since, const std::string& host) {
    host_down_for_ = [this, since, host](const PendingRun& run,
                                         const Definition&) -> std::optional<Duration> {
      if (run.extras->pinned_executor != ExecutorId(host)) return std::nullopt;
      return clock_.Steady() - since;
    };
  }

  int silent_runs_ = 0;
  std::vector<RunKey> begun_;
  uint64_t tokens_ = 0;
};

TEST_F(FiringPartsTest, AFireIsHandedOverAndItsPartsAreSent) {
  const StoredJob job = Shell("a", InParts());
  BeatWithShards("x1");
  const PendingRun own = Pending(job, 1ms);
  Feed({own, Part(job, 3)});
  Step(10ms);
  EXPECT_EQ(begun_, std::vector<RunKey>{own.key});
  const std::vector<TaskMessage> tasks = Tasks();
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key.shard, 3u);
  EXPECT_EQ(tasks[0].shard_total, 4u);
}

TEST_F(FiringPartsTest, AFireBeginsWhenAnExecutorHasRoomForAPart) {
  const PendingRun own = Pending(Shell("a", InParts()), 1ms);
  Feed({own});
  Step(10ms);
  EXPECT_TRUE(begun_.empty()) << "no executor";
  BeatWithShards("x2", 0);
  Step(10ms);
  EXPECT_TRUE(begun_.empty()) << "it is full";
  BeatWithShards("x1");
  Step(10ms);
  EXPECT_EQ(begun_, std::vector<RunKey>{own.key});
  EXPECT_TRUE(Tasks().empty());
}

TEST_F(FiringPartsTest, NoMoreFiresBeginThanThereIsRoomFor) {
  BeatWithShards("x1", 2);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 100);
  for (int i = 0; i < 20; ++i) Step(100ms);
  EXPECT_EQ(begun_, (std::vector<RunKey>{fires[0].key, fires[1].key}));
}

TEST_F(FiringPartsTest, ItsPartsGoBeforeFiresThatHaveNotBegun) {
  BeatWithShards("x1", 1);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 100);
  Step(10ms);
  const PendingRun first = PartOf(fires[0], 1);
  const PendingRun second = PartOf(fires[0], 2);
  Feed({first, second});
  Step(10ms);
  ASSERT_EQ(Tasks().size(), 1u);
  for (const PendingRun& part : {first, second}) {
    Tell(RunEvent::What::kClaimed, part.key);
    for (int i = 0; i < 20; ++i) Step(100ms);
    EXPECT_EQ(begun_.size(), 1u);
    Tell(RunEvent::What::kEnded, part.key);
    Step(10ms);
    Step(10ms);
  }
  EXPECT_EQ(begun_, (std::vector<RunKey>{fires[0].key, fires[1].key}));
}

TEST_F(FiringPartsTest, AFireThatDoesNotBeginGivesItsRoomBack) {
  BeatWithShards("x1", 1);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 3);
  Step(10ms);
  SayNotBegun(fires[0].key);
  SayNotBegun(fires[0].key);
  Step(10ms);
  EXPECT_EQ(begun_, (std::vector<RunKey>{fires[0].key, fires[1].key}));
  Feed({PartOf(fires[0], 1)});  // it has begun after all, and takes the room of nobody
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  SayNotBegun(fires[1].key);
  Step(10ms);
  SayNotBegun(fires[2].key);
  Step(10ms);
  EXPECT_EQ(begun_.size(), 3u);
  EXPECT_EQ(Tasks().size(), 1u);
}

TEST_F(FiringPartsTest, ARoomIsNotKeptForEver) {
  BeatWithShards("x1", 1);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 2);
  Step(10ms);
  Pass(20s, 1);
  EXPECT_EQ(begun_.size(), 1u) << "its begin waits in line";
  SayBegun(fires[0].key);
  Pass(4s, 1);
  EXPECT_EQ(begun_.size(), 1u);
  Pass(3s, 1);
  EXPECT_EQ(begun_.size(), 2u);
  Pass(54s, 1);
  Feed({Pending(Shell("plain"), 1ms)});
  Step(10ms);
  EXPECT_TRUE(Tasks().empty());
  Pass(7s, 1);
  EXPECT_EQ(Tasks().size(), 1u) << "the answer to the second one was lost";
}

TEST_F(FiringPartsTest, PartsFollowAFireWhoseBeginHasWaitedInLine) {
  BeatWithShards("x1", 1);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 3);
  Step(10ms);
  Pass(20s, 1);
  SayBegun(fires[0].key);
  Pass(4s, 1);
  Feed({PartOf(fires[0], 1)});
  Step(10ms);
  EXPECT_EQ(Tasks().size(), 1u);
  EXPECT_EQ(begun_, std::vector<RunKey>{fires[0].key});
}

TEST_F(FiringPartsTest, AFewFiresAtATimeWaitForTheirBegin) {
  BeatWithShards("x1", 1'000);
  Fires(Shell("a", InParts()), 300);
  for (int i = 0; i < 5; ++i) Step(100ms);
  ASSERT_EQ(begun_.size(), 200u);
  SayBegun(begun_[0]);
  SayBegun(begun_[0]);
  SayNotBegun(begun_[1]);
  SayNotBegun(begun_[1]);
  for (int i = 0; i < 5; ++i) Step(100ms);
  EXPECT_EQ(begun_.size(), 202u);
}

TEST_F(FiringPartsTest, NothingBeginsWhileTheBusIsAway) {
  JobDefinition job = InParts();
  job.queue_timeout_s = 5;
  bus_answers_ = false;
  BeatWithShards("x1");
  const PendingRun own = Pending(Shell("a", job), 1ms);
  const PendingRun broadcast = Pending(Shell("all", OnAllHosts(60)), 1ms);
  const PendingRun plain = Pending(Shell("plain"), 1ms);
  Feed({own, broadcast, plain});
  Pass(3s);
  EXPECT_TRUE(begun_.empty());
  EXPECT_EQ(Tasks().size(), 1u) << "the plain run is tried";
  Tell(RunEvent::What::kClaimed, plain.key);
  Pass(4s);
  ASSERT_EQ(Skips().size(), 1u) << "the fire grows old as a whole";
  bus_answers_ = true;
  const PendingRun later = Pending(Shell("b", InParts()), 1ms);
  Feed({later, broadcast});  // the sweep offers it again
  Pass(1s);
  EXPECT_EQ(begun_.size(), 2u);
}

// The executor is heard, and claims nothing: perhaps it does not reach the bus.
TEST_F(FiringPartsTest, FiresWaitUntilAnExecutorClaims) {
  const std::vector<PendingRun> plain = MakeSilent();
  Fires(Shell("d", InParts()), 2);
  Pass(20s);
  EXPECT_TRUE(begun_.empty());
  Pass(20s);
  EXPECT_EQ(begun_.size(), 1u) << "if nothing else waits, one finds out";
  Tell(RunEvent::What::kClaimed, plain[0].key);
  Pass(1s);
  EXPECT_EQ(begun_.size(), 2u);
}

// Fires that find the executors silent wait anew, however long others waited before.
TEST_F(FiringPartsTest, TheWaitForAClaimEndsWithTheFires) {
  JobDefinition job = InParts();
  job.queue_timeout_s = 20;
  MakeSilent();
  Feed({Pending(Shell("d", job), 1ms)});
  Pass(40s);
  EXPECT_TRUE(begun_.empty());
  EXPECT_EQ(Skips().size(), 1u) << "it grows old before it may begin anyway";
  Fires(Shell("e", InParts()), 1);
  Pass(25s);
  EXPECT_TRUE(begun_.empty());
  Pass(10s);
  EXPECT_EQ(begun_.size(), 1u);
}

TEST_F(FiringPartsTest, TheWaitForAClaimEndsWhenTheExecutorWorks) {
  const std::vector<PendingRun> plain = MakeSilent();
  Fires(Shell("d", InParts()), 1);
  Pass(20s);
  Tell(RunEvent::What::kClaimed, plain[0].key);
  Pass(3s, 0);  // it is busy
  MakeSilent(0);
  Pass(15s);
  EXPECT_TRUE(begun_.empty());
}

TEST_F(FiringPartsTest, AFireThatIsNotTakenForItsBeginWaitsOnAndTakesNoRoom) {
  takes_begins_ = false;
  BeatWithShards("x1", 1);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 1);
  Pass(3s, 1);
  Feed({Pending(Shell("plain"), 1ms)});
  Pass(1s, 1);
  EXPECT_EQ(Tasks().size(), 1u);
  takes_begins_ = true;
  BeatWithShards("x2", 1);
  Step(200ms);
  EXPECT_EQ(begun_, std::vector<RunKey>{fires[0].key});
}

TEST_F(FiringPartsTest, AFireWithoutPartsWaitsForNoExecutor) {
  const auto asked = [this](const std::string& id, const ParameterValue& n) {
    JobDefinition job;
    job.shards = Shards{.total_from = "{{params.n}}"};
    job.parameters["n"] = n;
    return Pending(Shell(id, job), 1ms);
  };
  const PendingRun none = asked("none", int64_t{0});
  const PendingRun rubbish = asked("rubbish", std::string("many"));
  Feed({none, asked("three", int64_t{3}), rubbish});
  Step(10ms);
  EXPECT_EQ(std::set<RunKey>(begun_.begin(), begun_.end()),
            (std::set<RunKey>{none.key, rubbish.key}));
}

// As of a job without parts. Else it would start late, when the other one leaves room.
TEST_F(FiringPartsTest, AFireIsSkippedWhileThePartsOfAnotherFillTheExecutors) {
  JobDefinition job = InParts();
  job.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob stored = Shell("a", job);
  BeatWithShards("x1", 0);
  const PendingRun first = Pending(stored, 1ms);
  for (const uint32_t shard : {1u, 2u}) LetPartRun(first, shard);
  const PendingRun second = Pending(stored, 1ms);
  const PendingRun other = Pending(Shell("b", job), 2ms);
  Feed({second, other});
  Step(10ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, second.key);
  EXPECT_EQ(skips[0].reason, reason::kOverlap);
  EXPECT_TRUE(begun_.empty());
}

TEST_F(FiringPartsTest, FiresInPartsOverlapAsOftenAsTheJobAllows) {
  JobDefinition job = InParts();
  job.overlap_policy = OverlapPolicy::kSkip;
  job.max_running = 2;
  const StoredJob stored = Shell("a", job);
  BeatWithShards("x1", 4);
  const PendingRun first = Pending(stored, 1ms);
  for (const uint32_t shard : {1u, 2u, 3u}) LetPartRun(first, shard);
  const PendingRun second = Pending(stored, 1ms);
  Feed({second});
  Step(10ms);
  EXPECT_EQ(begun_, std::vector<RunKey>{second.key}) << "the three parts are one fire";
  LetPartRun(second, 1);
  Feed({Pending(stored, 1ms)});
  Step(10ms);
  EXPECT_EQ(Skips().size(), 1u);
  EXPECT_EQ(begun_.size(), 1u);
}

// Otherwise all fires of an outage would run at once when the executors return.
TEST_F(FiringPartsTest, AFireThatIsTooLateIsSkippedBeforeItBegins) {
  JobDefinition job = InParts();
  job.misfire_policy = MisfirePolicy::kSkip;
  job.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = clock_.Wall()}};
  const StoredJob stored = Shell("a", job);
  PendingRun own = Pending(stored, 1ms);
  own.key.schedule_id = stored.schedules.at(0).schedule_id;
  own.kind = RunKind::kRate;
  Feed({own});
  for (int i = 0; i < 120; ++i) Step(1s);
  EXPECT_TRUE(begun_.empty());
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, own.key);
  EXPECT_EQ(skips[0].reason, reason::kMisfire);
}

TEST_F(FiringPartsTest, ABroadcastBeginsWithoutAnExecutor) {
  const PendingRun own = Pending(Shell("a", OnAllHosts(5)), 1ms);
  Feed({own});
  Step(10ms);
  EXPECT_EQ(begun_, std::vector<RunKey>{own.key});
}

// Such a run was planned before an edit took the shards away; the parts of earlier fires go on.
TEST_F(FiringPartsTest, WithoutShardsTheRunGoesToAnExecutor) {
  const StoredJob job = Shell("a");
  BeatWithShards("x1");
  Feed({Pending(job, 1ms), Part(job, 2)});
  Step(10ms);
  EXPECT_TRUE(begun_.empty());
  const std::vector<TaskMessage> tasks = Tasks();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].shard_total + tasks[1].shard_total, 5u);
}

TEST_F(FiringPartsTest, APartOfWhatIsAWorkflowNowIsSkipped) {
  JobDefinition flow;
  flow.type = JobType::kWorkflow;
  flow.workflow = WorkflowDefinition{.nodes = {{.id = "a", .job = Shell("node").job_id}}};
  Feed({Part(CreateJob("flow", flow), 2)});
  Step(10ms);
  EXPECT_TRUE(begun_.empty());
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].reason, reason::kEdited);
}

TEST_F(FiringPartsTest, APartWaitsForItsHostAndIsSkipped) {
  DownSince(clock_.Steady(), "x2");
  const StoredJob job = Shell("a", OnAllHosts(5));
  BeatWithShards("x1");
  const PendingRun there = Part(job, 1, "x1");
  const PendingRun down = Part(job, 2, "x2");
  const PendingRun unknown = Part(job, 3, "x3");  // the list may be old
  Feed({there, down, unknown});
  Step(10ms);
  ASSERT_EQ(Tasks().size(), 1u);
  for (int i = 0; i < 49; ++i) Step(100ms);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 5; ++i) Step(100ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, down.key);
  EXPECT_EQ(skips[0].reason, reason::kHostDown);
}

// A restart of the host must not cost it what waited for the work before it.
TEST_F(FiringPartsTest, APartThatHasWaitedForABusyHostWaitsForItsRestart) {
  const StoredJob job = Shell("a", OnAllHosts(5));
  Beat("x1", 0);
  const PendingRun part = Part(job, 1, "x1");
  Feed({part});
  for (int i = 0; i < 100; ++i) Step(1s);
  DownSince(clock_.Steady(), "x1");
  for (int i = 0; i < 4; ++i) Step(1s);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 3; ++i) Step(1s);
  ASSERT_EQ(Skips().size(), 1u);
}

// The member that saw the host go may have been replaced since.
TEST_F(FiringPartsTest, ALongWaitEndsWhenTheHostHasBeenAwayForSomeMinutes) {
  const StoredJob job = Shell("a", OnAllHosts(86'400));
  Feed({Part(job, 2, "x2")});
  Beat("x2", 0);
  for (int i = 0; i < 24; ++i) Step(1h);
  DownSince(clock_.Steady(), "x2");
  for (int i = 0; i < 9; ++i) Step(1min);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 2; ++i) Step(1min);
  EXPECT_EQ(Skips().size(), 1u);
}

TEST_F(FiringPartsTest, APartIsNotSentToItsHostButSkippedOnceThatMatchesNoMore) {
  JobDefinition definition = OnAllHosts(60);
  definition.executor_selector = "zone=a";
  const StoredJob job = Shell("a", definition);
  for (const char* zone : {"a", "b"}) {
    const std::string id = std::string("in-") + zone;
    Beat(id, 4, 100, {{"zone", zone}});
    BeatWithShards(id);
  }
  const PendingRun matches = Part(job, 1, "in-a");
  const PendingRun left = Part(job, 2, "in-b");
  Feed({matches, left});
  Step(10ms);
  EXPECT_EQ(Tasks("in-a").size(), 1u);
  Tell(RunEvent::What::kClaimed, matches.key, 1, "in-a");
  for (int i = 0; i < 5; ++i) Step(100ms);
  EXPECT_TRUE(Tasks("in-b").empty());
  EXPECT_TRUE(Skips().empty()) << "its labels may be older than the job";
  hosts_read_ = clock_.Steady();
  for (int i = 0; i < 2; ++i) Step(100ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, left.key);
  EXPECT_EQ(skips[0].reason, reason::kNoExecutor);
  EXPECT_EQ(skips[0].error, "executor in-b does not match the job any more");
}

TEST_F(FiringPartsTest, APartOfAJobThatHasGotAnotherExecutorIsSkipped) {
  JobDefinition definition;
  definition.executor_id = "x2";
  const StoredJob job = Shell("a", definition);
  BeatWithShards("x1");
  BeatWithShards("x2");
  const PendingRun left = Part(job, 1, "x1");
  const PendingRun stays = Part(job, 2, "x2");
  Feed({left, stays});
  Step(10ms);
  EXPECT_TRUE(Tasks("x1").empty());
  EXPECT_EQ(Tasks("x2").size(), 1u);
  Step(10ms);
  const std::vector<SkipRequest> skips = Skips();
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0].key, left.key);
  EXPECT_EQ(skips[0].reason, reason::kNoExecutor);
}

TEST_F(FiringPartsTest, AnEditedJobHasTheUsualWait) {
  DownSince(clock_.Steady(), "x2");
  const StoredJob job = Shell("a");
  Feed({Part(job, 2, "x2")});
  for (int i = 0; i < 59; ++i) Step(1s);
  EXPECT_TRUE(Skips().empty());
  for (int i = 0; i < 3; ++i) Step(1s);
  EXPECT_EQ(Skips().size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
