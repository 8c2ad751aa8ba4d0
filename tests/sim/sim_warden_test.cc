#include "tests/sim/sim_warden.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace carillon::sim {
namespace {

class NoObserver final : public WardenObserver {
 public:
  void ProcessStarted(const ExecutorId&, const StartAttempt&) override {}
  void AttemptEndedOnDisk(const ExecutorId&, const AttemptEnded&) override {}
  void LeasesRenewed(const ExecutorId&, size_t, Duration) override {}
};

class SimWardenTest : public ::testing::Test {
 protected:
  StartAttempt LongRun() const {
    StartAttempt start;
    start.attempt.key = RunKey{.fire = WallTime{} + 1s, .schedule_id = ScheduleId(1)};
    start.command = "ms=100000 term=-1";
    start.timeout = 10s;
    start.kill_grace = 60s;
    start.lease_end = host_clock_.Steady() + 20s;
    start.kill_at_lease_end = true;
    return start;
  }
  // Checks at every moment but, like the world, calls Step() only when the warden's next
  // step is due.
  void RunFor(Duration wait) {
    const SteadyTime end = host_clock_.Steady() + wait;
    while (host_clock_.Steady() < end) {
      if (host_.NextStep() <= host_clock_.Steady()) host_.Step();
      clock_.Advance(7ms);
    }
  }

  test::ManualClock clock_;
  HostClock host_clock_{clock_, 100s, 0s};
  NoObserver observer_;
  SimWardenHost host_{{ExecutorId("e1"), host_clock_, observer_}};
  std::unique_ptr<Warden> warden_ = host_.Connect();
};

TEST_F(SimWardenTest, ProcessInItsGraceDiesAtTheEndOfItsLease) {
  ASSERT_TRUE(warden_->Start(LongRun()).ok());
  RunFor(16s);
  EXPECT_EQ(host_.alive(), 1u);
  RunFor(1500ms);
  EXPECT_EQ(host_.alive(), 0u);
}

TEST_F(SimWardenTest, KillCutsAGraceShort) {
  const StartAttempt start = LongRun();
  ASSERT_TRUE(warden_->Start(start).ok());
  RunFor(1s);
  ASSERT_TRUE(warden_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  RunFor(5s);
  EXPECT_EQ(host_.alive(), 1u);
  ASSERT_TRUE(warden_->Cancel(start.attempt, CancelMode::kKill).ok());
  RunFor(1s);
  EXPECT_EQ(host_.alive(), 0u);
}

TEST_F(SimWardenTest, KillNeedsNoGraceBefore) {
  const StartAttempt start = LongRun();
  ASSERT_TRUE(warden_->Start(start).ok());
  RunFor(1s);
  ASSERT_TRUE(warden_->Cancel(start.attempt, CancelMode::kKill).ok());
  RunFor(1s);
  EXPECT_EQ(host_.alive(), 0u);
}

TEST_F(SimWardenTest, LeaseThatEndsInAPauseIsEnforcedRightAfterIt) {
  StartAttempt start = LongRun();
  start.timeout = 600s;
  ASSERT_TRUE(warden_->Start(start).ok());
  RunFor(16s);
  host_.Pause(2s);
  RunFor(1900ms);
  EXPECT_EQ(host_.alive(), 1u);
  RunFor(400ms);
  EXPECT_EQ(host_.alive(), 0u);
}

TEST_F(SimWardenTest, PausesDoNotAddUpBeyondTheMargin) {
  host_.Pause(2s);
  RunFor(1900ms);
  host_.Pause(2s);
  ASSERT_TRUE(warden_->Start(LongRun()).ok());
  RunFor(300ms);
  EXPECT_EQ(host_.alive(), 1u);
}

}  // namespace
}  // namespace carillon::sim
