// Handler of /api/executors/join-tokens. docs/api.md describes it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply CreateJoinToken(const Call& call);

}  // namespace carillon::scheduler
