// Rows of calendars: one a version.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "common/adapters/mysql/client/session.h"
#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"
#include "common/domain/schedule/schedule.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// All calendars, in one statement, so that definitions and changes belong together.
Result<CalendarSet> ReadCalendars(Session& session);

// The calendars of these names, as far as they exist. Locks their rows, so that no new version of
// them is written before the end of the transaction: otherwise a schedule that is computed with the
// present version could become visible after the planner has looked for schedules that a new
// version concerns. Call it after job_schedules were locked, and before job_runs are.
Result<std::shared_ptr<const CalendarSet>> LockCalendars(Session& session,
                                                         const std::set<std::string>& names);

// The schedule with its calendars, as they are now. Locks nothing. `place`: the planner's next
// fire; it becomes earlier if the planner will go back, for versions that the schedule has not
// followed yet.
Result<Schedule> CompileSchedule(Session& session, const DueSchedule& due, WallTime* place);

// Adds the names of the calendars of the definition's schedules.
void AddCalendarNames(const JobDefinition& definition, std::set<std::string>* names);

}  // namespace carillon::mysql
