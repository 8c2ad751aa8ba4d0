// Warns about a schedule whose next fires lie behind the days that its calendar lists: from then on
// holidays are not known. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/calendar/calendar.h"
#include "common/domain/calendar/calendar_set.h"
#include "common/domain/schedule/schedule.h"
#include "common/domain/schedule/schedule_lint.h"

namespace carillon {

// The last day that `dates` or `except` lists, if they list any.
std::optional<CalendarDay> LastListed(const CalendarDefinition& calendar);

// calendar_ends, if one of the next five fires after `after` lies behind the last listed day of the
// calendar, or if the schedule fires no more because of it. `free` is the schedule without its
// calendars: it tells this from a schedule that ends anyway.
std::optional<ScheduleWarning> LintCalendarEnd(const Schedule& schedule, const Schedule& free,
                                               const std::string& name,
                                               const CalendarDefinition& calendar, WallTime after);

// The warnings of LintSchedule and those about the calendars that the schedule names.
std::vector<ScheduleWarning> LintInCalendars(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                             WallTime after, const CalendarSet& calendars);

}  // namespace carillon
