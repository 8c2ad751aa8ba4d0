// Handlers of /api/system/status and of the route that accepts another store.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply SystemStatus(const Call& call);
Reply AcceptStore(const Call& call);

}  // namespace carillon::scheduler
