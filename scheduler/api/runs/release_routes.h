// Handler of /api/runs/{}/release. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ReleaseRun(const Call& call);

}  // namespace carillon::scheduler
