// Turns due schedules into batches of rows to write. Pure.
//
// Place    Step 1 of docs/life-of-a-run.md; segment_planner.h reads, writes and handles errors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/domain/job/misfire.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/plan/schedule_cache.h"

namespace carillon::scheduler {

struct PlanTimes {
  WallTime now;        // cluster time
  Duration look{};     // a schedule whose next fire is within this time is due for planning
  Duration horizon{};  // how far ahead such a schedule is planned at most; at least `look`
  WallTime calendar_end = kNever;  // no schedule with a calendar is planned beyond
};

// The rows of a batch that belong to one schedule. They are kept apart from those of the other
// schedules, so that a schedule that the store refuses can be left out.
struct PlannedSchedule {
  DueSchedule due;
  std::vector<PlannedRun> runs;
  std::vector<PlannedGap> gaps;
  ScheduleAdvance advance;
  bool more = false;  // the row limit was reached before the horizon

  size_t rows() const { return runs.size() + gaps.size() + 1; }
};

// Plans `due` with at most `rows_max` (>= 2) rows. Each schedule's own horizon lies between `look`
// and `horizon`, derived from its id, so that schedules that were planned together become due for
// planning at different times.
PlannedSchedule PlanSchedule(const DueSchedule& due, const Schedule& compiled,
                             const PlanTimes& times, size_t rows_max);

// Moves a schedule that was computed by an older version of its calendars to its first fire by
// `calendars`, under which it was compiled. Plans nothing.
PlannedSchedule MoveToNewCalendars(const DueSchedule& due, const Schedule& compiled,
                                   const CalendarSet& calendars);

PlanBatch ToBatch(std::span<const PlannedSchedule> planned);

}  // namespace carillon::scheduler
