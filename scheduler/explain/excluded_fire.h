// Finds a fire that a calendar excludes, for explanations. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/domain/calendar/calendar_set.h"
#include "common/domain/job/job.h"

namespace carillon::scheduler {

struct ExcludedFire {
  WallTime time;         // when the job would have fired without its calendars
  std::string calendar;  // the name of the calendar that excludes it
  bool blackout = false;
  // Where it fires instead, if its day has a suffix '<' or '>'.
  std::optional<WallTime> moved_to = {};
};

// The first fire in [from, until) that a calendar excludes. Only the present versions of calendars
// are known, so the answer about the past may differ from what the planner saw.
std::optional<ExcludedFire> FindExcluded(const JobDefinition& job, const CalendarSet& calendars,
                                         WallTime from, WallTime until);

}  // namespace carillon::scheduler
