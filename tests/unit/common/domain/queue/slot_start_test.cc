#include "common/domain/queue/slot_start.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

constexpr WallTime kSlotNow = FromUnixMicros(1'000'000'000);

WallTime StartOf(RunState from, WallTime told) {
  return StartInSlot(from, {.started = told}, kSlotNow);
}

TEST(SlotStartTest, IsTheStartThatTheHostTells) {
  EXPECT_EQ(StartOf(RunState::kRunning, kSlotNow - 1s), kSlotNow - 1s);
  EXPECT_EQ(StartOf(RunState::kHeld, kSlotNow - 1h), kSlotNow - 1h);
}

TEST(SlotStartTest, IsNeverLaterThanNow) {
  EXPECT_EQ(StartOf(RunState::kRunning, kSlotNow + 1h), kSlotNow);
}

TEST(SlotStartTest, IsZeroWithoutAProcessInTheSlot) {
  EXPECT_EQ(StartOf(RunState::kRunning, WallTime{}), WallTime{});
  // Its slot was only reserved, or is another attempt's by now.
  EXPECT_EQ(StartOf(RunState::kPending, kSlotNow - 1s), WallTime{});
  EXPECT_EQ(StartOf(RunState::kLost, kSlotNow - 1s), WallTime{});
}

}  // namespace
}  // namespace carillon
