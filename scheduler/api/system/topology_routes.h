// Handler of /api/system/topology. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply SystemTopology(const Call& call);

}  // namespace carillon::scheduler
