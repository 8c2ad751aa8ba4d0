// Handler of /api/apply. docs/api.md describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ApplyJobs(const Call& call);

}  // namespace carillon::scheduler
