#include "scheduler/handover/cluster_clock.h"

#include <gtest/gtest.h>

#include "scheduler/wheel/wheel_loop.h"
#include "tests/support/manual_clock.h"

namespace carillon::scheduler {
namespace {

class ClusterClockTest : public ::testing::Test {
 protected:
  // Takes a sample of the database's clock, which is read `there` after the query was sent; the
  // answer arrives `back` later.
  void Sample(Duration there, Duration back) {
    const SteadyTime sent = host_.Steady();
    host_.Advance(there);
    const WallTime answer = Database();
    host_.Advance(back);
    cluster_.AddSample(sent, host_.Steady(), answer);
  }
  WallTime Database() const { return host_.Wall() + ahead_; }

  test::ManualClock host_;
  Duration ahead_ = 300ms;
  ClusterClock cluster_{host_};
};

TEST_F(ClusterClockTest, UnknownBeforeTheFirstSample) {
  EXPECT_FALSE(cluster_.Now().has_value());
  EXPECT_TRUE(cluster_.needs_sample());
}

TEST_F(ClusterClockTest, NeverRunsAheadOfTheDatabase) {
  Sample(40ms, 3ms);
  EXPECT_EQ(*cluster_.Now(), Database() - 3ms);
  Sample(1ms, 50ms);
  EXPECT_EQ(*cluster_.Now(), Database() - 3ms);
  Sample(5ms, 1ms);
  EXPECT_EQ(*cluster_.Now(), Database() - 1ms);
}

TEST_F(ClusterClockTest, ToSteadyIsTheInverseOfNow) {
  Sample(1ms, 1ms);
  const auto at = cluster_.ToSteady(*cluster_.Now() + 10s);
  EXPECT_EQ(*at, host_.Steady() + 10s);
  EXPECT_EQ(*cluster_.ToSteady(kNever), SteadyTime::max());
}

TEST_F(ClusterClockTest, OffsetComesFromTheShortestRoundTrip) {
  Sample(30ms, 0ms);
  Sample(1ms, 1ms);
  EXPECT_EQ(*cluster_.Offset(), -ahead_);
}

TEST_F(ClusterClockTest, SlowAnswersCountOnlyWhileThereIsNoBetterOne) {
  Sample(2s, 1s);
  EXPECT_EQ(*cluster_.Now(), Database() - 1s);
  Sample(1ms, 1ms);
  Sample(2s, 0ms);
  EXPECT_EQ(*cluster_.Now(), Database() - 1ms);
}

TEST_F(ClusterClockTest, HostSetBackIsNotTrustedUntilTheNextSample) {
  Sample(0ms, 0ms);
  const WallTime before = *cluster_.Now();
  host_.StepWall(-1h);  // as if the database ran on this host
  EXPECT_TRUE(cluster_.needs_sample());
  EXPECT_EQ(*cluster_.Now(), before - 1h);
  EXPECT_FALSE(cluster_.SettledNow());
  Sample(0ms, 0ms);
  EXPECT_FALSE(cluster_.needs_sample());
  EXPECT_EQ(*cluster_.Now(), Database());
  EXPECT_EQ(*cluster_.SettledNow(), Database());
}

TEST_F(ClusterClockTest, HostSetForwardWithoutItsDatabaseChangesNothing) {
  Sample(0ms, 0ms);
  host_.StepWall(1h);
  ahead_ -= 1h;
  EXPECT_EQ(*cluster_.Now(), Database());
  Sample(0ms, 0ms);
  EXPECT_EQ(*cluster_.Now(), Database());
  EXPECT_EQ(*cluster_.Offset(), 1h - 300ms);
}

TEST_F(ClusterClockTest, DatabaseSetBackIsFollowedAtOnce) {
  Sample(1ms, 0ms);
  ahead_ -= 10s;
  Sample(1ms, 0ms);
  EXPECT_EQ(*cluster_.Now(), Database());
}

TEST_F(ClusterClockTest, WheelKeepsARunBackWhoseTimeWasPutOff) {
  Sample(0ms, 0ms);
  WheelLoop wheel(cluster_, host_.Steady(), 10);
  const RunKey key{.fire = *cluster_.Now() + 1s, .schedule_id = ScheduleId(1)};
  ASSERT_TRUE(wheel.Insert(key, key.fire).ok());
  const auto due_of = [&](const RunKey& asked) { return asked.fire; };
  ahead_ -= 500ms;
  Sample(0ms, 0ms);
  host_.Advance(1001ms);
  EXPECT_TRUE(wheel.Drain(host_.Steady(), 10, due_of).empty());
  host_.Advance(500ms);
  EXPECT_EQ(wheel.Drain(host_.Steady(), 10, due_of).size(), 1u);
}

}  // namespace
}  // namespace carillon::scheduler
