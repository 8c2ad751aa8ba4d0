// All that is wrong with a job, where ValidateJob says the first of it.
#pragma once

#include <vector>

#include "common/domain/job.h"

namespace carillon {

// In the order of ValidateJob; of each part (its name, its schedules, its routing, …) the first
// mistake. Each has a pointer.
std::vector<Error> FindMistakes(const JobDefinition& job);

}  // namespace carillon
