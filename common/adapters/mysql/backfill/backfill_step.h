// Continues a backfill, in the caller's transaction.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/fence.h"
#include "common/ports/store/backfill_store.h"

namespace carillon::mysql {

// Reads the job's runs at `fires`, without locks. A run that this version cannot read counts as
// open, so that it is left alone.
Result<RunsByFire> ReadRunsAt(Session& session, JobNo job_no, const std::vector<WallTime>& fires);

// The input of StepBatch besides the backfill.
struct StepRules {
  Incarnations& incarnations;
  const Fence& fence;
  WallTime now;
  Duration retention;  // of the cluster
};

// As BackfillStore::StepBackfill. Locks the segment and the job, its schedules, the backfill and
// the runs that are run again, in this order.
Result<BackfillEffect> StepBatch(Session& session, const OpenBackfill& open,
                                 const StepRules& rules);

}  // namespace carillon::mysql
