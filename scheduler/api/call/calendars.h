// The stored calendars that a job's schedules name.
#pragma once

#include <memory>

#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// All calendars; an empty set, without a read, if `job` names none.
Outcome<std::shared_ptr<const CalendarSet>> CalendarsFor(const Call& call,
                                                         const JobDefinition& job);

}  // namespace carillon::scheduler
