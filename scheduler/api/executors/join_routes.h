// Handler of /api/executors/join-tokens. scheduler/openapi/openapi.yaml describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply CreateJoinToken(const Call& call);

}  // namespace carillon::scheduler
