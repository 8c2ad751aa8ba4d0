// Outputs of other jobs for which the parameters of schedules of kind `after` ask.
#pragma once

#include <vector>

#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {

// The parameters that ask for an output which no run of the job before can have, with the code
// bad_template. Schedules that `before`, the stored definition or null, has are not looked at
// again, nor those after a job that cannot be read now.
Outcome<std::vector<FieldError>> FindOutputMistakes(const Call& call, const JobDefinition* before,
                                                    const JobDefinition& definition,
                                                    const ComingJobs& coming);
// 422. Not for an empty list.
Problem OutputProblem(std::vector<FieldError> found);

}  // namespace carillon::scheduler
