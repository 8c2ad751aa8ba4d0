// Schedules of one job that do the same.
#include "common/domain/schedule/schedule_twins.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace carillon::test {
namespace {

ScheduleSpec TwinOf(const std::string& text) {
  return {.kind = ScheduleKind::kCron, .cron_expression = text, .spread = 7};
}

TEST(ScheduleTwinsTest, CronExpressionsAreComparedByWhatTheyMatch) {
  const std::vector<std::pair<const char*, const char*>> same{
      {"*/5 * * * *", "*/5 * * * *"},   {"@daily", "0 0 * * *"},
      {"0 0 * * *", "0 0 0 * * *"},     {"0 0 0 * * ? *", "0 0 * * *"},
      {"0 0 * * SUN", "0 0 * * 7"},     {"0 0 * * 0", "0 0 * * 7"},
      {"0/15 * * * *", "*/15 * * * *"}, {"0,30 * * * *", "30,0 * * * *"},
      {"H 3 * * *", "h 3 * * *"},       {"0 0 31L * *", "0 0 L * *"}};
  for (const auto& [one, other] : same) {
    const auto twins = FindTwins({TwinOf(one), TwinOf(other)});
    ASSERT_EQ(twins.size(), 1u) << one << " " << other;
    EXPECT_EQ(twins[0].first, 0u);
    EXPECT_EQ(twins[0].second, 1u);
  }
  const std::vector<std::pair<const char*, const char*>> different{
      {"*/5 * * * *", "*/10 * * * *"},
      {"0 0 * * 1", "0 0 * * 2"},
      {"0 0-23 * * *", "0 * * * *"},  // in a repeated hour
      {"0 0 0 * * ? 2027", "0 0 0 * * ? 2028"},
      {"0 0 0 * * ? 2027", "0 0 0 * * ?"}};
  for (const auto& [one, other] : different) {
    EXPECT_TRUE(FindTwins({TwinOf(one), TwinOf(other)}).empty()) << one << " " << other;
  }
}

TEST(ScheduleTwinsTest, EachFieldMakesADifference) {
  std::vector<ScheduleSpec> schedules(8, TwinOf("0 3 * * *"));
  schedules[1].time_zone = "Asia/Tokyo";
  schedules[2].start = FromUnixMicros(1'000'000);
  schedules[3].end = FromUnixMicros(2'000'000);
  schedules[4].jitter = 60s;
  schedules[5].calendar = "office";
  schedules[6].blackout = "office";
  schedules[7].parameters = {{"tenant", std::string("b")}};
  EXPECT_TRUE(FindTwins(schedules).empty());
}

TEST(ScheduleTwinsTest, EachKindHasTwins) {
  const ScheduleSpec rate{.kind = ScheduleKind::kRate, .every = 60s};
  const ScheduleSpec later{.kind = ScheduleKind::kRate, .every = 60s, .start = WallTime{1s}};
  const ScheduleSpec delay{.kind = ScheduleKind::kDelay, .every = 60s};
  const ScheduleSpec once{.kind = ScheduleKind::kOnce, .at = WallTime{5s}};
  const ScheduleSpec after{.kind = ScheduleKind::kAfter, .upstream = "load"};
  const auto twins = FindTwins({rate, later, delay, once, after, rate, delay, once, after, rate});
  std::string found;
  for (const ScheduleTwin& one : twins) {
    found += std::to_string(one.first) + "=" + std::to_string(one.second) + " ";
  }
  EXPECT_EQ(found, "0=5 2=6 3=7 4=8 0=9 ");
}

}  // namespace
}  // namespace carillon::test
