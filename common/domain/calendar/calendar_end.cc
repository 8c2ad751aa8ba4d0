#include "common/domain/calendar/calendar_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/domain/schedule/zone.h"

namespace carillon {
namespace {

constexpr int kNextFiresLooked = 5;
// A calendar that has listed nothing for so long is not kept up from year to year.
constexpr std::chrono::days kKeptUp{400};

// The day of `t` on the clock of the zone; UTC where the zone is not known.
CalendarDay LocalDayOf(WallTime t, const Zone* zone) {
  const int64_t second = FloorDiv(ToUnixMicros(t), kMicrosPerSecond);
  const bool known = zone != nullptr && second >= kZoneBegin && second < kZoneEnd;
  const int64_t local = second + (known ? zone->OffsetAt(second) : 0);
  return CalendarDay(std::chrono::days(FloorDiv(local, kSecondsPerDay)));
}

}  // namespace

std::optional<CalendarDay> LastListed(const CalendarDefinition& calendar) {
  std::optional<CalendarDay> last;
  for (const auto* days : {&calendar.dates, &calendar.except}) {
    for (const CalendarDay day : *days) last = std::max(last.value_or(day), day);
  }
  return last;
}

std::optional<ScheduleWarning> LintCalendarEnd(const Schedule& schedule, const Schedule& free,
                                               const std::string& name,
                                               const CalendarDefinition& calendar, WallTime after) {
  const auto last = LastListed(calendar);
  if (!last || WallTime((*last + kKeptUp).time_since_epoch()) < after) return std::nullopt;
  const auto zone = Zone::Load(calendar.time_zone);
  const auto is_behind = [&](const Fire& fire) {
    return LocalDayOf(fire.time, zone.ok() ? *zone : nullptr) > *last;
  };
  auto fire = schedule.Next(after);
  for (int i = 1; i < kNextFiresLooked && fire && !is_behind(*fire); ++i) {
    fire = schedule.Next(fire->time);
  }
  // Two days: the last listed day has ended in every zone.
  if (!fire) fire = free.Next(std::max(after, WallTime(last->time_since_epoch()) + 48h));
  if (!fire || !is_behind(*fire)) return std::nullopt;
  const std::string day = FormatRfc3339(WallTime(last->time_since_epoch())).substr(0, 10);
  return ScheduleWarning{
      "calendar_ends",
      fmt::format(
          "Calendar {} lists no day after {}: from then on it knows no holiday and no extra "
          "day. Add the days to come.",
          name, day)};
}

std::vector<ScheduleWarning> LintInCalendars(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                             WallTime after, const CalendarSet& calendars) {
  const auto found = calendars.Of(spec.calendar, spec.blackout);
  const ScheduleCalendars limits = found.ok() ? *found : ScheduleCalendars();
  auto warnings = LintSchedule(spec, gap, repeat, after, limits);
  const auto schedule = Schedule::Compile(spec, gap, repeat, limits);
  const auto free = Schedule::Compile(spec, gap, repeat);
  if (!schedule.ok() || !free.ok()) return warnings;
  for (const std::string& name : {spec.calendar, spec.blackout}) {
    const StoredCalendar* stored = name.empty() ? nullptr : calendars.Find(name);
    if (stored == nullptr || !stored->readable) continue;
    auto old = LintZoneName(stored->definition.time_zone, "The time zone of calendar " + name);
    if (old) warnings.push_back(*std::move(old));
    auto ends = LintCalendarEnd(*schedule, *free, name, stored->definition, after);
    if (ends) warnings.push_back(*std::move(ends));
  }
  return warnings;
}

}  // namespace carillon
