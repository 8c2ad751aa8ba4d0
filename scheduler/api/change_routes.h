// What has changed, as it changes.
#pragma once

#include "scheduler/api/route.h"

namespace carillon::scheduler {

Reply StreamChanges(const Call& call);

}  // namespace carillon::scheduler
