// Says that a stored schedule can no longer be planned, and why: its time zone has left the tz
// database of this host, or a calendar that it names has gone or is of a newer version. Pure.
//
// Place    Read by people: GET of a job, and `why`. The planner finds the same when it compiles the
//          schedule.
#pragma once

#include <string>
#include <vector>

#include "common/domain/calendar/calendar_set.h"
#include "common/domain/schedule/schedule.h"

namespace carillon {

// A sentence about the first schedule that cannot be planned; empty if all can.
std::string ScheduleProblem(const std::vector<ScheduleSpec>& schedules, DstGap gap,
                            DstRepeat repeat, const CalendarSet& calendars);

}  // namespace carillon
