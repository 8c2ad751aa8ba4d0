// Handlers of /api/runs and /api/gaps. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListRuns(const Call& call);
// The runs of one job: /api/jobs/{}/history.
Reply JobHistory(const Call& call);
Reply GetRun(const Call& call);
Reply CancelRun(const Call& call);
Reply ListGaps(const Call& call);

}  // namespace carillon::scheduler
