#include "common/domain/schedule/schedule_lint.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "common/domain/cron/cron.h"
#include "common/domain/cron/cron_dialects.h"
#include "common/domain/job_text.h"
#include "common/domain/schedule/explain.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/zone.h"
#include "common/domain/schedule/zone_names.h"

namespace carillon {
namespace {

constexpr int64_t kGapLookaheadSeconds = 400 * int64_t{86'400};
constexpr int kShortestMonthDays = 28;

using Warnings = std::vector<ScheduleWarning>;

void LintFires(const Schedule& schedule, WallTime after, Warnings* warnings) {
  const auto first = schedule.Next(after);
  if (!first) {
    warnings->push_back({"never_fires", "It never fires: there is no future fire time."});
    return;
  }
  const bool repeats =
      schedule.kind() == ScheduleKind::kCron || schedule.kind() == ScheduleKind::kRate;
  if (repeats && schedule.Count(first->time, first->time + 60s) >= 60) {
    warnings->push_back(
        {"every_second", "It fires every second or more often: at least 86,400 runs a day."});
  }
}

// Warns about steps that do not divide their unit evenly: a step restarts in each minute, hour, day
// or month, so the last interval is shorter. With `spread`, a field H/n begins at any of the first
// n values.
void LintSteps(const CronExpression& cron, bool spread, Warnings* warnings) {
  for (const CronUnit unit : {CronUnit::kSecond, CronUnit::kMinute, CronUnit::kHour,
                              CronUnit::kDayOfMonth, CronUnit::kMonth}) {
    const CronBounds bounds = BoundsOf(unit);
    const int size = bounds.most - bounds.least + 1;
    for (const CronItem& item : cron.field(unit).items) {
      const bool hashed =
          spread && item.from < bounds.least + item.step && item.to == SpreadMost(unit);
      const bool begins = item.from == bounds.least && item.to >= bounds.most - item.step + 1;
      const bool whole = item.kind == CronItemKind::kValues && (begins || hashed);
      if (!whole || item.step <= 1 || (unit != CronUnit::kDayOfMonth && size % item.step == 0))
        continue;
      warnings->push_back(
          {"uneven_step",
           fmt::format(
               "{}/{} restarts at {} {}, so the last interval is shorter than the others. Use "
               "a fixed interval for even spacing.",
               hashed ? "H" : "*", item.step, bounds.name, bounds.least)});
    }
  }
}

// The smallest day in the field of days of the month; nullopt if it has other items than
// plain days.
std::optional<int> LeastDay(const CronField& days) {
  std::optional<int> least;
  for (const CronItem& item : days.items) {
    if (item.kind != CronItemKind::kValues) return std::nullopt;
    least = std::min(least.value_or(item.from), item.from);
  }
  return least;
}

bool Names(const CronField& field, int value) {
  return std::any_of(field.items.begin(), field.items.end(), [value](const CronItem& item) {
    return item.kind == CronItemKind::kValues && value >= item.from && value <= item.to &&
           (value - item.from) % item.step == 0;
  });
}

void LintDays(const CronExpression& cron, Warnings* warnings) {
  const CronField& days = cron.field(CronUnit::kDayOfMonth);
  const CronField& weekdays = cron.field(CronUnit::kDayOfWeek);
  if (days.starred) return;
  if (!weekdays.starred) {
    warnings->push_back({"either_day_field",
                         "Day of month and day of week are both restricted: it fires on days that "
                         "match either of them, not only on days that match both."});
    return;
  }
  const auto least = LeastDay(days);
  if (!least || *least <= kShortestMonthDays) return;
  constexpr int kDays[] = {31, kShortestMonthDays, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int skipped = 0;
  for (int month = 1; month <= 12; ++month) {
    if (Names(cron.field(CronUnit::kMonth), month) && kDays[month - 1] < *least) ++skipped;
  }
  if (skipped == 0) return;
  warnings->push_back(
      {"skips_months",
       fmt::format(
           "Not every month has a day {0}: {1} of the selected months are skipped{2}. Use {0}L for "
           "day {0} or the last day of a shorter month, L for the last day of each month.",
           *least, skipped, *least == 29 ? " except in leap years" : "")});
}

std::string LocalText(int64_t local_second) {
  std::string text = FormatRfc3339(FromUnixMicros(local_second * 1'000'000));
  text[10] = ' ';
  return text.substr(0, 16);
}

// Warns about a fire in an hour that a clock change skips, but only if the hour field is
// restricted: for "every five minutes" a skipped hour does not matter.
void LintGap(const ScheduleSpec& spec, const CronExpression& cron, DstGap gap, WallTime after,
             Warnings* warnings) {
  const CronPattern pattern(cron);
  const auto zone = Zone::Load(spec.time_zone);
  if (!zone.ok() || !pattern.names_hour() || pattern.every_hour()) return;
  const int64_t now = std::chrono::floor<std::chrono::seconds>(after.time_since_epoch()).count();
  if (now < kZoneBegin || now >= kZoneEnd) return;
  for (size_t i = (*zone)->IndexAt(now) + 1; i < (*zone)->size(); ++i) {
    const ZonePeriod period = (*zone)->Period(i);
    if (period.begin > now + kGapLookaheadSeconds) return;
    const int64_t resumes = period.begin + period.offset;
    const auto missing = pattern.Next(period.gap_from, resumes);
    if (period.gap_from >= resumes || !missing) continue;
    const std::string what = gap == DstGap::kSkip
                                 ? "it is skipped that day"
                                 : "it fires at " + LocalText(resumes).substr(11) + " instead";
    warnings->push_back(
        {"hour_in_gap", fmt::format("{} does not exist in {} because the clock jumps over it: {}.",
                                    LocalText(*missing), spec.time_zone, what)});
    return;
  }
}

// Warns about an hour field that allows every hour without a leading '*': it counts as one that
// names hours, so in a repeated hour it fires in the first pass only.
void LintRepeat(const ScheduleSpec& spec, const CronExpression& cron, DstRepeat repeat,
                WallTime after, Warnings* warnings) {
  const CronPattern pattern(cron);
  const auto zone = Zone::Load(spec.time_zone);
  const bool paused = repeat == DstRepeat::kAuto && pattern.names_hour() && pattern.every_hour();
  if (!zone.ok() || !paused) return;
  const int64_t now = std::chrono::floor<std::chrono::seconds>(after.time_since_epoch()).count();
  if (now < kZoneBegin || now >= kZoneEnd) return;
  for (size_t i = (*zone)->IndexAt(now) + 1; i < (*zone)->size(); ++i) {
    const ZonePeriod period = (*zone)->Period(i);
    if (period.begin > now + kGapLookaheadSeconds) return;
    const auto again =
        pattern.Next(period.begin + period.offset, period.second_until + period.offset);
    if (!again) continue;
    warnings->push_back(
        {"repeated_hour",
         fmt::format("{} comes twice in {} because the clock goes back: it fires the first time "
                     "only. Write * in the hour field to fire both times.",
                     LocalText(*again), spec.time_zone)});
    return;
  }
}

std::vector<std::string> WordsOfCron(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(AsciiUpper(text));
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Warns about forms that other tools read otherwise.
void LintDialect(const std::string& text, const CronPattern& pattern, bool every_second,
                 Warnings* warnings) {
  const std::vector<std::string> words = WordsOfCron(text);
  const size_t extra = words.size() > 5 ? 1 : 0;  // the second
  if (words.size() < 5) return;
  const std::string& weekday = words[4 + extra];
  const std::string named = NamedWeekdays(weekday);
  if ((words[2 + extra] == "?" || weekday == "?") && !named.empty()) {
    warnings->push_back(
        {"quartz_weekday",
         fmt::format("In numbers of weekdays, 1 is Monday here and Sunday in Quartz and "
                     "EventBridge. If {} comes from there, write {}.",
                     weekday, named)});
  }
  if (words.size() == 6 && pattern.fires_per_minute() > 1 && !every_second) {
    const std::string five = WithYearLast(text);
    warnings->push_back(
        {"seconds_field",
         fmt::format("The first field is the second: it fires {} times in a minute.{}",
                     pattern.fires_per_minute(),
                     five.empty() ? ""
                                  : " EventBridge and Nomad read six fields as minute to year; "
                                    "for their meaning write " +
                                        five + ".")});
  }
  if (words.size() == 7 && !pattern.has_years()) {
    warnings->push_back(
        {"year_field", "The seventh field, the year, allows every year and can be left out."});
  }
}

// Tells the last fire of a schedule that names its years. A step without an end, such as 2026/2,
// goes on for longer than matters. In calendars nobody looks far enough ahead to know it.
void LintYears(const ScheduleSpec& spec, const Schedule& schedule, const CronExpression& cron,
               WallTime after, Warnings* warnings) {
  if (!spec.calendar.empty() || !spec.blackout.empty()) return;
  const auto& years = cron.field(CronUnit::kYear).items;
  const bool open = std::any_of(years.begin(), years.end(),
                                [](const CronItem& item) { return item.to == kCronYearLast; });
  const WallTime end = FromUnixMicros(kZoneEnd * 1'000'000);
  if (!cron.has_years || open || !schedule.Next(after)) return;
  const int64_t fires = schedule.Count(after + Duration(1), end);
  const auto last = schedule.Nth(after + Duration(1), fires - 1);
  if (!last) return;
  warnings->push_back(
      {"ends", fmt::format("It fires for the last time at {}.", ReadableTime(*last))});
}

}  // namespace

std::optional<ScheduleWarning> LintZoneName(std::string_view zone, std::string_view of) {
  const std::string instead = NewZoneName(zone);
  if (instead.empty()) return std::nullopt;
  return ScheduleWarning{
      "old_zone_name",
      fmt::format("{} {} is an old name, which newer hosts do not know without the package "
                  "tzdata-legacy. Use {}.",
                  of, zone, instead)};
}

std::vector<ScheduleWarning> LintSchedule(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                          WallTime after, const ScheduleCalendars& calendars) {
  Warnings warnings;
  const auto schedule = Schedule::Compile(spec, gap, repeat, calendars);
  if (!schedule.ok() || !HasTimes(spec.kind)) return warnings;
  LintFires(*schedule, after, &warnings);
  if (spec.kind != ScheduleKind::kCron) return warnings;
  const auto cron = ParseCron(spec.cron_expression, spec.spread);
  if (!cron.ok()) return warnings;
  LintDays(*cron, &warnings);
  const CronPattern pattern(*cron);
  const bool every_second = std::any_of(warnings.begin(), warnings.end(),
                                        [](const auto& one) { return one.code == "every_second"; });
  LintDialect(spec.cron_expression, pattern, every_second, &warnings);
  LintYears(spec, *schedule, *cron, after, &warnings);
  LintSteps(*cron, UsesSpread(spec.cron_expression), &warnings);
  LintRepeat(spec, *cron, repeat, after, &warnings);
  LintGap(spec, *cron, gap, after, &warnings);
  if (auto old = LintZoneName(spec.time_zone, "The time zone")) warnings.push_back(*std::move(old));
  return warnings;
}

}  // namespace carillon
