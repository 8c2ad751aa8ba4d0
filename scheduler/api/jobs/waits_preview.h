// Handler of POST /api/waits/preview: the runs of other jobs for which a run would wait.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply PreviewWaits(const Call& call);

}  // namespace carillon::scheduler
