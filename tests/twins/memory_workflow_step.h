// One step of a workflow run, for MemoryWorkflowStore.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include "common/ports/store/workflow_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// The own run has begun and the workflow run has not ended.
StepEffect TakeStep(MemoryTables& tables, WorkflowEntry& workflow, const WorkflowGraph& graph,
                    WallTime now) REQUIRES(tables.mu);

}  // namespace carillon::memory
