#include "scheduler/explain/excluded_fire.h"

#include "common/domain/schedule/schedule.h"

namespace carillon::scheduler {

std::optional<ExcludedFire> FindExcluded(const JobDefinition& job, const CalendarSet& calendars,
                                         WallTime from, WallTime until) {
  std::optional<ExcludedFire> first;
  for (const ScheduleSpec& spec : job.schedules) {
    const auto limits = calendars.Of(spec.calendar, spec.blackout);
    const auto schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat);
    if (!limits.ok() || !limits->any() || !schedule.ok()) continue;
    const auto fire = schedule->Next(from - Duration(1));
    if (!fire || fire->time >= until || limits->Allow(fire->time)) continue;
    if (first && first->time <= fire->time) continue;
    const bool blackout = limits->blackout != nullptr && limits->blackout->Contains(fire->time);
    first = ExcludedFire{.time = fire->time,
                         .calendar = blackout ? spec.blackout : spec.calendar,
                         .blackout = blackout};
  }
  return first;
}

}  // namespace carillon::scheduler
