#include "scheduler/api/call/calendars.h"

#include <fmt/core.h>

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

Outcome<bool> CheckCalendars(const Call& call, const JobDefinition& job) {
  CARILLON_ASSIGN_OR_RETURN(const auto calendars, CalendarsFor(call, job));
  Problem problem{.status = 422, .code = "unknown_calendar"};
  for (size_t i = 0; i < job.schedules.size(); ++i) {
    const ScheduleSpec& spec = job.schedules[i];
    for (const auto& [field, name] :
         {std::pair("calendar", &spec.calendar), std::pair("blackout", &spec.blackout)}) {
      if (name->empty() || calendars->Find(*name) != nullptr) continue;
      problem.errors.push_back({fmt::format("/schedules/{}/{}", i, field), "unknown_calendar",
                                fmt::format("There is no calendar {}.", *name)});
    }
  }
  if (problem.errors.empty()) return true;
  problem.detail = problem.errors[0].detail;
  return problem;
}

}  // namespace carillon::scheduler
