// Jobs that fail: each one once, until its next success.
#pragma once

#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// GET /api/failing-jobs. A job without dead letters is left out: somebody has retried or discarded
// them, and the next failure lists the job again.
Reply ListFailingJobs(const Call& call);

}  // namespace carillon::scheduler
