// Compares calendars, and schedules with calendars, minute by minute with a slow evaluation that
// asks the time zone library for the clock of each minute.
#include <absl/time/time.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/domain/calendar/calendar.h"
#include "common/domain/calendar/calendar_set.h"
#include "common/domain/schedule/schedule.h"

namespace carillon::calendar_test {
namespace {

using std::chrono::days;

constexpr WallTime kStart = FromUnixMicros(1'774'000'000'000'000);  // 2026-03-20T09:46:40Z

WallTime At(const char* text) { return ParseRfc3339(text).value(); }

CalendarDay Day(int year, unsigned month, unsigned day) {
  return CalendarDay(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day));
}

Calendar Compiled(const CalendarDefinition& definition) {
  return Calendar::Compile(definition).value();
}

bool Lists(const std::vector<CalendarDay>& list, CalendarDay day) {
  return std::find(list.begin(), list.end(), day) != list.end();
}

bool HasDay(const CalendarDefinition& definition, CalendarDay day) {
  if (Lists(definition.except, day)) return false;
  if (definition.weekdays == 0 && definition.dates.empty()) return true;
  const unsigned weekday = std::chrono::weekday(day).c_encoding();
  return ((definition.weekdays >> weekday) & 1U) != 0 || Lists(definition.dates, day);
}

// The rules of docs/schedules.md, evaluated for one instant.
bool Reference(const CalendarDefinition& definition, WallTime t) {
  absl::TimeZone zone;
  EXPECT_TRUE(absl::LoadTimeZone(definition.time_zone, &zone));
  const absl::CivilSecond local = zone.At(absl::FromUnixMicros(ToUnixMicros(t))).cs;
  const CalendarDay day = Day(static_cast<int>(local.year()), static_cast<unsigned>(local.month()),
                              static_cast<unsigned>(local.day()));
  const int minute = local.hour() * 60 + local.minute();
  if (definition.intervals.empty()) return HasDay(definition, day);
  for (const CalendarInterval& interval : definition.intervals) {
    const bool over_midnight = interval.to <= interval.from;
    const int to = over_midnight ? interval.to + kMinutesPerDay : interval.to;
    if (minute >= interval.from && minute < to && HasDay(definition, day)) return true;
    const int since_yesterday = minute + kMinutesPerDay;
    if (since_yesterday < to && HasDay(definition, day - days(1))) return true;
  }
  return false;
}

CalendarDefinition Random(Rng& rng, const std::string& zone) {
  CalendarDefinition definition{.time_zone = zone};
  if (rng.Below(3) > 0) definition.weekdays = static_cast<uint8_t>(rng.Below(128));
  const CalendarDay first = Day(2026, 3, 20);
  for (uint64_t i = rng.Below(4); i > 0; --i) {
    definition.dates.push_back(first + days(static_cast<int>(rng.Below(20))));
  }
  for (uint64_t i = rng.Below(4); i > 0; --i) {
    definition.except.push_back(first + days(static_cast<int>(rng.Below(20))));
  }
  for (uint64_t i = rng.Below(4); i > 0; --i) {
    const int from = static_cast<int>(rng.Below(96)) * 15;
    const int length = 15 + static_cast<int>(rng.Below(95)) * 15;
    definition.intervals.push_back({.from = from, .to = (from + length) % kMinutesPerDay});
    if (definition.intervals.back().from == definition.intervals.back().to) {
      definition.intervals.pop_back();
    }
  }
  return definition;
}

const std::vector<std::string>& Zones() {
  static const std::vector<std::string> zones{"Europe/Berlin", "America/New_York",
                                              "Australia/Lord_Howe", "Asia/Shanghai", "UTC"};
  return zones;
}

// A period of eight days that contains a clock change of the zone, if it has any.
WallTime AroundAChange(const std::string& zone, Rng& rng) {
  absl::TimeZone tz;
  EXPECT_TRUE(absl::LoadTimeZone(zone, &tz));
  absl::TimeZone::CivilTransition change;
  absl::Time at = absl::FromUnixMicros(ToUnixMicros(At("2026-01-01T00:00:00Z")));
  if (rng.Below(2) == 0) at = absl::FromUnixMicros(ToUnixMicros(At("2026-07-01T00:00:00Z")));
  if (!tz.NextTransition(at, &change)) return At("2026-03-21T00:00:00Z");
  const int64_t second = absl::ToUnixSeconds(tz.At(change.to).trans);
  return FromUnixMicros((second / 60 * 60 - 4 * 86'400) * 1'000'000);
}

TEST(CalendarTest, AgreesWithASlowEvaluationOfEachMinute) {
  Rng rng(20261126);
  for (int round = 0; round < 25; ++round) {
    const std::string& zone = Zones()[static_cast<size_t>(round) % Zones().size()];
    const CalendarDefinition definition = Random(rng, zone);
    const Calendar calendar = Compiled(definition);
    const WallTime from = AroundAChange(zone, rng);
    const WallTime until = from + 8 * 24h;
    WallTime next_inside = until;
    WallTime next_outside = until;
    for (WallTime t = until - 1min; t >= from; t -= 1min) {
      const bool inside = Reference(definition, t);
      (inside ? next_inside : next_outside) = t;
      ASSERT_EQ(calendar.Contains(t), inside) << FormatRfc3339(t) << " " << zone;
      ASSERT_EQ(calendar.Contains(t + 59s + 999'999us), inside) << FormatRfc3339(t) << " " << zone;
      if (t.time_since_epoch() % 7min != 0us) continue;
      ASSERT_EQ(calendar.NextInside(t, until), next_inside) << FormatRfc3339(t) << " " << zone;
      ASSERT_EQ(calendar.NextOutside(t, until), next_outside) << FormatRfc3339(t) << " " << zone;
    }
  }
}

// ---- schedules with calendars ------------------------------------------------------------------

struct Limited {
  Schedule plain;
  Schedule limited;
  std::optional<CalendarDefinition> calendar = {};
  std::optional<CalendarDefinition> blackout = {};

  bool Allows(WallTime t) const {
    return (!calendar || Reference(*calendar, t)) && (!blackout || !Reference(*blackout, t));
  }
  std::vector<WallTime> Fires(WallTime from, WallTime until) const {
    std::vector<WallTime> fires;
    auto fire = plain.Next(from - 1us);
    for (; fire && fire->time < until; fire = plain.Next(fire->time)) {
      if (Allows(fire->time)) fires.push_back(fire->time);
    }
    return fires;
  }
};

Limited MakeLimited(const ScheduleSpec& spec, Rng& rng, const std::string& zone) {
  Limited made{.plain = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kBoth).value(),
               .limited = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kBoth).value()};
  ScheduleCalendars calendars;
  if (rng.Below(3) > 0) {
    made.calendar = Random(rng, zone);
    calendars.calendar = std::make_shared<const Calendar>(Compiled(*made.calendar));
  }
  if (rng.Below(2) > 0) {
    made.blackout = Random(rng, Zones()[rng.Below(Zones().size())]);
    calendars.blackout = std::make_shared<const Calendar>(Compiled(*made.blackout));
  }
  made.limited = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kBoth, calendars).value();
  return made;
}

std::vector<ScheduleSpec> Specs(const std::string& zone, WallTime from) {
  std::vector<ScheduleSpec> specs;
  for (const char* text : {"*/10 * * * *", "30 2 * * *", "0 9-17 * * 1-5", "15,45 */3 * * *"}) {
    specs.push_back({.kind = ScheduleKind::kCron, .cron_expression = text, .time_zone = zone});
  }
  specs.push_back({.kind = ScheduleKind::kRate, .every = 7min, .start = from + 5h});
  specs.push_back({.kind = ScheduleKind::kRate, .every = 45min, .end = from + 6 * 24h});
  return specs;
}

TEST(CalendarTest, SchedulesFireExactlyAtTheAllowedFires) {
  Rng rng(7);
  for (const std::string& zone : Zones()) {
    const WallTime from = AroundAChange(zone, rng);
    const WallTime until = from + 8 * 24h;
    for (const ScheduleSpec& spec : Specs(zone, from)) {
      for (int round = 0; round < 6; ++round) {
        const Limited one = MakeLimited(spec, rng, zone);
        const std::vector<WallTime> fires = one.Fires(from, until);
        ASSERT_EQ(one.limited.Count(from, until), static_cast<int64_t>(fires.size()));
        WallTime after = from - 1us;
        for (const WallTime fire : fires) {
          const auto next = one.limited.Next(after);
          ASSERT_TRUE(next.has_value());
          ASSERT_EQ(FormatRfc3339(next->time), FormatRfc3339(fire));
          after = fire;
        }
        const auto next = one.limited.Next(after);
        ASSERT_TRUE(!next || next->time >= until);
        for (int probe = 0; probe < 5 && !fires.empty(); ++probe) {
          const size_t index = rng.Below(fires.size());
          const auto nth = one.limited.Nth(from, static_cast<int64_t>(index));
          ASSERT_EQ(nth, fires[index]);
          ASSERT_EQ(one.limited.Count(from, fires[index]), static_cast<int64_t>(index));
        }
      }
    }
  }
}

TEST(CalendarTest, AnIntervalOverMidnightBelongsToTheDayOnWhichItBegins) {
  const Calendar nights = Compiled({.weekdays = 1U << 5U, .intervals = {{22 * 60, 6 * 60}}});
  EXPECT_FALSE(nights.Contains(At("2026-11-27T05:00:00Z")));  // a Friday
  EXPECT_TRUE(nights.Contains(At("2026-11-27T22:00:00Z")));
  EXPECT_TRUE(nights.Contains(At("2026-11-28T05:59:59Z")));
  EXPECT_FALSE(nights.Contains(At("2026-11-28T06:00:00Z")));
  EXPECT_FALSE(nights.Contains(At("2026-11-28T22:00:00Z")));
}

TEST(CalendarTest, TouchingIntervalsAreOneStretch) {
  const Calendar all = Compiled({.intervals = {{0, 720}, {720, kMinutesPerDay}}});
  EXPECT_EQ(all.NextOutside(kStart, kStart + 5 * 24h), kStart + 5 * 24h);
}

TEST(CalendarTest, ASearchEndsAfterTenYears) {
  const Calendar past = Compiled({.dates = {Day(2020, 1, 1)}});
  EXPECT_EQ(past.NextInside(kStart, kNever), kNever);
  const auto calendar = std::make_shared<const Calendar>(past);
  const ScheduleSpec minutely{.kind = ScheduleKind::kRate, .every = 1min};
  const Schedule schedule =
      Schedule::Compile(minutely, DstGap::kFire, DstRepeat::kAuto, {.calendar = calendar}).value();
  EXPECT_FALSE(schedule.Next(kStart).has_value());
  EXPECT_EQ(schedule.Count(kStart, kNever), 0);
  EXPECT_FALSE(schedule.Nth(kStart, 3).has_value());
  EXPECT_EQ(schedule.Count(At("2019-12-31T00:00:00Z"), kNever), 1440);
}

TEST(CalendarTest, OutsideTheYearsOfAZoneNothingIsInACalendar) {
  const Calendar all = Compiled({});
  EXPECT_FALSE(all.Contains(At("2300-01-01T00:00:00Z")));
  EXPECT_TRUE(all.Contains(At("2299-12-31T23:59:59Z")));
  EXPECT_EQ(all.NextOutside(At("2299-06-01T00:00:00Z"), kNever), At("2300-01-01T00:00:00Z"));
  EXPECT_EQ(all.NextInside(At("2300-06-01T00:00:00Z"), kNever), kNever);
}

TEST(CalendarTest, ErrorsPointToTheField) {
  const auto pointer = [](const CalendarDefinition& definition) {
    return Calendar::Compile(definition).error().pointer;
  };
  EXPECT_EQ(pointer({.time_zone = "Mars/Base"}), "/time_zone");
  EXPECT_EQ(pointer({.dates = {Day(2026, 1, 1), Day(1969, 1, 1)}}), "/dates/1");
  EXPECT_EQ(pointer({.except = std::vector(kCalendarDatesMax + 1, Day(2026, 1, 1))}), "/except");
  EXPECT_EQ(pointer({.intervals = {{60, 120}, {60, 60}}}), "/intervals/1");
  EXPECT_EQ(pointer({.intervals = {{-1, 60}}}), "/intervals/0");
  EXPECT_EQ(pointer({.intervals = std::vector<CalendarInterval>(25)}), "/intervals");
}

TEST(CalendarTest, NamesHaveOneForm) {
  EXPECT_TRUE(IsCalendarName("de-2026_x"));
  for (const char* name : {"", "-a", "A", "a b", "ü"}) EXPECT_FALSE(IsCalendarName(name)) << name;
  EXPECT_FALSE(IsCalendarName(std::string(64, 'a')));
}

TEST(CalendarTest, ASpecIsCheckedAndExplained) {
  ScheduleSpec spec{.kind = ScheduleKind::kRate, .every = 1min, .calendar = "office"};
  spec.blackout = "freeze";
  EXPECT_TRUE(Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto)
                  ->Explain()
                  .ends_with(", only in calendar office, never in calendar freeze"));
  spec.blackout = "No Name";
  EXPECT_EQ(Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto).error().pointer, "/blackout");
  const ScheduleSpec once{.kind = ScheduleKind::kOnce, .at = kStart, .calendar = "office"};
  EXPECT_EQ(Schedule::Compile(once, DstGap::kFire, DstRepeat::kAuto).error().pointer, "/calendar");
}

// ---- the set of a store ------------------------------------------------------------------------

CalendarSet TwoCalendars() {
  std::vector<StoredCalendar> stored;
  stored.push_back({.number = CalendarNo(1), .name = "office", .version = 5, .effective = kStart});
  stored.push_back({.number = CalendarNo(2), .name = "freeze", .version = 4, .effective = kStart});
  return CalendarSet(6, std::move(stored),
                     {{CalendarNo(1), 5, kStart + 3h},
                      {CalendarNo(2), 4, kStart + 2h},
                      {CalendarNo(1), 3, kStart + 1h},
                      {CalendarNo(9), 6, kStart}});
}

TEST(CalendarSetTest, ResolvesNamesAndNumbers) {
  const CalendarSet set = TwoCalendars();
  const auto numbers = set.NumbersOf("office", "");
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->calendar, CalendarNo(1));
  EXPECT_NE(set.Of(*numbers)->calendar, nullptr);
  EXPECT_EQ(set.Of("", "freeze")->calendar, nullptr);
  EXPECT_EQ(set.NumbersOf("office", "unknown").error().pointer, "/blackout");
  EXPECT_EQ(set.Of(CalendarNumbers{.calendar = CalendarNo(9)}).code(), ErrorCode::kNotFound);
}

TEST(CalendarSetTest, TellsSinceWhenASchedulesCalendarsDiffer) {
  const CalendarSet set = TwoCalendars();
  const CalendarNumbers both{.calendar = CalendarNo(1), .blackout = CalendarNo(2)};
  EXPECT_EQ(set.version(), 6);
  EXPECT_EQ(set.VersionOf(both), 5);
  EXPECT_EQ(set.ChangedSince(both, 2), kStart + 1h);
  EXPECT_EQ(set.ChangedSince(both, 3), kStart + 2h);
  EXPECT_EQ(set.ChangedSince(both, 4), kStart + 3h);
  EXPECT_EQ(set.ChangedSince(both, 5), kNever);
}

}  // namespace
}  // namespace carillon::calendar_test
