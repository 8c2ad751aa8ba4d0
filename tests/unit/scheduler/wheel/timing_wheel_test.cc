#include "scheduler/wheel/timing_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/base/rng.h"

namespace carillon::scheduler {
namespace {

constexpr SteadyTime kWheelStart{1000s};

RunKey Key(uint64_t n) { return {.fire = WallTime(1s), .schedule_id = ScheduleId(n)}; }

std::vector<uint64_t> Numbers(const std::vector<TimingWheel::Due>& due) {
  std::vector<uint64_t> numbers;
  for (const auto& entry : due) numbers.push_back(entry.key.schedule_id.value());
  return numbers;
}

TEST(TimingWheelTest, FiresEntryAtItsTickNotBefore) {
  TimingWheel wheel(kWheelStart, 10);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 5ms).ok());
  EXPECT_TRUE(wheel.Advance(kWheelStart + 5ms - 1us).empty());
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 5ms)), std::vector<uint64_t>{1});
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(TimingWheelTest, TimeInsideATickIsNotRoundedDown) {
  TimingWheel wheel(kWheelStart, 10);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 5ms + 1us).ok());
  EXPECT_TRUE(wheel.Advance(kWheelStart + 5ms + 1us).empty());
  EXPECT_EQ(wheel.Advance(kWheelStart + 6ms).size(), 1u);
}

TEST(TimingWheelTest, PastTimeIsDueAtTheNextTick) {
  TimingWheel wheel(kWheelStart, 10);
  wheel.Advance(kWheelStart + 1s);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart).ok());
  EXPECT_EQ(wheel.Advance(kWheelStart + 1s + 1ms).size(), 1u);
}

TEST(TimingWheelTest, HandsBackByTime) {
  TimingWheel wheel(kWheelStart, 10);
  ASSERT_TRUE(wheel.Insert(Key(3), kWheelStart + 30ms).ok());
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 10ms).ok());
  ASSERT_TRUE(wheel.Insert(Key(2), kWheelStart + 20ms).ok());
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 1s)), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(TimingWheelTest, EntryBeyondARevolutionWaitsForItsOwn) {
  TimingWheel wheel(kWheelStart, 10, 64);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 10ms).ok());
  ASSERT_TRUE(wheel.Insert(Key(2), kWheelStart + 74ms).ok());  // the same bucket
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 20ms)), std::vector<uint64_t>{1});
  EXPECT_TRUE(wheel.Advance(kWheelStart + 73ms).empty());
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 74ms)), std::vector<uint64_t>{2});
}

TEST(TimingWheelTest, JumpOfHoursHandsBackEverythingDue) {
  TimingWheel wheel(kWheelStart, 10);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 1ms).ok());
  ASSERT_TRUE(wheel.Insert(Key(2), kWheelStart + 2h).ok());
  ASSERT_TRUE(wheel.Insert(Key(3), kWheelStart + 30h).ok());
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 5h)), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(wheel.size(), 1u);
}

TEST(TimingWheelTest, DuplicateIsLeftWhereItIs) {
  TimingWheel wheel(kWheelStart, 10);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 10ms).ok());
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 90ms).ok());
  EXPECT_EQ(wheel.Advance(kWheelStart + 10ms).size(), 1u);
  EXPECT_TRUE(wheel.Advance(kWheelStart + 1s).empty());
}

TEST(TimingWheelTest, ErasedEntryNeverComes) {
  TimingWheel wheel(kWheelStart, 10);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 10ms).ok());
  EXPECT_TRUE(wheel.Erase(Key(1)));
  EXPECT_FALSE(wheel.Erase(Key(1)));
  EXPECT_TRUE(wheel.Advance(kWheelStart + 1s).empty());
  EXPECT_FALSE(wheel.NextDue().has_value());
}

TEST(TimingWheelTest, RefusesAboveItsCapacity) {
  TimingWheel wheel(kWheelStart, 2);
  ASSERT_TRUE(wheel.Insert(Key(1), kWheelStart + 1ms).ok());
  ASSERT_TRUE(wheel.Insert(Key(2), kWheelStart + 1ms).ok());
  EXPECT_EQ(wheel.Insert(Key(3), kWheelStart + 1ms).code(), ErrorCode::kExhausted);
  EXPECT_TRUE(wheel.Insert(Key(2), kWheelStart + 1ms).ok());
}

TEST(TimingWheelTest, WhatALimitLeavesComesNextAndCanBeErased) {
  TimingWheel wheel(kWheelStart, 10);
  for (uint64_t n = 1; n <= 5; ++n) {
    ASSERT_TRUE(wheel.Insert(Key(n), kWheelStart + Duration(1ms) * static_cast<int>(n)).ok());
  }
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 1s, 2)), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(wheel.Erase(Key(4)));
  EXPECT_LE(*wheel.NextDue(), kWheelStart + 1s);
  EXPECT_EQ(Numbers(wheel.Advance(kWheelStart + 1s)), (std::vector<uint64_t>{3, 5}));
}

// Compares the wheel with a sorted map, for fires from milliseconds to hours ahead and for steps of
// any length.
TEST(TimingWheelTest, AgreesWithASortedMap) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TimingWheel wheel(kWheelStart, 400, 64);
    std::map<uint64_t, SteadyTime> model;
    SteadyTime now = kWheelStart;
    for (int step = 0; step < 2000; ++step) {
      const uint64_t n = rng.Below(500);
      const uint64_t choice = rng.Below(10);
      if (choice < 6) {
        const auto ahead = Duration(rng.Below(uint64_t{1} << (4 + rng.Below(28))));
        const bool inserted = wheel.Insert(Key(n), now + ahead).ok();
        ASSERT_EQ(inserted, model.count(n) > 0 || model.size() < 400);
        if (inserted) model.try_emplace(n, now + ahead);
      } else if (choice < 7) {
        ASSERT_EQ(wheel.Erase(Key(n)), model.erase(n) > 0);
      } else {
        now += Duration(rng.Below(uint64_t{1} << (4 + rng.Below(26))));
        if (const auto next = wheel.NextDue()) {
          for (const auto& [key, due] : model) ASSERT_LE(*next - kWheelTick, due);
        }
        std::set<uint64_t> came;
        for (const auto& entry : wheel.Advance(now)) {
          ASSERT_LE(entry.due, now);
          came.insert(entry.key.schedule_id.value());
        }
        for (auto at = model.begin(); at != model.end();) {
          // An entry may wait until the end of its tick, but never longer than two ticks.
          const bool must = at->second + 2 * kWheelTick <= now;
          ASSERT_TRUE(!must || came.count(at->first) == 1);
          at = came.count(at->first) > 0 ? model.erase(at) : std::next(at);
        }
      }
      ASSERT_EQ(wheel.size(), model.size());
    }
  }
}

}  // namespace
}  // namespace carillon::scheduler
