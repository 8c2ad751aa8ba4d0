// Handlers of /api/backfills. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// POST /api/jobs/{}/backfills; with dry_run only the counts.
Reply StartBackfill(const Call& call);
Reply ListBackfills(const Call& call);
Reply GetBackfill(const Call& call);
Reply PauseBackfill(const Call& call);
Reply ResumeBackfill(const Call& call);
Reply CancelBackfill(const Call& call);

}  // namespace carillon::scheduler
