// Checks all clock changes of all zones from 1970 to 2037 against the rules of docs/schedules.md,
// evaluated slowly: for each local minute around the change, with the time zone library.
#include <absl/time/time.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/domain/job/job.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"
#include "tests/unit/common/domain/cron/cron_reference.h"

namespace carillon::test {
namespace {

constexpr int64_t kUntil = 2'145'916'800;  // 2038-01-01
constexpr int64_t kAround = 4'500;         // examined before and after a change: 75 minutes
constexpr int64_t kHalfDay = 43'200;       // the longest change that this test examines

std::vector<std::string> ZoneNames() {
  std::ifstream file("/usr/share/zoneinfo/tzdata.zi");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string mark, name;
    if (words >> mark >> name && mark == "Z") names.push_back(name);
  }
  names.erase(std::remove(names.begin(), names.end(), "Factory"), names.end());
  return names;
}

struct Case {
  std::string text;
  CronExpression expression;
  bool names_hour;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* text :
       {"30 2 * * *", "0 * * * *", "*/15 * * * *", "10,50 0-3 * * *", "0 0 * * *", "* * * * *",
        "59 23 * * 6,0", "30 */2 * * *", "15 1 L,LW * *", "0 3 * * 0#2", "45 2 8-14 3 0"}) {
    const CronExpression expression = ParseCron(text).value();
    cases.push_back({text, expression, !expression.field(CronUnit::kHour).starred});
  }
  return cases;
}

// A local minute near a clock change, and the times that it stands for in the zone.
struct Minute {
  ReferenceDay day;
  int second_of_day;
  absl::TimeZone::TimeInfo info;
};

std::vector<Minute> MinutesBetween(const absl::TimeZone& tz, int64_t from, int64_t until) {
  std::vector<Minute> minutes;
  const absl::CivilSecond epoch(1970);
  for (int64_t local = from - from % 60; local < until; local += 60) {
    const ReferenceDay day(local / kDaySeconds);
    minutes.push_back({day, static_cast<int>(local % kDaySeconds), tz.At(epoch + local)});
  }
  return minutes;
}

struct Policy {
  DstGap gap;
  DstRepeat repeat;
};

constexpr size_t kPolicies = 8;
Policy PolicyOf(size_t pick) {
  return {pick % 2 == 0 ? DstGap::kFire : DstGap::kSkip, static_cast<DstRepeat>(pick / 2 % 4)};
}

// All expressions with all pairs of policies in one zone.
class CompiledCases {
 public:
  CompiledCases(const std::vector<Case>& cases, const std::string& zone) {
    for (const Case& c : cases) {
      for (size_t pick = 0; pick < kPolicies; ++pick) {
        const ScheduleSpec spec{
            .kind = ScheduleKind::kCron, .cron_expression = c.text, .time_zone = zone};
        const Policy policy = PolicyOf(pick);
        schedules_.push_back(Schedule::Compile(spec, policy.gap, policy.repeat).value());
      }
    }
  }
  const Schedule& For(size_t case_index, size_t pick) const {
    return schedules_[case_index * kPolicies + pick % kPolicies];
  }

 private:
  std::vector<Schedule> schedules_;
};

std::vector<int64_t> ReferenceFires(const Case& c, const Policy& policy,
                                    const std::vector<Minute>& minutes) {
  std::set<int64_t> fires;
  for (const Minute& minute : minutes) {
    if (!TimeMatches(c.expression, minute.second_of_day) || !DayMatches(c.expression, minute.day)) {
      continue;
    }
    const int64_t early = absl::ToUnixSeconds(minute.info.pre);
    const int64_t late = absl::ToUnixSeconds(minute.info.post);
    switch (minute.info.kind) {
      case absl::TimeZone::TimeInfo::UNIQUE: fires.insert(early); break;
      case absl::TimeZone::TimeInfo::SKIPPED:
        if (policy.gap == DstGap::kFire) fires.insert(absl::ToUnixSeconds(minute.info.trans));
        break;
      case absl::TimeZone::TimeInfo::REPEATED: {
        const bool both = policy.repeat == DstRepeat::kBoth ||
                          (policy.repeat == DstRepeat::kAuto && !c.names_hour);
        if (both || policy.repeat != DstRepeat::kLate) fires.insert(early);
        if (both || policy.repeat == DstRepeat::kLate) fires.insert(late);
        break;
      }
    }
  }
  return {fires.begin(), fires.end()};
}

WallTime At(int64_t second) { return FromUnixMicros(second * 1'000'000); }

// Compares the fires of a schedule in [from, until) with `expected`.
void ExpectFires(const Schedule& schedule, int64_t from, int64_t until,
                 const std::vector<int64_t>& expected) {
  std::vector<int64_t> fires;
  WallTime at = At(from) - Duration(1);
  while (const auto fire = schedule.Next(at)) {
    if (fire->time >= At(until)) break;
    fires.push_back(ToUnixMicros(fire->time) / 1'000'000);
    at = fire->time;
  }
  EXPECT_EQ(fires, expected);
  EXPECT_EQ(schedule.Count(At(from), At(until)), static_cast<int64_t>(expected.size()));
  // From any instant, Next is the least fire after it.
  for (int64_t from_here = from; from_here < until; from_here += 1'117) {
    const auto least = std::upper_bound(expected.begin(), expected.end(), from_here);
    if (least == expected.end()) break;
    ASSERT_EQ(schedule.Next(At(from_here))->time, At(*least)) << "after " << from_here;
  }
}

// Compares the fires of a schedule that is limited to a window around the change at `second`.
void ExpectFiresInWindow(const Case& c, const std::string& zone, const Policy& policy,
                         int64_t second, std::vector<int64_t> expected) {
  const int64_t start = second - 1'800;
  const int64_t end = second + 1'800;
  const ScheduleSpec spec{.kind = ScheduleKind::kCron,
                          .cron_expression = c.text,
                          .time_zone = zone,
                          .start = At(start),
                          .end = At(end)};
  std::erase_if(expected, [&](int64_t t) { return t < start || t >= end; });
  ExpectFires(Schedule::Compile(spec, policy.gap, policy.repeat).value(), second - kAround,
              second + kAround, expected);
}

TEST(ScheduleTransitionTest, EveryChangeOfEveryZoneFollowsTheRules) {
  const std::vector<std::string> names = ZoneNames();
  ASSERT_GT(names.size(), 300u);
  const std::vector<Case> cases = Cases();
  size_t changes = 0;
  for (const std::string& name : names) {
    absl::TimeZone tz;
    ASSERT_TRUE(absl::LoadTimeZone(name, &tz)) << name;
    const CompiledCases compiled(cases, name);
    absl::Time at = absl::FromUnixSeconds(86'400);
    absl::TimeZone::CivilTransition change;
    while (tz.NextTransition(at, &change)) {
      at = tz.At(change.to).trans;
      const int64_t second = absl::ToUnixSeconds(at);
      if (second >= kUntil) break;
      const int64_t before = tz.At(at - absl::Seconds(1)).offset;
      const int64_t after = tz.At(at).offset;
      if (before == after || std::abs(after - before) > kHalfDay) continue;
      const int64_t from = second - kAround, until = second + kAround;
      const auto minutes =
          MinutesBetween(tz, from + std::min(before, after), until + std::max(before, after));
      for (size_t i = 0; i < cases.size(); ++i) {
        // For each change an expression is tested with only one pair of policies. The
        // pairs alternate.
        const size_t pick = changes + i;
        const Policy policy = PolicyOf(pick);
        std::vector<int64_t> expected = ReferenceFires(cases[i], policy, minutes);
        std::erase_if(expected, [&](int64_t t) { return t < from || t >= until; });
        SCOPED_TRACE(name + " at " + FormatRfc3339(At(second)) + ": " + cases[i].text + ", gap " +
                     std::string(Name(policy.gap)) + ", repeat " +
                     std::string(Name(policy.repeat)));
        ExpectFires(compiled.For(i, pick), from, until, expected);
        // To compile is slow, so each change is tested with a window for one expression.
        if (i == changes % cases.size()) {
          ExpectFiresInWindow(cases[i], name, policy, second, expected);
        }
        if (HasFailure()) return;
      }
      ++changes;
    }
  }
  EXPECT_GT(changes, 10'000u);
}

// The table of periods assumes that no period is shorter than the change at its end.
TEST(ScheduleTransitionTest, PeriodsAreLongerThanTheirChanges) {
  for (const std::string& name : ZoneNames()) {
    const Zone& zone = *Zone::Load(name).value();
    EXPECT_EQ(zone.Period(0).begin, kZoneBegin);
    for (size_t i = 0; i < zone.size(); ++i) {
      const ZonePeriod period = zone.Period(i);
      EXPECT_EQ(period.end, i + 1 < zone.size() ? zone.Period(i + 1).begin : kZoneEnd);
      EXPECT_TRUE(i == 0 || zone.Period(i - 1).offset != period.offset) << name;
      EXPECT_LE(period.second_until, period.first_from) << name << " " << period.begin;
      EXPECT_EQ(zone.IndexAt(period.begin), i);
      EXPECT_EQ(zone.IndexAt(period.end - 1), i);
    }
  }
}

// The current daylight saving rules must still apply at the end of the table.
TEST(ScheduleTransitionTest, RulesGoOnToTheEndOfTheTable) {
  for (const char* name :
       {"Europe/Paris", "America/New_York", "Asia/Beirut", "Australia/Lord_Howe"}) {
    absl::TimeZone tz;
    ASSERT_TRUE(absl::LoadTimeZone(name, &tz));
    const Zone& zone = *Zone::Load(name).value();
    for (int64_t second = kZoneEnd - 2 * 366 * 86'400; second < kZoneEnd; second += 7'919) {
      ASSERT_EQ(zone.OffsetAt(second), tz.At(absl::FromUnixSeconds(second)).offset) << name;
    }
  }
}

}  // namespace
}  // namespace carillon::test
