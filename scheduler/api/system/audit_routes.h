// Handler of GET /api/audit.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListAudit(const Call& call);

}  // namespace carillon::scheduler
