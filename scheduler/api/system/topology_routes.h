// Handler of /api/system/topology. docs/api.md describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply SystemTopology(const Call& call);

}  // namespace carillon::scheduler
