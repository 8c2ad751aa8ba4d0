// Handler of /api/roles, which describes the roles and their permissions.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListRoles(const Call& call);

}  // namespace carillon::scheduler
