#include "common/adapters/memory/memory_link.h"
#include "scheduler/recover/cancel_pusher.h"
#include "scheduler/recover/lease_reaper.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

class HangingRunsTest : public test::RoomTest {
 protected:
  LossPorts Ports() {
    return {.clock = clock_,
            .store = faults_.firing,
            .cluster = cluster_,
            .segments = table_,
            .fences = fences_,
            .leases = leases_,
            .feed = feed_,
            .events = events_,
            .metrics = metrics_,
            .signals = signals_};
  }
  HeldAttempt StartHandler() {
    JobDefinition job;
    job.type = JobType::kHandler;
    job.handler = "app/a";
    job.retry_count = 1;
    job.presume_dead_s = 100;
    const HeldAttempt held = Claim(Execute(CreateJob("a", job)), 1);
    leases_.GrantAll({ExecutorId("x1"), Incarnation("e1")}, {{held, EpochOf(held.segment)}},
                     clock_.Steady());
    return held;
  }
  // The lease ends; the run is presumed dead 100 s after it.
  HeldAttempt LoseHandler() {
    const HeldAttempt held = StartHandler();
    clock_.Advance(25s);
    reaper_.Step(clock_.Steady());
    EXPECT_EQ(Row(held.key).state, RunState::kHeld);
    return held;
  }
  RunState StateAfter(PresumedRuns& presumed, Duration wait, const RunKey& key) {
    clock_.Advance(wait);
    SampleClock();
    presumed.Step(clock_.Steady());
    return Row(key).state;
  }

  PresumedRuns presumed_{Ports(), settings_};
  LeaseReaper reaper_{Ports(), 1, &presumed_};
};

TEST_F(HangingRunsTest, LostRunIsPresumedDeadInTimeAndItsRetryIsFed) {
  const HeldAttempt held = LoseHandler();
  EXPECT_EQ(presumed_.size(), 1u);
  EXPECT_EQ(StateAfter(presumed_, 99s, held.key), RunState::kHeld);
  EXPECT_EQ(StateAfter(presumed_, 2s, held.key), RunState::kPending);
  EXPECT_EQ(presumed_.size(), 0u);
  const auto fed = feed_.PopUpTo(10);
  ASSERT_EQ(fed.size(), 1u);
  EXPECT_EQ(fed[0].at(0).attempt, 2);
}

TEST_F(HangingRunsTest, ClusterPauseDefersTheJudgement) {
  const HeldAttempt held = LoseHandler();
  Pause();
  EXPECT_EQ(StateAfter(presumed_, 1h, held.key), RunState::kHeld);
  Pause(false);
  EXPECT_EQ(StateAfter(presumed_, 2s, held.key), RunState::kPending);
}

TEST_F(HangingRunsTest, NewOwnerScansAndJudgesNobodyInItsFirstMinute) {
  const HeldAttempt held = LoseHandler();
  clock_.Advance(1h);  // nobody was there
  table_.Drop(table_.View()->FenceFor(table_.View()->Segments()), DropCause::kUnknownOutcome);
  TakeAll();
  PresumedRuns successor(Ports(), settings_);
  EXPECT_EQ(StateAfter(successor, 59s, held.key), RunState::kHeld);
  EXPECT_EQ(StateAfter(successor, 2s, held.key), RunState::kPending);
}

TEST_F(HangingRunsTest, FormerOwnerForgetsIt) {
  const HeldAttempt held = LoseHandler();
  table_.Drop(table_.View()->FenceFor(table_.View()->Segments()), DropCause::kFenced);
  EXPECT_EQ(StateAfter(presumed_, 1h, held.key), RunState::kHeld);
  EXPECT_EQ(presumed_.size(), 0u);
}

TEST_F(HangingRunsTest, PresumptionThatWasNotWrittenIsWrittenLater) {
  const HeldAttempt held = LoseHandler();
  faults_.plan.Arm("Presume", ErrorCode::kUnavailable);
  EXPECT_EQ(StateAfter(presumed_, 101s, held.key), RunState::kHeld);
  EXPECT_EQ(StateAfter(presumed_, 2s, held.key), RunState::kPending);
}

TEST_F(HangingRunsTest, GivenUpRunEndsAndGivesItsLeaseBack) {
  memory::MemorySwitchboard switchboard;
  auto hub = switchboard.OpenHub(MemberId("m1"));
  ExecutorTable executors{{}};
  GivenUp given_up(Ports());
  CancelPusher cancels({.store = faults_.firing,
                        .segments = table_,
                        .leases = leases_,
                        .executors = executors,
                        .hub = *hub,
                        .metrics = metrics_,
                        .given_up = &given_up});
  const HeldAttempt held = StartHandler();
  ASSERT_TRUE(stores_.runs.CancelRun(held.key, {.now = clock_.Wall()}).ok());
  cancels.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
  ASSERT_TRUE(
      stores_.runs
          .CancelRun(held.key, {.now = clock_.Wall(), .confirm_overlap = true, .give_up = true})
          .ok());
  faults_.plan.Arm("GiveUp", ErrorCode::kUnavailable);
  clock_.Advance(500ms);
  cancels.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kRunning);
  EXPECT_TRUE(leases_.Knows(held.key));
  clock_.Advance(500ms);
  cancels.Step(clock_.Steady());
  EXPECT_EQ(Row(held.key).state, RunState::kCancelled);
  EXPECT_FALSE(leases_.Knows(held.key));
  const auto told = events_.PopUpTo(10);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].events.at(0).what, RunEvent::What::kEnded);
}

}  // namespace
}  // namespace carillon::scheduler
