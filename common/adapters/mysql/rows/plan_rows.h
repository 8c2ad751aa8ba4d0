// Step 1: the schedules that are due, and the rows that a plan writes.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// As FiringStore::ScanDue, of some segments.
Result<std::vector<DueSchedule>> ReadDue(Session& session, const std::vector<SegmentId>& segments,
                                         WallTime until, size_t limit);

// Several steps of one schedule in a batch become one: an update meets each row once.
Result<std::vector<ScheduleAdvance>> MergeAdvances(const std::vector<ScheduleAdvance>& advances);
// `advances` are the batch's, merged. After the fence was locked.
Status WritePlan(Session& session, const PlanBatch& batch,
                 const std::vector<ScheduleAdvance>& advances, WallTime now);

}  // namespace carillon::mysql
