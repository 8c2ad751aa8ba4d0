// The fields of a job that say how its process begins: limits, user and working directory. Pure.
#pragma once

#include "common/domain/job/job.h"

namespace carillon {

// The first of these fields that is not valid, or has no effect on jobs of this type.
Status CheckProcess(const JobDefinition& job);

}  // namespace carillon
