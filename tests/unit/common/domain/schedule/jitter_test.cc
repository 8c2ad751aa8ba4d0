#include "common/domain/schedule/jitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "common/base/rng.h"

namespace carillon::test {
namespace {

const WallTime kSpreadStart = ParseRfc3339("2026-03-01T00:00:00Z").value();

Schedule CompiledSpread(const ScheduleSpec& spec) {
  return Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto).value();
}
Schedule SpreadRate(Duration every, Duration jitter) {
  return CompiledSpread(
      {.kind = ScheduleKind::kRate, .every = every, .start = kSpreadStart, .jitter = jitter});
}
Schedule SpreadCron(std::string text, Duration jitter) {
  return CompiledSpread(
      {.kind = ScheduleKind::kCron, .cron_expression = std::move(text), .jitter = jitter});
}

// Members of different versions plan the same schedules, so these values must never change.
TEST(JitterTest, ASpreadIsTheSameInEveryVersion) {
  EXPECT_EQ(SpreadOf(ScheduleId(1), kSpreadStart, 1h), Duration(2'023'779'930));
  EXPECT_EQ(SpreadOf(ScheduleId(2), kSpreadStart, 1h), Duration(1'662'335'073));
  EXPECT_EQ(SpreadOf(ScheduleId(1), kSpreadStart + 1h, 1h), Duration(692'880'765));
  EXPECT_EQ(SpreadOf(ScheduleId(1), kSpreadStart, Duration{}), Duration{});
  EXPECT_EQ(SpreadOf(ScheduleId(1), kSpreadStart, -1s), Duration{});
}

// Both many schedules at one fire and many fires of one schedule are spread evenly.
TEST(JitterTest, SpreadsEvenly) {
  constexpr int kFires = 10'000;
  std::array<int, 10> by_schedule{};
  std::array<int, 10> by_fire{};
  for (int i = 0; i < kFires; ++i) {
    const auto bucket = [](Duration spread) { return static_cast<size_t>(spread / 6min); };
    ++by_schedule.at(bucket(SpreadOf(ScheduleId(static_cast<uint64_t>(i)), kSpreadStart, 1h)));
    ++by_fire.at(bucket(SpreadOf(ScheduleId(7), kSpreadStart + i * 24h, 1h)));
  }
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(by_schedule.at(i), kFires / 10, 150) << i;
    EXPECT_NEAR(by_fire.at(i), kFires / 10, 150) << i;
  }
}

TEST(JitterTest, WithoutJitterARunIsDueAtItsFire) {
  const Schedule schedule = SpreadRate(1min, Duration{});
  const DueTimes due(schedule, ScheduleId(3));
  EXPECT_EQ(due.Of(kSpreadStart), kSpreadStart);
  EXPECT_EQ(due.FiresDueBefore(kSpreadStart + 1s), kSpreadStart + 1s);
  EXPECT_EQ(DueTimes().Of(kSpreadStart), kSpreadStart);
  EXPECT_EQ(DueTimes().FiresDueBefore(kSpreadStart), kSpreadStart);
}

TEST(JitterTest, DueLiesBetweenTheFireAndTheNextAndWithinTheJitter) {
  const std::array schedules{SpreadRate(1min, 1h), SpreadRate(10ms, 5s), SpreadRate(24h, 1h),
                             SpreadCron("*/7 * * * *", 600s), SpreadCron("0 0,5 2 * * *", 30s)};
  for (const Schedule& schedule : schedules) {
    for (uint64_t id = 1; id <= 20; ++id) {
      const DueTimes due(schedule, ScheduleId(id));
      WallTime fire = schedule.Next(kSpreadStart)->time;
      for (int i = 0; i < 50; ++i) {
        const WallTime next = schedule.Next(fire)->time;
        ASSERT_GE(due.Of(fire), fire);
        ASSERT_LT(due.Of(fire), next);
        ASSERT_LT(due.Of(fire), fire + schedule.jitter());
        fire = next;
      }
    }
  }
}

TEST(JitterTest, TheLastFireMayBeDueAfterTheEnd) {
  const ScheduleSpec spec{.kind = ScheduleKind::kRate,
                          .every = 24h,
                          .start = kSpreadStart,
                          .end = kSpreadStart + 1s,
                          .jitter = 1h};
  const Schedule schedule = CompiledSpread(spec);
  std::set<WallTime> due;
  for (uint64_t id = 1; id <= 20; ++id) {
    due.insert(DueTimes(schedule, ScheduleId(id)).Of(kSpreadStart));
  }
  EXPECT_EQ(due.size(), 20u);
  EXPECT_GT(*due.rbegin(), kSpreadStart + 30min);
  EXPECT_LT(*due.rbegin(), kSpreadStart + 1h);
}

TEST(JitterTest, DividesTheFiresByTheirDueTimes) {
  const std::array schedules{SpreadRate(1min, 1h), SpreadRate(7min, 300s),
                             SpreadCron("*/10 3-5 * * *", 3600s)};
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const Schedule& schedule = schedules.at(rng.Below(schedules.size()));
    const DueTimes due(schedule, ScheduleId(rng.Below(100)));
    const WallTime at = kSpreadStart + 24h + Duration(rng.Below(86'400'000'000));
    const WallTime bound = due.FiresDueBefore(at);
    ASSERT_LE(bound, at);
    for (WallTime fire = schedule.Next(at - 2h)->time; fire <= at + 2h;
         fire = schedule.Next(fire)->time) {
      ASSERT_EQ(fire < bound, due.Of(fire) < at) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace carillon::test
