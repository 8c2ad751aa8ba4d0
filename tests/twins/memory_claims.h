// Claims of runs, for MemoryFiringStore and for the begin of workflow runs.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include "common/ports/store/firing_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// False: the executor is disabled or draining.
bool TakesRuns(const MemoryTables& tables, const ExecutorId& executor) REQUIRES(tables.mu);
// Writes an accepted claim, and the notice of a late start.
void WriteClaim(MemoryTables& tables, RunEntry entry, const ClaimRequest& request, WallTime now)
    REQUIRES(tables.mu);
// Decides by DecideClaim and writes.
ClaimReply ClaimOne(MemoryTables& tables, const ClaimRequest& request, WallTime now)
    REQUIRES(tables.mu);

}  // namespace carillon::memory
