// Handlers of /api/executors, /api/system and /api/audit. docs/api.md describes each.
#pragma once

#include "scheduler/api/call.h"

namespace carillon::scheduler {

Reply ListExecutors(const Call& call);
Reply GetExecutor(const Call& call);
Reply PatchExecutor(const Call& call);
Reply EnableExecutor(const Call& call);
Reply DisableExecutor(const Call& call);
Reply DrainExecutor(const Call& call);
Reply ListAudit(const Call& call);
Reply SystemStatus(const Call& call);
Reply AcceptStore(const Call& call);

}  // namespace carillon::scheduler
