// Problems of jobs that start after other jobs or wait for them, in the terms of the API.
#pragma once

#include <functional>

#include "common/domain/job/job.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// 422 unknown_job, too_many_dependents or cycle for a refusal of the store (dependents.h); any
// other error as usual.
Problem DependencyProblem(const Error& error);

// 409 has_dependents, with the names of the jobs that start after this one, wait for it or run it
// as a node.
Problem HasDependents(const Call& call, const JobId& id);
// 409 has_dependents if one of these jobs `stays`.
Outcome<bool> CheckNotAwaited(const Call& call, const JobId& id,
                              const std::function<bool(const JobId&)>& stays);

}  // namespace carillon::scheduler
