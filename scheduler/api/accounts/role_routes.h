// Routes that describe the roles.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListRoles(const Call& call);

}  // namespace carillon::scheduler
