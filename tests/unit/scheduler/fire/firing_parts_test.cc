// The firing loop, with fires that are done in parts.
#include <set>

#include "tests/unit/scheduler/fire/firing_parts_fixture.h"

namespace carillon::scheduler {
namespace {

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

// The sweep offers it again meanwhile, since it is PENDING.
TEST_F(FiringPartsTest, AFireThatWaitsForItsBeginIsNotHandedOverAgain) {
  BeatWithShards("x1", 4);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 1);
  Step(10ms);
  for (int i = 0; i < 3; ++i) {
    Pass(3s);
    Feed(fires);
    Pass(1s);
    EXPECT_EQ(begun_.size(), 1u) << i;
  }
  SayNotBegun(fires[0].key);
  Pass(3s);
  Feed(fires);
  Pass(1s);
  EXPECT_EQ(begun_.size(), 2u);
}

TEST_F(FiringPartsTest, AFireThatHasBegunIsNotHandedOverFromItsLane) {
  BeatWithShards("x1", 1);
  const std::vector<PendingRun> fires = Fires(Shell("a", InParts()), 2);
  Step(10ms);
  Pass(3s, 1);
  Feed({fires[0]});  // waits in its lane, because there is no room
  Pass(1s, 1);
  SayBegun(fires[0].key);
  Pass(7s, 1);
  EXPECT_EQ(begun_, (std::vector<RunKey>{fires[0].key, fires[1].key}));
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

}  // namespace
}  // namespace carillon::scheduler
