#include "scheduler/liveness/fleet_pace.h"

#include <gtest/gtest.h>

namespace carillon::scheduler {
namespace {

Duration Quiet(size_t executors, Duration heartbeat = 2s) {
  return QuietHeartbeat(executors, heartbeat, kQuietEach);
}

TEST(FleetPaceTest, SmallFleetsBeatAsAlways) {
  EXPECT_EQ(Quiet(0), 2s);
  EXPECT_EQ(Quiet(1'400), 2s);
  EXPECT_EQ(Quiet(1, 500ms), 500ms);
  EXPECT_EQ(Quiet(300, 500ms), 500ms);
}

TEST(FleetPaceTest, LargeFleetsBeatSevenHundredTimesASecond) {
  EXPECT_EQ(Quiet(1'401), 3s);
  EXPECT_EQ(Quiet(5'000), 8s);
  EXPECT_EQ(Quiet(10'000), 15s);
  EXPECT_EQ(Quiet(1'000'000), 15s) << "the longest";
  EXPECT_EQ(Quiet(1'000'000, 30s), 30s) << "as a person wants it";
  EXPECT_EQ(Quiet(400, 500ms), 1s);
}

TEST(FleetPaceTest, ChangedIntervalIsToldSeldomAndNotToAllAtOnce) {
  const SteadyTime start{1000s};
  PaceTelling telling(2s);
  EXPECT_FALSE(telling.Begins(3s, start)) << "not worth it";
  EXPECT_TRUE(telling.Begins(4s, start));
  EXPECT_EQ(telling.Due(1000, start), 0u);
  EXPECT_EQ(telling.Due(1000, start + 500ms), 50u);
  EXPECT_EQ(telling.Due(7, start + 500ms), 0u);
  EXPECT_EQ(telling.Due(1000, start + 10s), 1000u);
  EXPECT_EQ(telling.Due(1000, start + 1h), 1000u);
  EXPECT_FALSE(telling.Begins(15s, start + 30s - 1us));
  EXPECT_TRUE(telling.Begins(15s, start + 30s));
  EXPECT_FALSE(telling.Begins(15s, start + 2min)) << "they know";
  EXPECT_TRUE(telling.Begins(2s, start + 3min)) << "most have gone";
}

}  // namespace
}  // namespace carillon::scheduler
