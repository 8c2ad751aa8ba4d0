// Lists and retries of the parts of fires, for MemoryRunStore.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include "common/ports/store/run_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

RunPart ToPart(const RunEntry& entry);
// Before a retry: kConflict as CheckLostFacts, unless an edit keeps facts with such a run.
Status AskLostFacts(const MemoryTables& tables, const RunEntry& run, const JobEntry& job)
    REQUIRES(tables.mu);
// Plans and writes a retry of parts: PlanPartRetry, and the next attempt of a fire that has ended.
Status RetryParts(MemoryTables& tables, const RunKey& own, const PartChoice& choice,
                  const WriteContext& context) REQUIRES(tables.mu);

}  // namespace carillon::memory
