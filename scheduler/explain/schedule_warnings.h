// Warnings about the schedules of a job, as a preview and the coming fires of a job show them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"

namespace carillon::scheduler {

// [{schedule, code, detail}]: those of schedule_lint.h and calendar_end.h for each schedule, and
// same_instant for each that fires together with an earlier one within the next kFiresMax fires.
Result<nlohmann::json> ScheduleWarnings(const JobDefinition& job, const CalendarSet& calendars,
                                        WallTime after);

}  // namespace carillon::scheduler
