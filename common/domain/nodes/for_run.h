// The row of a job as one of its runs meets it. Pure.
#pragma once

#include "common/domain/run/run_state.h"

namespace carillon {

// Everyone who decides about a run by the row of its job does so by this one. With run_flag::kRules
// the rules for retries and losses, the priority and the group are those of the run; the run of a
// node without a job (task_jobs.h) has the version that it began with. Rules that cannot be read:
// no retry, and `hold` for a lost attempt.
JobRow ForRun(JobRow job, const RunRow& run);

}  // namespace carillon
