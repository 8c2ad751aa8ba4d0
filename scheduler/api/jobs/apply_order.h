// The jobs that must exist before a job, and the order in which jobs are deleted. Pure.
#pragma once

#include <vector>

#include "common/ports/store/job_store.h"

namespace carillon::scheduler {

// The jobs after which the job starts, for which it waits, and that its nodes run; each once.
std::vector<JobId> JobsBefore(const JobDefinition& definition);

// True of a job that may be a part of a circle although no job names it yet: others come before its
// runs, and its runs lead to others. A store checks only against jobs that are stored.
bool MayCloseCircle(const JobDefinition& definition);

// What a deletion needs of a job: a request may find many of them.
StoredJob OutlineOf(const StoredJob& job);
// The jobs in their order, except that a job comes after those that start after it, wait for it, or
// run it as a node.
std::vector<StoredJob> DependentsFirst(std::vector<StoredJob> jobs);

}  // namespace carillon::scheduler
