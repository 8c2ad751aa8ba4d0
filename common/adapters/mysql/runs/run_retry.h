// Retries of runs by people, in the caller's transaction.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/store/run_store.h"

namespace carillon::mysql {

// Implements RunStore::RetryRun.
Result<RunDetail> RetryIn(Session& session, const RetryRequest& request,
                          const WriteContext& context, Incarnations& incarnations);

// The error of a request to change a run that is not in job_runs.
Error NotOpenable(Session& session, const RunKey& key);
Error UnreadableRun(const RunKey& key);

}  // namespace carillon::mysql
