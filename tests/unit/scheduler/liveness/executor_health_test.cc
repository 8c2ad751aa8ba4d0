#include "scheduler/liveness/executor_health.h"

#include <gtest/gtest.h>

#include "tests/support/failpoint_on.h"

namespace carillon::scheduler {
namespace {

constexpr HealthRules kRules;

ExecutorState Silent(Duration silence, Duration next_in = {}) {
  return HealthOf({.silence = silence, .next_in = next_in}, kRules);
}

TEST(ExecutorHealthTest, UnhealthyAfterThreeMissedBeatsLostAfterTenSeconds) {
  // Announced by nobody, by an executor of a small fleet, and by one that holds something.
  for (const Duration next_in : {0s, 1s, 2s}) {
    EXPECT_EQ(Silent(6s, next_in), ExecutorState::kOnline);
    EXPECT_EQ(Silent(6s + 1us, next_in), ExecutorState::kUnhealthy);
    EXPECT_EQ(Silent(10s - 1us, next_in), ExecutorState::kUnhealthy);
    EXPECT_EQ(Silent(10s, next_in), ExecutorState::kLost);
  }
}

TEST(ExecutorHealthTest, SilenceThatWasAnnouncedIsNoFault) {
  EXPECT_EQ(Silent(17s, 15s), ExecutorState::kOnline);
  EXPECT_EQ(Silent(17s + 1us, 15s), ExecutorState::kUnhealthy);
  EXPECT_EQ(Silent(34s - 1us, 15s), ExecutorState::kUnhealthy);
  EXPECT_EQ(Silent(34s, 15s), ExecutorState::kLost);
  EXPECT_EQ(Silent(6s, 3s), ExecutorState::kOnline);
  EXPECT_EQ(Silent(10s, 3s), ExecutorState::kLost) << "2 x 3 s + 4 s";
  EXPECT_EQ(Silent(34s, 1h), ExecutorState::kLost) << "nobody may be silent for an hour";
}

TEST(ExecutorHealthTest, EndOfTheStreamEndsWhatWasAnnounced) {
  const auto ended = [](Duration since, Duration next_in) {
    return HealthOf({.silence = since + 1s, .next_in = next_in, .ended = since}, kRules);
  };
  EXPECT_EQ(ended(6s, 15s), ExecutorState::kOnline);
  EXPECT_EQ(ended(6s + 1us, 15s), ExecutorState::kUnhealthy) << "it cannot claim";
  EXPECT_EQ(ended(19s - 1us, 15s), ExecutorState::kUnhealthy);
  EXPECT_EQ(ended(19s, 15s), ExecutorState::kLost);
  EXPECT_EQ(ended(9s, 2s), ExecutorState::kLost) << "by its silence, as always";
}

TEST(ExecutorHealthTest, AnotherProcessWaitsForTheAnnouncedTime) {
  EXPECT_EQ(ReplacedAfter(0s, 6s, kRules), 6s);
  EXPECT_EQ(ReplacedAfter(2s, 6s, kRules), 6s);
  EXPECT_EQ(ReplacedAfter(15s, 6s, kRules), 17s);
  EXPECT_EQ(ReplacedAfter(15s, 20s, kRules), 20s);
}

TEST(ExecutorHealthTest, BrokenRulesForgetWhatWasAnnounced) {
  failpoint::Break("quiet.silence_fixed");
  EXPECT_EQ(Silent(10s, 15s), ExecutorState::kLost);
  failpoint::Reset();
  EXPECT_EQ(Silent(10s, 15s), ExecutorState::kOnline);
  failpoint::Break("quiet.admit_fixed");
  EXPECT_EQ(ReplacedAfter(15s, 6s, kRules), 6s);
  failpoint::Reset();
}

}  // namespace
}  // namespace carillon::scheduler
