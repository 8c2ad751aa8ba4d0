// Handler of /api/jobs/{id}/dependencies. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetJobDependencies(const Call& call);

}  // namespace carillon::scheduler
