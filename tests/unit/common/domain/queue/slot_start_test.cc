#include "common/domain/queue/slot_start.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

constexpr WallTime kNow = FromUnixMicros(1'000'000'000);

WallTime StartOf(RunState from, WallTime told) {
  return StartInSlot(from, {.started = told}, kNow);
}

TEST(SlotStartTest, IsTheStartThatTheHostTells) {
  EXPECT_EQ(StartOf(RunState::kRunning, kNow - 1s), kNow - 1s);
  EXPECT_EQ(StartOf(RunState::kHeld, kNow - 1h), kNow - 1h);
}

TEST(SlotStartTest, IsNeverLaterThanNow) {
  EXPECT_EQ(StartOf(RunState::kRunning, kNow + 1h), kNow);
}

TEST(SlotStartTest, IsZeroWithoutAProcessInTheSlot) {
  EXPECT_EQ(StartOf(RunState::kRunning, WallTime{}), WallTime{});
  // Its slot was only reserved, or is another attempt's by now.
  EXPECT_EQ(StartOf(RunState::kPending, kNow - 1s), WallTime{});
  EXPECT_EQ(StartOf(RunState::kLost, kNow - 1s), WallTime{});
}

}  // namespace
}  // namespace carillon
