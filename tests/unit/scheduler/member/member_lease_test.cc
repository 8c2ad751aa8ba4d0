// Leases, losses, adoption and takeovers, tested through a whole member.
#include "tests/unit/scheduler/member/member_harness.h"

namespace carillon::test {
namespace {

class MemberLeaseTest : public MemberTest {
 protected:
  // Starts a run of a shell job that `executor` has claimed.
  HeldAttempt StartRun(TestMember& member, TestExecutor& executor, int retry_count = 0) {
    executor.Register();
    Run(20ms);
    executor.Beat(4);
    JobDefinition job;
    job.command = "sleep 1000";
    job.retry_count = retry_count;
    world_.CreateJob("lease", job);
    const auto run =
        world_.stores.runs.ExecuteJob({.job_id = JobId("lease")}, {.now = world_.now()});
    member.member().Nudge({run->job_no, run->segment, run->key});
    Run(10ms);
    executor.Claim(executor.TakeTasks());
    Run(10ms);
    const auto accepted = executor.TakeAccepted();
    EXPECT_EQ(accepted.size(), 1u);
    return accepted.at(0);
  }
  void RunBeating(TestExecutor& executor, Duration length, std::vector<HeldAttempt> running) {
    for (Duration done{}; done < length; done += 2s) {
      executor.Beat(3, running);
      Run(2s, 50ms);
    }
  }
};

TEST_F(MemberLeaseTest, SilentAttemptIsLostAfterItsLeaseAndNotBefore) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  const HeldAttempt held = StartRun(member, executor, 1);
  Run(24900ms, 50ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kRunning);
  Run(1100ms, 50ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kPending);
  EXPECT_EQ(Get(held.key).row.attempt, 2);
}

TEST_F(MemberLeaseTest, BeatingAttemptIsRenewedForAsLongAsItRuns) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  const HeldAttempt held = StartRun(member, executor);
  RunBeating(executor, 60s, {held});
  EXPECT_EQ(Get(held.key).row.state, RunState::kRunning);
  size_t renewed = 0;
  for (const auto& reply : executor.TakeAll<HeartbeatReply>()) renewed += reply.renewed.size();
  EXPECT_GE(renewed, 29u);
}

TEST_F(MemberLeaseTest, WrongTokenIsNotRenewed) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  HeldAttempt held = StartRun(member, executor);
  held.token.low += 1;
  RunBeating(executor, 28s, {held});
  EXPECT_EQ(Get(held.key).row.state, RunState::kLost);
}

TEST_F(MemberLeaseTest, LateResultOfALostAttemptStillCompletesTheRun) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  const HeldAttempt held = StartRun(member, executor);
  Run(27s, 50ms);
  ASSERT_EQ(Get(held.key).row.state, RunState::kLost);
  executor.Report({held});
  Run(20ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kCompleted);
}

TEST_F(MemberLeaseTest, NewOwnerAdoptsWhatIsReportedWithTheRightToken) {
  auto first = std::make_unique<TestMember>(world_, "m1", "i1");
  TestExecutor executor(world_, "x1");
  Start(*first);
  const HeldAttempt held = StartRun(*first, executor);
  members_.clear();
  first.reset();
  TestMember second(world_, "m2", "i2");
  world_.ensemble.Abandon(Incarnation("i1"));
  world_.ensemble.Expire(Incarnation("i1"));
  Start(second);
  ASSERT_EQ(second.member().GetStatus().owned_segments.size(), 8u);
  executor.Register();
  Run(20ms);
  RunBeating(executor, 60s, {held});
  EXPECT_EQ(Get(held.key).row.state, RunState::kRunning);
}

TEST_F(MemberLeaseTest, NewOwnerDeclaresNothingLostBeforeEveryOldLeaseIsOver) {
  auto first = std::make_unique<TestMember>(world_, "m1", "i1");
  TestExecutor executor(world_, "x1");
  Start(*first);
  const HeldAttempt held = StartRun(*first, executor);
  members_.clear();
  first.reset();
  world_.ensemble.Expire(Incarnation("i1"));
  TestMember second(world_, "m2", "i2");
  members_ = {&second};
  while (second.member().GetStatus().owned_segments.empty()) Run(1ms);
  Run(25900ms, 50ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kRunning);
  Run(1s, 50ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kLost);
}

// Each member has its own setting of the lease, which is changed on one member after the other.
TEST_F(MemberLeaseTest, NewOwnerWaitsForTheLongerLeasesOfTheOneBefore) {
  auto first =
      std::make_unique<TestMember>(world_, "m1", "i1", scheduler::MemberOptions{.lease = 60s});
  TestExecutor executor(world_, "x1");
  Start(*first);
  const HeldAttempt held = StartRun(*first, executor);
  members_.clear();
  first.reset();
  world_.ensemble.Expire(Incarnation("i1"));
  TestMember second(world_, "m2", "i2", scheduler::MemberOptions{.lease = 20s});
  members_ = {&second};
  while (second.member().GetStatus().owned_segments.empty()) Run(1ms);
  Run(65900ms, 50ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kRunning);
  Run(1s, 50ms);
  EXPECT_EQ(Get(held.key).row.state, RunState::kLost);
}

// The interval is sent with the registration; the executor's health is judged by the same setting.
TEST_F(MemberLeaseTest, ExecutorIsToldHowOftenItsMemberWantsAHeartbeat) {
  TestMember member(world_, "m1", "i1", scheduler::MemberOptions{.heartbeat = 500ms});
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register();
  Run(20ms);
  const auto answers = executor.TakeAll<Registered>();
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back().heartbeat, 500ms);
}

TEST_F(MemberLeaseTest, DaemonThatCameBackKeepsWhatItsWardenRan) {
  TestMember member(world_);
  auto executor = std::make_unique<TestExecutor>(world_, "x1", "e1");
  Start(member);
  const HeldAttempt held = StartRun(member, *executor);
  executor.reset();
  TestExecutor again(world_, "x1", "e2");
  for (int i = 0; i < 8; ++i) {
    again.Register();
    Run(1s, 50ms);
  }
  const auto answers = again.TakeAll<Registered>();
  ASSERT_FALSE(answers.empty());
  EXPECT_TRUE(answers.front().accepted);
  RunBeating(again, 40s, {held});
  EXPECT_EQ(Get(held.key).row.state, RunState::kRunning);
}

TEST_F(MemberLeaseTest, SecondExecutorOfOneIdIsRefusedWhileTheFirstIsAlive) {
  TestMember member(world_);
  TestExecutor first(world_, "x1", "e1");
  TestExecutor second(world_, "x1", "e2");
  Start(member);
  first.Register();
  Run(20ms);
  std::vector<Registered> answers;
  for (int i = 0; i < 5 && answers.empty(); ++i) {
    first.Beat(4);
    second.Register();
    Run(2s, 50ms);
    answers = second.TakeAll<Registered>();
  }
  ASSERT_FALSE(answers.empty());
  EXPECT_FALSE(answers.front().accepted);
}

TEST_F(MemberLeaseTest, ExecutorWithoutKafkaIsRefusedWhereTheLinkCarriesNoRecords) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  executor.Register(4, true);
  Run(20ms);
  const auto answers = executor.TakeAll<Registered>();
  ASSERT_FALSE(answers.empty());
  EXPECT_FALSE(answers.front().accepted);
  EXPECT_NE(answers.front().refusal.find("instead of link.members"), std::string::npos);
}

TEST_F(MemberLeaseTest, RepeatedClaimIsAcceptedAgainUntilTheAttemptIsLost) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  const HeldAttempt held = StartRun(member, executor, 1);
  executor.ClaimAgain();
  Run(10ms);
  auto replies = executor.TakeAll<ClaimBatchReply>();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].items.at(0).verdict, ClaimVerdict::kAcceptedAgain);
  Run(27s, 50ms);
  ASSERT_EQ(Get(held.key).row.attempt, 2);
  executor.ClaimAgain();
  Run(10ms);
  replies = executor.TakeAll<ClaimBatchReply>();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].items.at(0).verdict, ClaimVerdict::kRefused);
}

TEST_F(MemberLeaseTest, LostAcknowledgementIsRepeatedOnTheHeartbeat) {
  TestMember member(world_);
  TestExecutor executor(world_, "x1");
  Start(member);
  const HeldAttempt held = StartRun(member, executor);
  executor.Report({held});
  Run(10ms);
  ASSERT_EQ(executor.TakeAll<ResultsApplied>().size(), 1u);
  executor.Beat(4, {}, {held});
  Run(2ms);
  const auto repeated = executor.TakeAll<ResultsApplied>();
  ASSERT_EQ(repeated.size(), 1u);
  EXPECT_EQ(repeated[0].applied.at(0).token, held.token);
}

}  // namespace
}  // namespace carillon::test
