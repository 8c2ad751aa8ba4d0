// Executes a request once for its Idempotency-Key. The answer is stored. A repetition with the same
// key gets the stored answer.
#pragma once

#include <string>

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// Runs the handler of `route` under the key and scope of `call`. `fingerprint` is a hash of the
// request. If the key was used with another fingerprint, the request is refused with 422.
Reply RunOnce(const Route& route, const Call& call, const std::string& fingerprint);

// True if the response is the stored answer of an earlier request.
bool IsReplay(const HttpResponse& response);

}  // namespace carillon::scheduler
