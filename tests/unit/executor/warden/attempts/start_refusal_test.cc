#include "executor/warden/attempts/start_refusal.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

SteadyTime SinceBoot(Duration d) { return SteadyTime(d); }

RunState StateOf(const std::optional<StartRefusal>& refusal) {
  return refusal ? refusal->state : RunState::kPending;
}

TEST(StartRefusalTest, AtMostSoManyProcesses) {
  EXPECT_EQ(RefusalAtArrival({.running = kRunningMax - 1}), std::nullopt);
  const auto refusal = RefusalAtArrival({.running = kRunningMax});
  EXPECT_EQ(StateOf(refusal), RunState::kFailed);
  EXPECT_EQ(refusal->reason, reason::kHost);
}

// The attempt may have had an effect, so it must not count as one that failed to start.
TEST(StartRefusalTest, AttemptThatRanUnderAnotherClaimIsLostHoweverManyRun) {
  EXPECT_EQ(StateOf(RefusalAtArrival({.ran_before = true})), RunState::kLost);
  EXPECT_EQ(StateOf(RefusalAtArrival({.ran_before = true, .running = kRunningMax})),
            RunState::kLost);
}

TEST(StartRefusalTest, StartsUntilTheMarginOfItsLease) {
  const DueStart start{.lease_end = SinceBoot(20s)};
  EXPECT_EQ(RefusalWhenDue(start, SinceBoot(17s) - 1us), std::nullopt);
  const auto refusal = RefusalWhenDue(start, SinceBoot(17s));
  EXPECT_EQ(StateOf(refusal), RunState::kLost);
  EXPECT_EQ(refusal->reason, reason::kNotStarted);
}

// The user cancelled the attempt, so it must not be retried like a lost one.
TEST(StartRefusalTest, CancelledOneEndsAsCancelledEvenAfterItsLease) {
  const DueStart start{.cancelled = true, .lease_end = SinceBoot(20s)};
  EXPECT_EQ(StateOf(RefusalWhenDue(start, SinceBoot(1s))), RunState::kCancelled);
  EXPECT_EQ(StateOf(RefusalWhenDue(start, SinceBoot(99s))), RunState::kCancelled);
}

TEST(StartRefusalTest, WardenThatStopsStartsNothing) {
  const auto refusal =
      RefusalWhenDue({.warden_stops = true, .lease_end = SinceBoot(20s)}, SinceBoot(1s));
  EXPECT_EQ(StateOf(refusal), RunState::kLost);
  EXPECT_EQ(refusal->reason, reason::kNotStarted);
}

}  // namespace
}  // namespace carillon::executor
