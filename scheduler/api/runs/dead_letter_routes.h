// Runs that used up their attempts, until somebody tries them again or lets them be.
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
