// Finds all mistakes of a job, where ValidateJob returns only the first.
#pragma once

#include <vector>

#include "common/domain/job/job.h"

namespace carillon {

// Returns all mistakes of a workflow, and the first one of each other part of the job (its name,
// its schedules, its routing, …), in the order of ValidateJob. Every error has a pointer.
std::vector<Error> FindMistakes(const JobDefinition& job);

}  // namespace carillon
