// The order in which the documents of a list are applied, and in which jobs are deleted. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/ports/store/job_store.h"

namespace carillon::scheduler {

// The jobs after which the job starts, and those that its nodes run, each once.
std::vector<JobId> JobsBefore(const JobDefinition& definition);

// Indexes of the documents, in their order, except that a job comes after those of the list after which
// it starts, and a workflow after the jobs of its nodes. Documents that would start each other stay as
// they are; the store refuses one of them.
std::vector<size_t> UpstreamFirst(const nlohmann::json& documents);

// What a deletion needs of a job: a request may find many of them.
StoredJob OutlineOf(const StoredJob& job);
// The jobs in their order, except that a job comes after those that start after it, or run it as a node.
std::vector<StoredJob> DependentsFirst(std::vector<StoredJob> jobs);

}  // namespace carillon::scheduler
