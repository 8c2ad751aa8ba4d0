// Handlers of /api/jobs/{}/graph and /api/workflows. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetJobGraph(const Call& call);
Reply ValidateWorkflow(const Call& call);

}  // namespace carillon::scheduler
