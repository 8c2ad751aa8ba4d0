#include "scheduler/liveness/host_breaker.h"

#include <gtest/gtest.h>

namespace carillon::scheduler::host_breaker_test {
namespace {

constexpr SteadyTime kStart{1000s};

class HostBreakerTest : public testing::Test {
 protected:
  void Ends(int count, bool fault, uint64_t jobs = 3) {
    for (int i = 0; i < count; ++i) breaker_.Note(JobNo(++made_ % jobs), fault, now_);
  }
  bool Takes() const { return !breaker_.Pauses(now_); }

  HostBreaker breaker_;
  SteadyTime now_ = kStart;
  uint64_t made_ = 0;
};

TEST_F(HostBreakerTest, HalfOfTheLastTenPauseIt) {
  Ends(4, true);
  EXPECT_TRUE(Takes());
  Ends(6, false);
  Ends(1, true);  // the first of the four is forgotten
  EXPECT_TRUE(Takes());
  Ends(4, true);
  EXPECT_FALSE(Takes());
  EXPECT_EQ(breaker_.pause(), Duration(30s));
}

TEST_F(HostBreakerTest, OneJobAloneDoesNot) {
  Ends(100, true, 1);
  EXPECT_TRUE(Takes());
  breaker_.Note(JobNo(77), true, now_);
  EXPECT_FALSE(Takes());
}

TEST_F(HostBreakerTest, AfterThePauseASuccessEndsIt) {
  Ends(5, true);
  Ends(5, false);  // begun before
  EXPECT_FALSE(Takes());
  now_ += 30s;
  EXPECT_TRUE(Takes());
  EXPECT_TRUE(breaker_.Probes(now_));
  Ends(1, false);
  EXPECT_FALSE(breaker_.Probes(now_));
  Ends(4, true);
  EXPECT_TRUE(Takes()) << "it counts anew";
}

TEST_F(HostBreakerTest, FailedProbesDoubleThePauseUpToTenMinutes) {
  Ends(5, true);
  Duration expected = 30s;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(breaker_.pause(), expected);
    now_ = breaker_.until();
    Ends(1, true);
    EXPECT_FALSE(Takes());
    expected = std::min<Duration>(expected * 2, 600s);
  }
  EXPECT_EQ(breaker_.pause(), Duration(600s));
  breaker_.Reset();
  EXPECT_TRUE(Takes());
  EXPECT_FALSE(breaker_.Probes(now_));
}

}  // namespace
}  // namespace carillon::scheduler::host_breaker_test
