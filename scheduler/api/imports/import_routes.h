// Handler of /api/imports: converts the definitions of other schedulers to jobs.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ImportText(const Call& call);

}  // namespace carillon::scheduler
