// Whole members while their store is held.
#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

class MemberGuardTest : public MemberTest {
 protected:
  StoreIdentity Seen() { return *world_.stores.identity.Identify(); }
  void GoBack() {
    StoreIdentity old = Seen();
    ASSERT_GE(old.mark, 2u);
    old.mark -= 2;
    world_.stores.ChangeIdentity(old);
  }
  // Returns the number of all runs, including those within the horizon, which were planned before.
  size_t Planned() {
    const auto runs = world_.stores.runs.ListRuns({.limit = 100'000}, world_.now() + 24h);
    EXPECT_TRUE(runs.ok());
    return runs->runs.size();
  }
  // Sends a heartbeat every two seconds. Returns the renewed leases and the tasks received.
  struct HeartbeatFrom {
    size_t renewed = 0;
    size_t tasks = 0;
  };
  HeartbeatFrom RunBeating(TestExecutor& executor, Duration length,
                           const std::vector<HeldAttempt>& running) {
    HeartbeatFrom heard;
    for (Duration done{}; done < length; done += 2s) {
      executor.Beat(3, running);
      Run(2s, 50ms);
      for (const auto& reply : executor.TakeAll<HeartbeatReply>()) {
        heard.renewed += reply.renewed.size();
      }
      const std::vector<HeldAttempt> accepted = executor.TakeAccepted();
      if (!accepted.empty()) executor.Report(accepted);
      const std::vector<TaskMessage> tasks = executor.TakeTasks();
      heard.tasks += tasks.size();
      if (!tasks.empty()) executor.Claim(tasks);
    }
    return heard;
  }
};

TEST_F(MemberGuardTest, HeldStoreStopsFiresAndKeepsWhatRuns) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  executor.Beat(4);
  JobDefinition job;
  job.command = "sleep 1000";
  world_.CreateJob("long", job);
  const auto run = world_.stores.runs.ExecuteJob({.job_id = JobId("long")}, {.now = world_.now()});
  member.member().Nudge({run->job_no, run->segment, run->key});
  Run(10ms);
  executor.Claim(executor.TakeTasks());
  Run(10ms);
  const std::vector<HeldAttempt> running = executor.TakeAccepted();
  ASSERT_EQ(running.size(), 1u);
  world_.CreateJob("tick", NoopEverySecond(world_.now()));
  EXPECT_GT(RunBeating(executor, 20s, running).tasks, 10u);
  ASSERT_TRUE(member.member().ready());

  GoBack();
  Run(1s, 50ms);
  EXPECT_EQ(member.member().GetStoreStanding().state, StoreState::kHeld);
  EXPECT_FALSE(member.member().ready());
  EXPECT_TRUE(member.member().GetStatus().owned_segments.empty());
  executor.TakeTasks();
  const size_t planned = Planned();
  const HeartbeatFrom heard = RunBeating(executor, 60s, running);
  EXPECT_EQ(heard.tasks, 0u) << "published while the store is held";
  EXPECT_EQ(Planned(), planned);
  EXPECT_GE(heard.renewed, 25u) << "the session vouches for the owner";
  EXPECT_EQ(Get(running[0].key).row.state, RunState::kRunning);

  ASSERT_TRUE(member.member().AcceptStore(Seen()).ok());
  const HeartbeatFrom after = RunBeating(executor, 10s, running);
  EXPECT_EQ(member.member().GetStatus().owned_segments.size(), 8u);
  EXPECT_TRUE(member.member().ready());
  EXPECT_GT(after.tasks, 10u);
  EXPECT_GE(after.renewed, 3u) << "it was adopted again";
  EXPECT_EQ(Get(running[0].key).row.state, RunState::kRunning);
}

TEST_F(MemberGuardTest, NobodyTakesASegmentOfAStoreThatWentBackWhileAllWereStopped) {
  {
    TestMember first(world_);
    Start(first);
    Run(20s, 50ms);
    members_.clear();
    first.member().Leave();
  }
  GoBack();
  JobDefinition tick = NoopEverySecond(world_.now());
  tick.misfire_policy = MisfirePolicy::kAll;
  world_.CreateJob("tick", tick);
  TestMember again(world_, "m1", "i2");
  TestMember other(world_, "m2", "i3");
  Start(again);
  Start(other);
  Run(30s, 50ms);
  for (TestMember* member : {&again, &other}) {
    EXPECT_EQ(member->member().GetStoreStanding().state, StoreState::kHeld);
    EXPECT_TRUE(member->member().GetStatus().owned_segments.empty());
  }
  EXPECT_EQ(Planned(), 0u);
  ASSERT_TRUE(other.member().AcceptStore(Seen()).ok());
  Run(5s, 50ms);
  EXPECT_EQ(again.member().GetStatus().owned_segments.size() +
                other.member().GetStatus().owned_segments.size(),
            8u);
  EXPECT_GE(Planned(), 30u) << "fires that were missed meanwhile";
}

}  // namespace
}  // namespace carillon::test
