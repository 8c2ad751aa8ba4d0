// Handlers of /api/system/upgrade: the state of an upgrade of the cluster, and its finish.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetUpgrade(const Call& call);
Reply FinishUpgrade(const Call& call);

}  // namespace carillon::scheduler
