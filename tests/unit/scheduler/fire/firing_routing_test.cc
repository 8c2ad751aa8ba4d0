// The firing loop and the choice of executors: keys that stay, and runs that leave a full executor.
#include <set>

#include "tests/unit/scheduler/fire/firing_fixture.h"

namespace carillon::scheduler {
namespace {

class FiringRoutingTest : public FiringLoopTest {
 protected:
  void SetUp() override { SampleClock(); }
  // Steps for `time`, with heartbeats of the cluster clock.
  void Pass(Duration time) {
    for (Duration passed{}; passed < time; passed += 50ms) {
      SampleClock();
      Step(50ms);
    }
  }
  // The executor that gets the next task.
  std::string Next() {
    for (const char* id : {"x1", "x2", "x3"}) {
      if (!Tasks(id).empty()) return id;
    }
    return "";
  }
  uint64_t Moved() { return metrics_.counter("carillon_runs_moved_total").value(); }
};

TEST_F(FiringRoutingTest, RunsWithOneKeyGoToOneExecutor) {
  for (const char* id : {"x1", "x2", "x3"}) Beat(id, 50);
  const StoredJob job = Shell("nightly", {.routing = Routing::kConsistentHash});
  std::set<std::string> used;
  for (int i = 0; i < 10; ++i) {
    Feed({Pending(job, 0s)});
    Pass(100ms);
    used.insert(Next());
  }
  EXPECT_EQ(used.size(), 1u);
  EXPECT_FALSE(used.contains(""));
}

TEST_F(FiringRoutingTest, TheKeyMayComeFromTheRun) {
  for (const char* id : {"x1", "x2", "x3"}) Beat(id, 50);
  const StoredJob job =
      Shell("shops", {.routing = Routing::kConsistentHash, .routing_key = "{{fire_time}}"});
  std::set<std::string> used;
  for (int i = 0; i < 30; ++i) {
    Feed({Pending(job, -1ms * i)});
    Pass(100ms);
    used.insert(Next());
  }
  EXPECT_EQ(used.size(), 3u) << "each fire has a key of its own";
}

TEST_F(FiringRoutingTest, ARunThatWaitsAtAFullExecutorGoesToOneWithRoom) {
  Beat("x1", 1);
  const StoredJob job = Shell("job");
  Feed({Pending(job, 0s)});
  Pass(100ms);
  ASSERT_EQ(Next(), "x1");
  Beat("x1", 0);  // a run of another member took the slot
  Beat("x2", 5);
  Pass(800ms);
  EXPECT_EQ(Next(), "") << "it may still claim in time";
  Pass(400ms);
  EXPECT_EQ(Next(), "x2");
  EXPECT_EQ(Moved(), 1u);
}

TEST_F(FiringRoutingTest, ItStaysWhereNoOtherMayOrCanTakeIt) {
  Beat("x1", 2);
  const StoredJob anywhere = Shell("anywhere");
  const StoredJob pinned = Shell("pinned", {.executor_id = "x1"});
  Feed({Pending(anywhere, 0s), Pending(pinned, 0s)});
  Pass(100ms);
  ASSERT_EQ(Tasks("x1").size(), 2u);
  Beat("x1", 0);
  Beat("x2", 0);
  Pass(2s);
  EXPECT_EQ(Moved(), 0u) << "nobody has room";
  Beat("x2", 5);
  Pass(500ms);
  EXPECT_EQ(Tasks("x2").size(), 1u);
  EXPECT_EQ(Moved(), 1u) << "the pinned one stays";
}

TEST_F(FiringRoutingTest, ItMovesOnlyToAnExecutorThatItsSelectorMatches) {
  Beat("x1", 1, 0, {{"zone", "a"}});
  Feed({Pending(Shell("job", {.executor_selector = "zone=a"}), 0s)});
  Pass(100ms);
  ASSERT_EQ(Next(), "x1");
  Beat("x1", 0);
  Beat("x2", 5, 0, {{"zone", "b"}});
  Pass(2s);
  EXPECT_EQ(Moved(), 0u);
  Beat("x3", 5, 0, {{"zone", "a"}});
  Pass(500ms);
  EXPECT_EQ(Next(), "x3");
  EXPECT_EQ(Moved(), 1u);
}

TEST_F(FiringRoutingTest, RunsOfAHandlerTakeItsSlotsAndNoOthers) {
  Beat("x1", 50);  // without a worker
  Beat("x2", 50, 1);
  executors_.HeartbeatFrom(
      ExecutorId("x2"), Incarnation("e1"),
      {.free_light_slots = 1, .handlers = {{"app/a", {.slots = 5, .free = 5}}}}, clock_.Wall(),
      clock_.Steady());
  const StoredJob job = CreateJob("handled", {.type = JobType::kHandler, .handler = "app/a"});
  for (int i = 0; i < 7; ++i) Feed({Pending(job, 0s)});
  Pass(100ms);
  EXPECT_TRUE(Tasks("x1").empty());
  const std::vector<TaskMessage> tasks = Tasks("x2");
  ASSERT_EQ(tasks.size(), 5u);
  for (const TaskMessage& task : tasks) Tell(RunEvent::What::kClaimed, task.key, 1, "x2");
  Pass(100ms);
  for (const TaskMessage& task : tasks) Tell(RunEvent::What::kEnded, task.key, 1, "x2");
  Pass(100ms);
  EXPECT_EQ(Tasks("x2").size(), 2u);
  Feed({Pending(CreateJob("light", {.type = JobType::kNoop, .executor_id = "x2"}), 0s)});
  Pass(100ms);
  EXPECT_EQ(Tasks("x2").size(), 1u) << "the slot for other jobs is still free";
}

TEST_F(FiringRoutingTest, OneThatIsGivenWorkAndSaysNothingGetsNoMore) {
  Beat("x1", 2);
  const StoredJob job = Shell("job");
  Feed({Pending(job, 0s)});
  Pass(100ms);
  ASSERT_EQ(Next(), "x1");
  Pass(4s);
  EXPECT_EQ(executors_.Find(ExecutorId("x1"))->state, ExecutorState::kOnline);
  Pass(2s);
  EXPECT_EQ(executors_.Find(ExecutorId("x1"))->state, ExecutorState::kUnhealthy);
  EXPECT_EQ(executors_.TakeSwitched().size(), 1u) << "it is asked to speak";
  EXPECT_EQ(Next(), "");
  Beat("x1", 2);
  Pass(100ms);
  EXPECT_EQ(Next(), "x1");
}

TEST_F(FiringRoutingTest, ItStaysWhereASlotIsFree) {
  Beat("x1", 2);
  Feed({Pending(Shell("job"), 0s)});
  Pass(100ms);
  ASSERT_EQ(Next(), "x1");
  Beat("x2", 5);
  Pass(2s);
  EXPECT_EQ(Moved(), 0u);
}

// The job of this part has no shards any more.
TEST_F(FiringRoutingTest, APartGoesOnlyToExecutorsThatKnowParts) {
  Beat("x1", 50);
  const StoredJob job = CreateJob("job", {.command = "echo {{shard_index}}/{{shard_total}}"});
  PendingRun part = Pending(job, 0s);
  part.kind = RunKind::kShard;
  part.key.shard = 8;
  part.shard_total = 8;
  Feed({part});
  Pass(100ms);
  EXPECT_EQ(Tasks("x1").size(), 0u);
  Beat("x2", 50);
  executors_.HeartbeatFrom(ExecutorId("x2"), Incarnation("e1"),
                           {.free_slots = 50, .features = {Feature::kShards}}, clock_.Wall(),
                           clock_.Steady());
  Pass(100ms);
  const std::vector<TaskMessage> tasks = Tasks("x2");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].key, part.key);
  EXPECT_EQ(tasks[0].shard_total, 8u);
  EXPECT_EQ(tasks[0].command, "echo 7/8");
}

TEST_F(FiringRoutingTest, ARunThatIsNoPartDoesAllTheWork) {
  Beat("x1", 50);
  const StoredJob job = CreateJob("job", {.command = "echo {{shard_index}}/{{shard_total}}"});
  PendingRun own = Pending(job, 0s);
  own.shard_total = 8;  // of its fire before an edit
  Feed({own});
  Pass(100ms);
  const std::vector<TaskMessage> tasks = Tasks("x1");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].command, "echo 0/1");
}

}  // namespace
}  // namespace carillon::scheduler
