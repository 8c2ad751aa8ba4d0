// Finds all mistakes of a job, where ValidateJob returns only the first.
#pragma once

#include <vector>

#include "common/domain/job/job.h"

namespace carillon {

// Returns the mistakes in the order of ValidateJob: the first one of each part of the job (its
// name, its schedules, its routing, …). Every error has a pointer.
std::vector<Error> FindMistakes(const JobDefinition& job);

}  // namespace carillon
