// The logs of runs: whole, in parts, and while they are written.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply RunLogs(const Call& call);
Reply StreamRunLogs(const Call& call);

}  // namespace carillon::scheduler
