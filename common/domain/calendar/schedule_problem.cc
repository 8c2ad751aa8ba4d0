#include "common/domain/calendar/schedule_problem.h"

#include <fmt/format.h>

#include <utility>

namespace carillon {

std::string ScheduleProblem(const std::vector<ScheduleSpec>& schedules, DstGap gap,
                            DstRepeat repeat, const CalendarSet& calendars) {
  const auto check = [&](const ScheduleSpec& spec) -> Status {
    CARILLON_ASSIGN_OR_RETURN(ScheduleCalendars limits, calendars.Of(spec.calendar, spec.blackout));
    CARILLON_TRY(Schedule::Compile(spec, gap, repeat, std::move(limits)));
    return {};
  };
  for (size_t i = 0; i < schedules.size(); ++i) {
    const Status usable = check(schedules[i]);
    if (!usable.ok())
      return fmt::format("Schedule {} cannot be planned: {}.", i + 1, usable.error().message);
  }
  return {};
}

}  // namespace carillon
