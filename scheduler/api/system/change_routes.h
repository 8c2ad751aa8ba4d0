// Handler of /api/changes, which streams changes of the cluster as they happen.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply StreamChanges(const Call& call);

}  // namespace carillon::scheduler
