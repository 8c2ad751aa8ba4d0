// Finds all mistakes of a job, where ValidateJob returns only the first.
#pragma once

#include <vector>

#include "common/domain/job/job.h"

namespace carillon {

// In the order of ValidateJob; for each part (its name, its schedules, its routing, …) the first
// mistake. Every error has a pointer.
std::vector<Error> FindMistakes(const JobDefinition& job);

}  // namespace carillon
