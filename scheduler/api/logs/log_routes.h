// Handlers of /api/runs/{id}/logs: whole logs, parts of them, and live streams.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply RunLogs(const Call& call);
Reply StreamRunLogs(const Call& call);

}  // namespace carillon::scheduler
