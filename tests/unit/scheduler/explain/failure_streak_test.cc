#include "scheduler/explain/failure_streak.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

using scheduler::FailureStreak;
using scheduler::Reaches;
using scheduler::StreakOf;

constexpr WallTime kStart = WallTime{} + 1'000h;

// Runs of these states, the newest first; each ends 10 s after its fire.
std::vector<RunSummary> Runs(std::initializer_list<RunState> states) {
  std::vector<RunSummary> runs;
  WallTime fire = kStart;
  for (const RunState state : states) {
    runs.push_back({.key = {fire, ScheduleId(1), 0}, .state = state, .ended = fire + 10s});
    fire -= 1min;
  }
  return runs;
}

TEST(FailureStreakTest, CountsFromTheNewestToTheLastSuccess) {
  const FailureStreak streak =
      StreakOf(Runs({RunState::kFailed, RunState::kTimedOut, RunState::kLost, RunState::kCompleted,
                     RunState::kFailed}),
               Reaches::kPart);
  EXPECT_EQ(streak.failures, 3);
  EXPECT_TRUE(streak.settled());
  EXPECT_EQ(streak.last.key.fire, kStart);
  EXPECT_EQ(streak.since, kStart - 2min + 10s);
  ASSERT_TRUE(streak.last_success);
  EXPECT_EQ(streak.last_success->key.fire, kStart - 3min);
}

TEST(FailureStreakTest, ASuccessEndsIt) {
  const FailureStreak streak =
      StreakOf(Runs({RunState::kCompleted, RunState::kFailed}), Reaches::kPart);
  EXPECT_EQ(streak.failures, 0);
  EXPECT_TRUE(streak.settled());
}

TEST(FailureStreakTest, WhatIsOpenCancelledOrSkippedCountsNeitherWay) {
  const FailureStreak streak =
      StreakOf(Runs({RunState::kPending, RunState::kRunning, RunState::kHeld, RunState::kSkipped,
                     RunState::kFailed, RunState::kCancelled, RunState::kFailed}),
               Reaches::kAll);
  EXPECT_EQ(streak.failures, 2);
  EXPECT_EQ(streak.last.key.fire, kStart - 4min);
  EXPECT_EQ(streak.since, kStart - 6min + 10s);
}

TEST(FailureStreakTest, WithoutASuccessOnlyTheWholeHistorySettlesIt) {
  const auto runs = Runs({RunState::kFailed, RunState::kFailed});
  EXPECT_FALSE(StreakOf(runs, Reaches::kPart).settled());
  const FailureStreak whole = StreakOf(runs, Reaches::kAll);
  EXPECT_TRUE(whole.settled());
  EXPECT_EQ(whole.failures, 2);
  EXPECT_FALSE(whole.last_success);
  EXPECT_FALSE(StreakOf(Runs({RunState::kRunning}), Reaches::kPart).settled());
  EXPECT_TRUE(StreakOf({}, Reaches::kAll).settled());
}

}  // namespace
}  // namespace carillon::test
