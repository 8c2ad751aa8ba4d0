// Handlers of /api/jobs/{id}/versions and /revert. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListJobVersions(const Call& call);
Reply GetJobVersion(const Call& call);
Reply RevertJob(const Call& call);

}  // namespace carillon::scheduler
