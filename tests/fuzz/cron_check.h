// Checks of any text given as a cron expression; shared by the fuzzer and the unit test.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/domain/cron/cron.h"
#include "common/domain/schedule/schedule.h"

namespace carillon::test {

struct CronCheck {
  bool accepted = false;
  std::string complaint = {};  // empty = all checks passed
};

inline ScheduleSpec CronSpec(std::string text) {
  return {.kind = ScheduleKind::kCron,
          .cron_expression = std::move(text),
          .time_zone = "America/New_York"};
}

// The first text in quotes after "write" is an expression to use instead.
inline bool SuggestsAValidOne(const std::string& refusal) {
  constexpr std::string_view kWrite = "write '";
  const size_t at = refusal.find(kWrite);
  if (at == std::string::npos) return true;
  const size_t begin = at + kWrite.size();
  return ParseCron(refusal.substr(begin, refusal.find('\'', begin) - begin)).ok();
}

// Without holidays, the forms that ask calendars would fire as plain ones.
inline ScheduleCalendars CalendarsFor(std::string_view text) {
  const auto expression = ParseCron(text);
  if (!expression.ok() || !UsesCalendarDays(*expression)) return {};
  const CalendarDefinition weekdays{.weekdays = 0b0111110};
  return {.calendar = std::make_shared<const Calendar>(Calendar::Compile(weekdays).value())};
}

// A refusal has a code and a reason, and an expression that it suggests is valid. An accepted text
// has ascending fires that Count and Nth confirm, an explanation, and a normal form that fires at
// the same times.
inline CronCheck CheckCronText(std::string_view text) {
  constexpr int kFires = 5;
  const ScheduleCalendars calendars = CalendarsFor(text);
  const auto schedule =
      Schedule::Compile(CronSpec(std::string(text)), DstGap::kFire, DstRepeat::kAuto, calendars);
  if (!schedule.ok()) {
    const bool told = schedule.code() == ErrorCode::kInvalid && !schedule.error().message.empty();
    if (!told) return {.accepted = false, .complaint = "refused without a reason"};
    const bool valid = SuggestsAValidOne(schedule.error().message);
    return {.accepted = false, .complaint = valid ? "" : schedule.error().message};
  }
  CronCheck check{.accepted = true};
  const std::string spelled = FormatCron(ParseCron(text).value());
  const auto again =
      Schedule::Compile(CronSpec(spelled), DstGap::kFire, DstRepeat::kAuto, calendars);
  if (!again.ok()) return {.accepted = true, .complaint = "own spelling refused: " + spelled};
  if (schedule->Explain().empty()) check.complaint = "no explanation";
  const WallTime start = FromUnixMicros(1'772'960'399'000'000);  // 2026-03-08, before a DST gap
  const WallTime first = start + Duration(1);
  WallTime at = start;
  for (int i = 0; i < kFires; ++i) {
    const auto fire = schedule->Next(at);
    const auto same = again->Next(at);
    if (fire.has_value() != same.has_value()) check.complaint = "own spelling ends elsewhere";
    if (!fire || !same) break;
    if (fire->time != same->time) check.complaint = "own spelling fires elsewhere";
    if (fire->time <= at) check.complaint = "a fire that is not after";
    at = fire->time;
    if (schedule->Count(first, at) != i) check.complaint = "Count disagrees with Next";
    if (schedule->Nth(first, i) != at) check.complaint = "Nth disagrees with Next";
  }
  return check;
}

}  // namespace carillon::test
