// Jobs as the runs of nodes meet them: the rows of the nodes of a workflow that have no job, and
// definitions and rows by the rules of a run.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include "common/domain/run/run_state.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// Adds or updates the row of the nodes that have no job, if the workflow has such nodes.
void PutTaskJob(MemoryTables& tables, const JobEntry& workflow) REQUIRES(tables.mu);

// The row of its job as everyone meets it who decides about the run.
JobRow JobOf(MemoryTables& tables, const RunRow& run) REQUIRES(tables.mu);

// The definition of the job at the version of the run; of a node without a job, that of its
// workflow. Null: it is unreadable or gone.
const JobDefinition* VersionOf(MemoryTables& tables, JobNo job_no, int64_t version)
    REQUIRES(tables.mu);
// What the run executes. kCorrupt: its version is unreadable or gone.
Result<JobDefinition> DefinitionOf(MemoryTables& tables, const RunRow& run) REQUIRES(tables.mu);

// The rules of a run that has none, or unreadable ones, are empty.
RunRules RulesOf(const RunRow& run);

// A part has the rules of its own run.
void CopyRules(const RunRow& own, RunRow* part);

}  // namespace carillon::memory
