// Handler of /api/runs/{id}/checkpoint.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetRunCheckpoint(const Call& call);

}  // namespace carillon::scheduler
