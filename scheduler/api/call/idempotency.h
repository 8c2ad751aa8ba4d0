// A request that is done once for its Idempotency-Key: its answer is kept, and repeated to whoever
// asks with the same key again.
#pragma once

#include <string>

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// The handler of `route`, under the key and the scope of `call`. `fingerprint`: of all that makes
// two requests of one route the same.
Reply RunOnce(const Route& route, const Call& call, const std::string& fingerprint);

// Whether the answer is that of an earlier request.
bool IsReplay(const HttpResponse& response);

}  // namespace carillon::scheduler
