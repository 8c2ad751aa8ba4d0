// Handlers of /api/executors. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListExecutors(const Call& call);
Reply ListHandlers(const Call& call);
Reply GetExecutor(const Call& call);
Reply PatchExecutor(const Call& call);
Reply EnableExecutor(const Call& call);
Reply DisableExecutor(const Call& call);
Reply DrainExecutor(const Call& call);

}  // namespace carillon::scheduler
