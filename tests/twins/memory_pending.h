// The effect of an edit, a pause or a delete of a job on its PENDING runs, in memory.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <string_view>

#include "common/domain/run/run_state.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// Applies DecidePendingEffect to each of them. `why`: of those that are ended.
void ChangePending(MemoryTables& tables, JobEntry& job, JobChange change, std::string_view why,
                   WallTime now) REQUIRES(tables.mu);
// Applies an edit to the runs that wait still.
void StampPending(MemoryTables& tables, const JobEntry& job) REQUIRES(tables.mu);
// Applies DueAfterEdit: the job waits for others now, or no longer.
void ChangeWaits(MemoryTables& tables, const JobEntry& job, WallTime now) REQUIRES(tables.mu);

}  // namespace carillon::memory
