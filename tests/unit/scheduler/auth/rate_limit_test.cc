#include "scheduler/auth/rate_limit.h"

#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace carillon::scheduler {
namespace {

class RateLimitTest : public ::testing::Test {
 protected:
  // Tries `tries` times at this moment, and returns the number of admitted tries.
  int Admitted(RateLimit& limit, const std::string& who, int tries) {
    int admitted = 0;
    for (int i = 0; i < tries; ++i) admitted += limit.Admit(who, clock_.Steady()) ? 0 : 1;
    return admitted;
  }
  test::ManualClock clock_;
};

TEST_F(RateLimitTest, LetsABurstThroughAndThenItsRate) {
  RateLimit limit(10);
  EXPECT_EQ(Admitted(limit, "anna", 1'000), 50);
  EXPECT_EQ(limit.Admit("anna", clock_.Steady()), 100ms);
  clock_.Advance(100ms - 1us);
  EXPECT_EQ(limit.Admit("anna", clock_.Steady()), 1us);
  clock_.Advance(1us);
  EXPECT_EQ(Admitted(limit, "anna", 10), 1);
  int admitted = 0;
  for (int i = 0; i < 1'000; ++i) {
    clock_.Advance(10ms);
    admitted += Admitted(limit, "anna", 3);
  }
  EXPECT_EQ(admitted, 100);
}

TEST_F(RateLimitTest, RefusalsCostNothing) {
  RateLimit limit(1);
  Admitted(limit, "anna", 10'000);
  clock_.Advance(1s);
  EXPECT_EQ(Admitted(limit, "anna", 1), 1);
}

TEST_F(RateLimitTest, RestGivesBackTheBurstAndNoMore) {
  RateLimit limit(10);
  Admitted(limit, "anna", 50);
  clock_.Advance(24h);
  EXPECT_EQ(Admitted(limit, "anna", 1'000), 50);
}

TEST_F(RateLimitTest, EachHasHisOwn) {
  RateLimit limit(2);
  EXPECT_EQ(Admitted(limit, "anna", 100), 10);
  EXPECT_EQ(Admitted(limit, "bert", 100), 10);
}

TEST_F(RateLimitTest, ManyNamesShareWhatIsLeftAndTakeNothingFromThoseKnown) {
  RateLimit limit(1);
  EXPECT_EQ(Admitted(limit, "anna", 2), 2);
  int admitted = 0;
  for (size_t i = 0; i < 3 * RateLimit::kTrackedMax; ++i) {
    admitted += Admitted(limit, std::to_string(i), 1);
  }
  EXPECT_EQ(admitted, static_cast<int>(RateLimit::kTrackedMax) - 1 + 5);
  EXPECT_EQ(Admitted(limit, "anna", 100), 3);
  clock_.Advance(RateLimit::kBurst);
  EXPECT_EQ(Admitted(limit, "somebody new", 100), 5);
}

TEST_F(RateLimitTest, ZeroIsNoLimit) {
  RateLimit limit(0);
  EXPECT_EQ(Admitted(limit, "anna", 10'000), 10'000);
}

}  // namespace
}  // namespace carillon::scheduler
