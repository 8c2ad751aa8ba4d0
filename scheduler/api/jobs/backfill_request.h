// Reads the request for a backfill, and checks it by its job and by what the store keeps.
//
// Errors   400: a field is malformed. 422: the range, or the choice of the schedule, does not fit
//          the job or the store. The store's errors.
#pragma once

#include "common/ports/store/backfill_store.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

struct BackfillRequest {
  BackfillTerms terms;
  bool dry_run = false;
};
Outcome<BackfillRequest> ReadBackfillRequest(const Call& call, const StoredJob& job, WallTime now);

}  // namespace carillon::scheduler
