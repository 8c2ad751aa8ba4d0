// Handler of /api/failing-jobs: lists each failing job once, until its next success.
#pragma once

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// A job without dead letters is left out: a user has retried or discarded them, and the next
// failure lists the job again.
Reply ListFailingJobs(const Call& call);

}  // namespace carillon::scheduler
