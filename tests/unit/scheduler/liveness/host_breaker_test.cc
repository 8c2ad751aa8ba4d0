#include "scheduler/liveness/host_breaker.h"

#include <gtest/gtest.h>

namespace carillon::scheduler::host_breaker_test {
namespace {

using enum HostWord;
constexpr SteadyTime kStart{1000s};

class HostBreakerTest : public testing::Test {
 protected:
  void Ends(int count, HostWord word, uint64_t jobs = 3) {
    for (int i = 0; i < count; ++i) breaker_.Note(JobNo(++made_ % jobs), word, now_);
  }
  bool Takes() const { return !breaker_.Pauses(now_); }

  HostBreaker breaker_;
  SteadyTime now_ = kStart;
  uint64_t made_ = 0;
};

TEST_F(HostBreakerTest, HalfOfTheLastTenPauseIt) {
  Ends(4, kFault);
  EXPECT_TRUE(Takes());
  Ends(6, kWorks);
  Ends(1, kFault);  // the first of the four is forgotten
  EXPECT_TRUE(Takes());
  Ends(4, kFault);
  EXPECT_FALSE(Takes());
  EXPECT_EQ(breaker_.pause(), Duration(30s));
}

TEST_F(HostBreakerTest, OneJobAloneDoesNot) {
  Ends(100, kFault, 1);
  EXPECT_TRUE(Takes());
  breaker_.Note(JobNo(77), kFault, now_);
  EXPECT_FALSE(Takes());
}

TEST_F(HostBreakerTest, AfterThePauseASuccessEndsIt) {
  Ends(5, kFault);
  Ends(5, kWorks);  // begun before
  EXPECT_FALSE(Takes());
  now_ += 30s;
  EXPECT_TRUE(Takes());
  EXPECT_TRUE(breaker_.Probes(now_));
  Ends(1, kWorks);
  EXPECT_FALSE(breaker_.Probes(now_));
  Ends(4, kFault);
  EXPECT_TRUE(Takes()) << "it counts anew";
}

// Else two jobs that nobody can start would close every executor, and be its probes.
TEST_F(HostBreakerTest, AttemptsThatFailBecauseOfTheirJobsSayNothing) {
  Ends(100, kNothing);
  EXPECT_TRUE(Takes());
  Ends(4, kFault);
  Ends(100, kNothing);
  Ends(1, kFault);
  EXPECT_FALSE(Takes());
  now_ += 30s;
  Ends(5, kNothing);
  EXPECT_TRUE(breaker_.Probes(now_)) << "neither works nor fails";
  Ends(1, kWorks);
  EXPECT_FALSE(breaker_.Probes(now_));
}

TEST_F(HostBreakerTest, FailedProbesDoubleThePauseUpToTenMinutes) {
  Ends(5, kFault);
  Duration expected = 30s;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(breaker_.pause(), expected);
    now_ = breaker_.until();
    Ends(1, kFault);
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
