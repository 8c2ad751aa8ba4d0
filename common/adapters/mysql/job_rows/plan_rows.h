// Step 1 of docs/life-of-a-run.md: reads the schedules that are due, and writes the rows of a plan.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// Implements FiringStore::ScanDue. `segments` is not empty.
Result<std::vector<DueSchedule>> ReadDue(Session& session, const std::vector<SegmentId>& segments,
                                         WallTime until, size_t limit);

// Implements FiringStore::ScanOutdated. Neither list is empty.
Result<std::vector<DueSchedule>> ReadOutdated(Session& session,
                                              const std::vector<SegmentId>& segments,
                                              const std::vector<CalendarAt>& calendars,
                                              size_t limit);

// Merges several advances of one schedule in a batch into one, because an UPDATE changes each row
// only once.
Result<std::vector<ScheduleAdvance>> MergeAdvances(const std::vector<ScheduleAdvance>& advances);
// Call it after the fence was locked. `advances` are the result of MergeAdvances for the batch.
Status WritePlan(Session& session, const PlanBatch& batch,
                 const std::vector<ScheduleAdvance>& advances, WallTime now);

}  // namespace carillon::mysql
