// Handler of /api/jobs/{id}/queue. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetJobQueue(const Call& call);

}  // namespace carillon::scheduler
