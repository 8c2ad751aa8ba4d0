// From due schedules to batches of rows. Pure.
//
// Place    Step 1 of docs/life-of-a-run.md; segment_planner.h
//          reads, writes and decides about errors.
#pragma once

#include <string>
#include <vector>

#include "common/domain/misfire.h"
#include "common/ports/firing_store.h"
#include "scheduler/plan/schedule_cache.h"

namespace carillon::scheduler {

struct PlanTimes {
  WallTime now;        // cluster time
  Duration look{};     // schedules with a fire within this are due for planning
  Duration horizon{};  // and then planned this far: at least `look`
};

// The part of a batch that belongs to one schedule, so that a bad one can be left out.
struct PlannedSchedule {
  DueSchedule due;
  std::vector<PlannedRun> runs;
  std::vector<PlannedGap> gaps;
  ScheduleAdvance advance;
  bool more = false;  // stopped by the row limit, not by the horizon

  size_t rows() const { return runs.size() + gaps.size() + 1; }
};

// Plans `due` with at most `rows_max` (>= 2) rows. The schedule's own horizon lies between `look`
// and `horizon`, by its id, so that schedules that were planned together come up again spread out.
PlannedSchedule PlanSchedule(const DueSchedule& due, const Schedule& compiled,
                             const PlanTimes& times, size_t rows_max);

PlanBatch ToBatch(const std::vector<PlannedSchedule>& planned);

}  // namespace carillon::scheduler
