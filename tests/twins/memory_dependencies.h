// Jobs that wait for the ends of other jobs, in memory.
//
// Threads  The caller holds the lock of the tables.
#pragma once

#include <map>

#include "common/ports/store/job_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

// `job` is null if it does not exist yet. kInvalid as in common/domain/run/dependents.h.
// `siblings`: the new jobs of the same call that wait for each job.
Status CheckUpstream(MemoryTables& tables, const JobId& id, const JobEntry* job,
                     const JobDefinition& definition, const std::map<JobId, size_t>& siblings = {})
    REQUIRES(tables.mu);
// Marks the jobs that the definition waits for, their schedules and their open runs. Like the
// database, before the definition is checked: the marks of a refused one stay.
void RaiseFlags(MemoryTables& tables, const JobDefinition& definition) REQUIRES(tables.mu);
// Makes the dependencies agree with the schedules of the job.
void PutDependencies(MemoryTables& tables, const JobEntry& job) REQUIRES(tables.mu);
void EraseDependencies(MemoryTables& tables, const JobEntry& job) REQUIRES(tables.mu);
// kExists: other jobs wait for this one.
Status CheckNotAwaited(const MemoryTables& tables, const JobEntry& job) REQUIRES(tables.mu);
JobDependencies DependenciesOf(MemoryTables& tables, const JobEntry& job) REQUIRES(tables.mu);

}  // namespace carillon::memory
