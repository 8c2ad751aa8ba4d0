// Handler of /api/runs/{}/retry. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply RetryRun(const Call& call);

}  // namespace carillon::scheduler
