// Handlers of /api/dead-letters. A dead letter is kept until a user retries or discards it.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListDeadLetters(const Call& call);
Reply GetDeadLetter(const Call& call);
Reply DiscardDeadLetter(const Call& call);
// Retries the run of the dead letter, and so removes the dead letter. The answer is the same as
// that of POST /api/runs/{}/retry.
Reply RetryDeadLetter(const Call& call);

}  // namespace carillon::scheduler
