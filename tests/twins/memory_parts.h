// Begins and ends of fires that are done in parts, for the stores of workflows and of completions.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <vector>

#include "common/ports/store/completion_store.h"
#include "common/ports/store/workflow_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// The runs of its fire with a shard above 0.
std::vector<RunKey> PartsOf(const MemoryTables& tables, const RunKey& own) REQUIRES(tables.mu);

// Implement BeginParts, EndFires and ScanUnended, after the fence was checked.
Result<PartsReply> BeginPartsOf(MemoryTables& tables, const PartsRequest& parts, WallTime now)
    REQUIRES(tables.mu);
FireEffect EndFireOf(MemoryTables& tables, const FireLook& fire, WallTime now) REQUIRES(tables.mu);
std::vector<FireLook> UnendedOf(const MemoryTables& tables, SegmentId segment, WallTime due)
    REQUIRES(tables.mu);

}  // namespace carillon::memory
