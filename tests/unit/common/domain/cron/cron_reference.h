// A slow and simple evaluation of cron expressions, and random expressions for tests.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

#include "common/base/rng.h"
#include "common/domain/cron/cron.h"

namespace carillon::test {

inline constexpr int64_t kDaySeconds = 86'400;

inline bool InItem(const CronItem& item, int value) {
  return value >= item.from && value <= item.to && (value - item.from) % item.step == 0;
}

inline bool InField(const CronField& field, int value) {
  for (const CronItem& item : field.items) {
    if (InItem(item, value)) return true;
  }
  return false;
}

// A day with the properties that the day fields of an expression refer to.
struct ReferenceDay {
  explicit ReferenceDay(int64_t days_since_1970) {
    using namespace std::chrono;
    const sys_days at{days(days_since_1970)};
    const year_month_day date(at);
    year_month = date.year() / date.month();
    day = static_cast<int>(unsigned{date.day()});
    month = static_cast<int>(unsigned{date.month()});
    length = static_cast<int>(unsigned{(year_month / last).day()});
    weekday = static_cast<int>(std::chrono::weekday(at).c_encoding());
  }
  int WeekdayOf(int other) const { return (weekday + other - day + 70) % 7; }
  // The day of this month from Monday to Friday that is nearest to `target`.
  int NearestWorkday(int target) const {
    int best = 0;
    for (int d = 1; d <= length; ++d) {
      const bool works = WeekdayOf(d) != 0 && WeekdayOf(d) != 6;
      if (works && (best == 0 || std::abs(d - target) < std::abs(best - target))) best = d;
    }
    return best;
  }

  std::chrono::year_month year_month{};
  int day = 0, month = 0, length = 0, weekday = 0;
};

inline bool DayOfMonthMatches(const CronItem& item, const ReferenceDay& day) {
  const int from_end = day.length - item.n;
  switch (item.kind) {
    case CronItemKind::kLastDay: return day.day == from_end;
    case CronItemKind::kDayOrLast:
      return day.day == item.n || (day.day == day.length && day.length < item.n);
    case CronItemKind::kLastWorkday:
      return from_end >= 1 && day.day == day.NearestWorkday(from_end);
    case CronItemKind::kNearestWorkday:
      return item.n <= day.length && day.day == day.NearestWorkday(item.n);
    case CronItemKind::kWorkdays: return day.weekday >= 1 && day.weekday <= 5;
    default: return InItem(item, day.day);
  }
}

inline bool DayOfWeekMatches(const CronItem& item, const ReferenceDay& day) {
  if (item.kind == CronItemKind::kLastWeekday) {
    return day.weekday == item.from && day.day + 7 > day.length;
  }
  if (item.kind == CronItemKind::kNthWeekday) {
    return day.weekday == item.from && (day.day + 6) / 7 == item.n;
  }
  return InItem(item, day.weekday) || (day.weekday == 0 && InItem(item, 7));
}

inline bool DayMatches(const CronExpression& e, const ReferenceDay& day) {
  if (!InField(e.field(CronUnit::kMonth), day.month)) return false;
  const int year = static_cast<int>(day.year_month.year());
  if (e.has_years && !InField(e.field(CronUnit::kYear), year)) return false;
  const CronField& of_month = e.field(CronUnit::kDayOfMonth);
  const CronField& of_week = e.field(CronUnit::kDayOfWeek);
  bool by_month = false, by_week = false;
  for (const CronItem& item : of_month.items) by_month |= DayOfMonthMatches(item, day);
  for (const CronItem& item : of_week.items) by_week |= DayOfWeekMatches(item, day);
  if (of_month.starred || of_week.starred) return by_month && by_week;
  return by_month || by_week;
}

inline bool TimeMatches(const CronExpression& e, int second_of_day) {
  return InField(e.field(CronUnit::kHour), second_of_day / 3600) &&
         InField(e.field(CronUnit::kMinute), second_of_day / 60 % 60) &&
         InField(e.field(CronUnit::kSecond), second_of_day % 60);
}

inline std::string RandomValue(Rng& rng, int least, int most) {
  return std::to_string(least +
                        static_cast<int>(rng.Below(static_cast<uint64_t>(most - least + 1))));
}

inline std::string RandomItem(Rng& rng, CronUnit unit) {
  const CronBounds bounds = BoundsOf(unit);
  const int low = std::stoi(RandomValue(rng, bounds.least, bounds.most));
  const std::string from = std::to_string(low);
  const std::string step = RandomValue(rng, 1, (bounds.most - bounds.least) / 2 + 1);
  const uint64_t special = rng.Below(8);
  if (unit == CronUnit::kDayOfMonth && special < 3) {
    const std::string before = RandomValue(rng, 0, 30);
    const std::string kinds[] = {"L",
                                 "L-" + before,
                                 "LW",
                                 "L-" + before + "W",
                                 from + "W",
                                 "W",
                                 RandomValue(rng, 29, 31) + "L"};
    return kinds[rng.Below(7)];
  }
  if (unit == CronUnit::kDayOfWeek && special < 3) {
    return special == 0 ? from + "L" : from + "#" + RandomValue(rng, 1, 5);
  }
  switch (rng.Below(6)) {
    case 0: return "*";
    case 1: return "*/" + step;
    case 2: return from + "-" + RandomValue(rng, low, bounds.most);
    case 3: return from + "-" + RandomValue(rng, low, bounds.most) + "/" + step;
    case 4: return from + "/" + step;
    default: return from;
  }
}

inline std::string RandomField(Rng& rng, CronUnit unit, double any) {
  if (rng.Chance(any)) return "*";
  std::string text = RandomItem(rng, unit);
  for (uint64_t more = rng.Below(3); more > 0; --more) text += "," + RandomItem(rng, unit);
  return text;
}

// A field of the year that matters in the years 2023 to 2027.
inline std::string RandomYears(Rng& rng) {
  const int from = 2023 + static_cast<int>(rng.Below(5));
  const int to = from + static_cast<int>(rng.Below(3));
  switch (rng.Below(5)) {
    case 0: return "*";
    case 1: return "*/" + RandomValue(rng, 1, 4);
    case 2: return fmt::format("{}-{}", from, to);
    case 3: return fmt::format("{}/{}", from, 1 + rng.Below(3));
    default: return fmt::format("{},{}", from, to);
  }
}

// A valid expression of five, six or seven fields.
inline std::string RandomCronText(Rng& rng) {
  const bool seconds = rng.Chance(0.4);
  const std::string years = seconds && rng.Chance(0.4) ? " " + RandomYears(rng) : "";
  std::string text = seconds ? RandomField(rng, CronUnit::kSecond, 0.2) + " " : "";
  text += RandomField(rng, CronUnit::kMinute, 0.2) + " " + RandomField(rng, CronUnit::kHour, 0.3);
  text += " " + RandomField(rng, CronUnit::kDayOfMonth, 0.4);
  text += " " + RandomField(rng, CronUnit::kMonth, 0.6);
  return text + " " + RandomField(rng, CronUnit::kDayOfWeek, 0.4) + years;
}

}  // namespace carillon::test
