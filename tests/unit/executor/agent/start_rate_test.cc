#include "executor/agent/start_rate.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

TEST(StartRateTest, NoWindowHasMoreThanTheRateAndTheBurst) {
  StartRate rate(50);
  std::vector<SteadyTime> starts;
  for (SteadyTime now{100s}; now < SteadyTime(110s); now += 1ms) {
    while (rate.Take(now)) starts.push_back(now);
    EXPECT_GT(rate.Next(), now);
  }
  EXPECT_NEAR(static_cast<double>(starts.size()), 505, 2);
  for (size_t i = 0; i < starts.size(); ++i) {
    for (size_t j = i; j < starts.size(); ++j) {
      const double seconds =
          std::chrono::duration<double>(starts[j] - starts[i] + StartRate::kBurst).count();
      ASSERT_LE(static_cast<double>(j - i + 1), 50 * seconds + 1.5);
    }
  }
}

TEST(StartRateTest, UnusedTimeIsNotSaved) {
  StartRate rate(10);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(rate.Take(SteadyTime(1s)));
  ASSERT_FALSE(rate.Take(SteadyTime(1s)));
  int starts = 0;
  while (rate.Take(SteadyTime(100s))) ++starts;
  EXPECT_EQ(starts, 2);
}

TEST(StartRateTest, ZeroIsNoLimit) {
  StartRate rate(0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(rate.Take(SteadyTime(1s)));
  rate.Set(1);
  EXPECT_TRUE(rate.Take(SteadyTime(1s)));
  EXPECT_FALSE(rate.Take(SteadyTime(1s)));
}

}  // namespace
}  // namespace carillon::executor
