#include "executor/agent/warden_watch.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

SteadyTime OnClock(Duration d) { return SteadyTime(d); }

const Status kResponds;
const Status kAway{ErrorCode::kUnavailable, "no warden"};

TEST(WardenWatchTest, IsPatientWithAWardenThatRestarts) {
  WardenWatch watch;
  watch.Observe(kResponds, OnClock(10s));
  watch.Observe(kAway, OnClock(12s) - 1us);
  EXPECT_EQ(watch.trouble(), "");
  watch.Observe(kAway, OnClock(12s));
  EXPECT_EQ(watch.trouble(), "no warden");
  watch.Observe({ErrorCode::kUnavailable, "refused"}, OnClock(12s) + 1us);
  EXPECT_EQ(watch.trouble(), "refused");
  watch.Observe(kResponds, OnClock(13s));
  EXPECT_EQ(watch.trouble(), "");
}

TEST(WardenWatchTest, CountsFromTheLastResponse) {
  WardenWatch watch;
  EXPECT_EQ(watch.Away(OnClock(5s)), Duration::zero());
  watch.Observe(kAway, OnClock(10s));  // at the first check the warden may still be starting
  EXPECT_EQ(watch.Away(OnClock(11s)), 1s);
  watch.Observe(kResponds, OnClock(12s));
  watch.Observe(kAway, OnClock(15s));
  EXPECT_EQ(watch.Away(OnClock(15s)), 3s);
}

TEST(WardenWatchTest, FullDiskIsNoTroubleOfTheWarden) {
  WardenWatch watch;
  watch.Observe(kResponds, OnClock(10s));
  watch.Observe({ErrorCode::kExhausted, "no space left"}, OnClock(20s));
  EXPECT_EQ(watch.trouble(), "");
  EXPECT_EQ(watch.Away(OnClock(20s)), Duration::zero());
}

}  // namespace
}  // namespace carillon::executor
