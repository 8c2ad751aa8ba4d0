// The people on whose behalf runs act, as the accounts are now.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <vector>

#include "common/domain/access/standing.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// The owner of the workflow, and whoever gave this run of it parameters.
std::vector<Backer> BackersOf(MemoryTables& tables, const WorkflowEntry& workflow)
    REQUIRES(tables.mu);
// Of a node those of its workflow run; of another run whoever gave it parameters.
std::vector<Backer> BackersOfRun(MemoryTables& tables, const RunEntry& run) REQUIRES(tables.mu);

}  // namespace carillon::memory
