// The cancel of all open runs of a job, in transactions of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

// True unless an executor has claimed the run, or its work is done by parts.
bool MayHaveNodes(const StoredRun& run);

// Returns the number of runs that were cancelled or have a request, without parts. Adds to
// `maybe_workflows` those whose nodes the caller must cancel next. After an error, some groups of
// them (cancel_groups.h) may be cancelled; the call can be repeated.
Result<int64_t> CancelRunsOf(Pool& pool, const JobId& id, const WriteContext& context,
                             Incarnations& incarnations, std::vector<RunKey>* maybe_workflows);

}  // namespace carillon::mysql
