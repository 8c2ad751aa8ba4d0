// Handlers of /api/runs/{}/nodes. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetRunNodes(const Call& call);
Reply SkipRunNode(const Call& call);
Reply DecideRunNode(const Call& call);

}  // namespace carillon::scheduler
