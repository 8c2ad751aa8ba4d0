// GET and PUT /api/system/config: every setting in force, and those that the whole cluster is
// given.
#pragma once

#include "scheduler/api/route.h"

namespace carillon::scheduler {

Reply GetConfig(const Call& call);
Reply ChangeConfig(const Call& call);

}  // namespace carillon::scheduler
