// Handler of /api/failing-jobs: lists each failing job once, until its next success.
#pragma once

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// Leaves out a job without dead letters, because a user has retried or discarded all of them. The
// job is listed again after its next failure.
Reply ListFailingJobs(const Call& call);

}  // namespace carillon::scheduler
