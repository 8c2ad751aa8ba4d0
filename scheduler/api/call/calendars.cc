#include "scheduler/api/call/calendars.h"

#include <algorithm>

namespace carillon::scheduler {

Outcome<std::shared_ptr<const CalendarSet>> CalendarsFor(const Call& call,
                                                         const JobDefinition& job) {
  const bool names = std::any_of(
      job.schedules.begin(), job.schedules.end(),
      [](const ScheduleSpec& spec) { return !spec.calendar.empty() || !spec.blackout.empty(); });
  if (!names) return std::make_shared<const CalendarSet>();
  CARILLON_ASSIGN_OR_RETURN(CalendarSet read, call.stores.calendars.LoadCalendars());
  return std::make_shared<const CalendarSet>(std::move(read));
}

}  // namespace carillon::scheduler
