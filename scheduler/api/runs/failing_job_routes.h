// Handler of /api/failing-jobs: lists each failing job once, until its next success.
#pragma once

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// A job without dead letters is left out, because a user has retried or discarded them all. After
// the next failure the job is listed again.
Reply ListFailingJobs(const Call& call);

}  // namespace carillon::scheduler
