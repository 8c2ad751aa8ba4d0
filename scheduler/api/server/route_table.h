// The table of routes.
#pragma once

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// Every route below /api, in the order of docs/api.md.
const Routes& RouteTable();

}  // namespace carillon::scheduler
