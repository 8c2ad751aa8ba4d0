// Handlers of /api/jobs. scheduler/openapi/openapi.yaml describes each.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListJobs(const Call& call);
Reply CreateJob(const Call& call);
Reply GetJob(const Call& call);
Reply ReplaceJob(const Call& call);
Reply PatchJobFields(const Call& call);
Reply DeleteJob(const Call& call);
Reply PauseJob(const Call& call);
Reply ResumeJob(const Call& call);
Reply ExecuteJob(const Call& call);
Reply CancelJobRuns(const Call& call);
Reply NextFires(const Call& call);

}  // namespace carillon::scheduler
