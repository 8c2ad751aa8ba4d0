// Handler of /api/jobs/{id}/why. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply WhyJob(const Call& call);

}  // namespace carillon::scheduler
