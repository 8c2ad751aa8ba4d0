// Scans of due schedules and open runs in the order of their indexes, for MemoryFiringStore.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/twins/memory_tables.h"

namespace carillon::memory {

DueSchedule ToDue(MemoryTables& tables, const ScheduleEntry& schedule) REQUIRES(tables.mu);
std::vector<DueSchedule> DueSchedules(MemoryTables& tables, const std::vector<SegmentId>& segments,
                                      WallTime until, size_t limit) REQUIRES(tables.mu);
PendingPage PendingRuns(MemoryTables& tables, const std::vector<SegmentId>& segments,
                        WallTime until, std::optional<std::pair<WallTime, RunKey>> after,
                        size_t limit) REQUIRES(tables.mu);
JobPendingPage PendingRunsOfJob(MemoryTables& tables, const JobWindow& window,
                                std::optional<RunKey> after, size_t limit) REQUIRES(tables.mu);
OverdueReport Overdue(MemoryTables& tables, WallTime now) REQUIRES(tables.mu);

// Reads a page of one index of the tables: of running runs, or of runs to be cancelled. Leaves out
// those of workflows, which no executor has claimed.
using RunIndex = const std::set<RunKey>& (MemoryTables::*)(SegmentId) const;
RunningPage PageOf(MemoryTables& tables, RunIndex index, std::vector<SegmentId> segments,
                   std::optional<RunCursor> after, size_t limit) REQUIRES(tables.mu);

}  // namespace carillon::memory
