// What the roles are good for.
#pragma once

#include "scheduler/api/route.h"

namespace carillon::scheduler {

Reply ListRoles(const Call& call);

}  // namespace carillon::scheduler
