// Handlers of /api/dead-letters: runs that failed on their last attempt, until a user retries or
// discards them.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListDeadLetters(const Call& call);
Reply GetDeadLetter(const Call& call);
Reply DiscardDeadLetter(const Call& call);
// Retries the run of the dead letter, which removes the dead letter. Answers as
// POST /api/runs/{}/retry does.
Reply RetryDeadLetter(const Call& call);

}  // namespace carillon::scheduler
