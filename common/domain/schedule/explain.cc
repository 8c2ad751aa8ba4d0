#include "common/domain/schedule/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace carillon {
namespace {

// More times than this are described by a rule instead of a list.
constexpr size_t kTimesListedMax = 4;

using NameFn = std::function<std::string(int)>;

std::string Plural(int64_t n, std::string_view unit) {
  return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s");
}

std::string Ordinal(int n) {
  const int tens = n % 100;
  const std::string_view end = tens >= 11 && tens <= 13 ? "th"
                               : n % 10 == 1            ? "st"
                               : n % 10 == 2            ? "nd"
                               : n % 10 == 3            ? "rd"
                                                        : "th";
  return fmt::format("{}{}", n, end);
}

std::string Joined(const std::vector<std::string>& parts, std::string_view last = "and") {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += i + 1 == parts.size() ? fmt::format(" {} ", last) : ", ";
    text += parts[i];
  }
  return text;
}

std::string WeekdayName(int weekday) {
  constexpr std::array<std::string_view, 7> kNames{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
  return std::string(kNames[static_cast<size_t>(weekday % 7)]);
}

std::string MonthName(int month) {
  constexpr std::array<std::string_view, 12> kNames{
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  return std::string(kNames[static_cast<size_t>(month - 1)]);
}

bool Spans(const CronItem& item, CronUnit unit) {
  const CronBounds bounds = BoundsOf(unit);
  const int last = unit == CronUnit::kDayOfWeek ? 6 : bounds.most;
  return item.kind == CronItemKind::kValues && item.from == bounds.least && item.to >= last;
}

bool Every(const CronField& field, CronUnit unit) {
  return std::any_of(field.items.begin(), field.items.end(),
                     [&](const CronItem& item) { return Spans(item, unit) && item.step == 1; });
}

// The step of a field such as "*/15" whose values are evenly spread over the whole unit; else 0.
int EvenStep(const CronField& field, CronUnit unit) {
  if (field.items.size() != 1 || !Spans(field.items[0], unit)) return 0;
  const int values = BoundsOf(unit).most + 1;
  return values % field.items[0].step == 0 ? field.items[0].step : 0;
}

// The values of a field of plain values, ascending.
std::vector<int> SortedValuesOf(const CronField& field) {
  std::vector<int> values;
  for (const CronItem& item : field.items) {
    for (int v = item.from; v <= item.to; v += item.step) values.push_back(v);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string ItemText(const CronItem& item, std::string_view unit, const NameFn& name) {
  if (item.from == item.to) return name(item.from);
  if (item.step == 1) return fmt::format("{} to {}", name(item.from), name(item.to));
  return fmt::format("every {} {} from {} to {}", Ordinal(item.step), unit, name(item.from),
                     name(item.to));
}

std::string ItemsText(const CronField& field, std::string_view unit, const NameFn& name) {
  std::vector<std::string> parts;
  for (const CronItem& item : field.items) parts.push_back(ItemText(item, unit, name));
  return Joined(parts);
}

// Returns ItemsText with the unit before plain values: "minute 05 and 35", "every 7th minute from
// 00 to 59".
std::string UnitText(const CronField& field, std::string_view unit, const NameFn& name) {
  const std::string text = ItemsText(field, unit, name);
  return text.starts_with("every ") ? text : fmt::format("{} {}", unit, text);
}

std::string TwoDigits(int value) { return fmt::format("{:02}", value); }

// "At 02:30 and 14:30"; empty if there are too many times to list.
std::string ListedTimes(const CronExpression& e) {
  const auto hours = SortedValuesOf(e.field(CronUnit::kHour));
  const auto minutes = SortedValuesOf(e.field(CronUnit::kMinute));
  const auto seconds = SortedValuesOf(e.field(CronUnit::kSecond));
  if (hours.size() * minutes.size() * seconds.size() > kTimesListedMax) return {};
  const bool whole_minutes = seconds == std::vector<int>{0};
  std::vector<std::string> times;
  for (const int h : hours) {
    for (const int m : minutes) {
      for (const int s : seconds) {
        times.push_back(whole_minutes ? fmt::format("{:02}:{:02}", h, m)
                                      : fmt::format("{:02}:{:02}:{:02}", h, m, s));
      }
    }
  }
  return "At " + Joined(times);
}

// The frequency within the minute; empty for "at second 0".
std::string SecondPhrase(const CronExpression& e) {
  const CronField& field = e.field(CronUnit::kSecond);
  if (SortedValuesOf(field) == std::vector<int>{0}) return {};
  if (Every(field, CronUnit::kSecond)) return "every second";
  const int step = EvenStep(field, CronUnit::kSecond);
  if (step > 1) return fmt::format("every {} seconds", step);
  return "at " + UnitText(field, "second", TwoDigits);
}

std::string MinutePhrase(const CronExpression& e, bool bare) {
  const CronField& field = e.field(CronUnit::kMinute);
  if (Every(field, CronUnit::kMinute)) return bare ? "every minute" : "";
  const int step = EvenStep(field, CronUnit::kMinute);
  if (step > 1 && step < 60) return fmt::format("{}every {} minutes", bare ? "" : "of ", step);
  return (bare ? "at " : "of ") + UnitText(field, "minute", TwoDigits);
}

std::string HourPhrase(const CronExpression& e, bool minutes_listed) {
  const CronField& field = e.field(CronUnit::kHour);
  if (Every(field, CronUnit::kHour)) return minutes_listed ? " of every hour" : "";
  const int step = EvenStep(field, CronUnit::kHour);
  if (step > 1 && step < 24) return fmt::format(" of every {} hour from 00", Ordinal(step));
  return " of " + UnitText(field, "hour", TwoDigits);
}

std::string TimePhrase(const CronExpression& e) {
  std::string listed = ListedTimes(e);
  if (!listed.empty()) return listed;
  const std::string second = SecondPhrase(e);
  const std::string minute = MinutePhrase(e, second.empty());
  const CronField& minutes = e.field(CronUnit::kMinute);
  const bool minutes_listed =
      !Every(minutes, CronUnit::kMinute) && EvenStep(minutes, CronUnit::kMinute) <= 1;
  std::string text = second + (second.empty() || minute.empty() ? "" : " ") + minute +
                     HourPhrase(e, minutes_listed);
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string UnmovedMonthDay(const CronItem& item) {
  const std::string last = "the last day of the month";
  std::string counted = item.n == 0   ? last
                        : item.n == 1 ? "the day before " + last
                                      : fmt::format("the day {} days before {}", item.n, last);
  switch (item.kind) {
    case CronItemKind::kLastDay: return counted;
    case CronItemKind::kDayOrLast:
      return fmt::format("the {} of the month or its last day", Ordinal(item.n));
    case CronItemKind::kLastWorkday:
      if (item.n == 0) return "the last working day of the month";
      return "the working day nearest to " + counted;
    case CronItemKind::kNearestWorkday:
      return fmt::format("the working day nearest to the {} of the month", Ordinal(item.n));
    case CronItemKind::kWorkdays: return "every working day";
    case CronItemKind::kNthInCalendar: {
      const std::string count = item.n > 0     ? Ordinal(item.n)
                                : item.n == -1 ? "last"
                                               : Ordinal(-item.n) + " last";
      return fmt::format("the {} day of the month that its calendars allow", count);
    }
    default: break;
  }
  const std::string days = ItemText(item, "day", [](int v) { return "the " + Ordinal(v); });
  return days + " of the month";
}

std::string MoveText(CronMove move) {
  if (move == CronMove::kNone) return {};
  return move == CronMove::kPrevious ? " or the nearest day before it that its calendars allow"
                                     : " or the nearest day after it that its calendars allow";
}

std::string MonthDayText(const CronItem& item) {
  return UnmovedMonthDay(item) + MoveText(item.move);
}

bool IsPlainValue(const CronItem& item) {
  return item.kind == CronItemKind::kValues && item.from == item.to && item.move == CronMove::kNone;
}

bool AllPlainValues(const CronField& field) {
  return std::all_of(field.items.begin(), field.items.end(), IsPlainValue);
}

std::string UnmovedWeekday(const CronItem& item) {
  switch (item.kind) {
    case CronItemKind::kLastWeekday:
      return fmt::format("the last {} of the month", WeekdayName(item.from));
    case CronItemKind::kNthWeekday:
      return fmt::format("the {} {} of the month", Ordinal(item.n), WeekdayName(item.from));
    default: return ItemText(item, "weekday", WeekdayName);
  }
}

std::string WeekdayText(const CronItem& item) { return UnmovedWeekday(item) + MoveText(item.move); }

template <typename TextFn>
std::string Days(const CronField& field, const TextFn& text, std::string_view last = "and") {
  std::vector<std::string> parts;
  for (const CronItem& item : field.items) parts.push_back(text(item));
  return Joined(parts, last);
}

// "the 1st and 15th of the month"
std::string MonthDays(const CronField& field) {
  if (!AllPlainValues(field)) return Days(field, MonthDayText);
  return "the " + Days(field, [](const CronItem& item) { return Ordinal(item.from); }) +
         " of the month";
}

std::string DayPhrase(const CronExpression& e) {
  const CronField& month = e.field(CronUnit::kDayOfMonth);
  const CronField& week = e.field(CronUnit::kDayOfWeek);
  const bool any_month = Every(month, CronUnit::kDayOfMonth);
  const bool any_week = Every(week, CronUnit::kDayOfWeek);
  const bool either = !month.starred && !week.starred;
  if ((any_month && any_week) || (either && (any_month || any_week))) return " every day";
  if (any_week) return " on " + MonthDays(month);
  if (any_month) return " on " + Days(week, WeekdayText);
  if (!either) return " on " + MonthDays(month) + ", if that is " + Days(week, WeekdayText, "or");
  return " on " + MonthDays(month) + ", and on " + (AllPlainValues(week) ? "every " : "") +
         Days(week, WeekdayText);
}

std::string MonthPhrase(const CronExpression& e) {
  const CronField& field = e.field(CronUnit::kMonth);
  if (Every(field, CronUnit::kMonth)) return {};
  return " in " + ItemsText(field, "month", MonthName);
}

std::string YearPhrase(const CronExpression& e) {
  if (!e.has_years) return {};
  const NameFn name = [](int year) { return std::to_string(year); };
  return ", only in " + ItemsText(e.field(CronUnit::kYear), "year", name);
}

std::string WithoutFraction(WallTime t) {
  std::string text = FormatRfc3339(t);  // 2026-03-01T02:00:00.000000Z
  constexpr size_t kDate = 10;
  constexpr size_t kToSeconds = 19;
  text[kDate] = ' ';
  text.pop_back();
  if (text.ends_with(".000000")) text.resize(kToSeconds);
  return text + " UTC";
}

// "1 hour 30 minutes"
std::string LengthText(Duration length) {
  struct Unit {
    int64_t ms;
    std::string_view name;
  };
  constexpr std::array<Unit, 5> kUnits{{{86'400'000, "day"},
                                        {3'600'000, "hour"},
                                        {60'000, "minute"},
                                        {1'000, "second"},
                                        {1, "millisecond"}}};
  int64_t left = length / 1ms;
  std::string text;
  for (const Unit& unit : kUnits) {
    if (left >= unit.ms) text += (text.empty() ? "" : " ") + Plural(left / unit.ms, unit.name);
    left %= unit.ms;
  }
  return text;
}

}  // namespace

std::string ExplainCron(const CronExpression& expression, std::string_view zone) {
  const std::string day = DayPhrase(expression);
  const std::string time = TimePhrase(expression);
  // "Every minute" needs no "every day".
  const bool plain = day == " every day" && ListedTimes(expression).empty();
  return fmt::format("{}{}{}{}, {}", time, plain ? "" : day, MonthPhrase(expression),
                     YearPhrase(expression), zone == "UTC" ? "UTC" : fmt::format("{} time", zone));
}

std::string ExplainRate(Duration every, WallTime start) {
  return fmt::format("Every {} from {}", LengthText(every), WithoutFraction(start));
}

std::string ExplainDelay(Duration every, WallTime start) {
  return LengthText(every) + " after its last run ended" + ExplainWindow(start, kNever);
}

std::string ExplainAfter(std::string_view upstream, AfterOutcome on) {
  switch (on) {
    case AfterOutcome::kSuccess:
      return fmt::format("After each successful run of job {}", upstream);
    case AfterOutcome::kFailure: return fmt::format("After each failed run of job {}", upstream);
    case AfterOutcome::kDone:
      return fmt::format("After each run of job {}, successful or failed", upstream);
  }
  return {};
}

std::string ExplainEvent(std::string_view type, std::string_view source, bool has_filter) {
  std::string text = "On each event";
  if (type.size() > 1 && type.ends_with('*')) {
    text += fmt::format(" whose type begins with {}", type.substr(0, type.size() - 1));
  } else if (type != "*") {
    text += fmt::format(" of type {}", type);
  }
  if (!source.empty()) text += fmt::format(" from {}", source);
  if (has_filter) text += " that its filter lets through";
  return text;
}

std::string ExplainWindow(WallTime start, WallTime end) {
  std::string text;
  if (start != WallTime{}) text += " from " + WithoutFraction(start);
  if (end != kNever) text += " until " + WithoutFraction(end);
  return text.empty() ? text : "," + text;
}

std::string ExplainJitter(Duration jitter) {
  if (jitter == Duration{}) return {};
  return fmt::format(", each run up to {} later", LengthText(jitter));
}

std::string ExplainSpread(uint64_t seed) {
  if (seed != 0) return ", where H is fixed by the job_id";
  return ", where H is an example: each job_id has its own value";
}

std::string ExplainCalendars(std::string_view calendar, std::string_view blackout) {
  std::string text;
  if (!calendar.empty()) text += fmt::format(", only in calendar {}", calendar);
  if (!blackout.empty()) text += fmt::format(", never in calendar {}", blackout);
  return text;
}

std::string ExplainOnce(WallTime at) { return "Once at " + WithoutFraction(at); }

std::string ReadableTime(WallTime t) {
  return WithoutFraction(WallTime{std::chrono::floor<std::chrono::seconds>(t)});
}

}  // namespace carillon
