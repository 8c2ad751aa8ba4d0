// Reads one page of the list of jobs: directly by an index, or by a bounded walk along an index.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

Result<JobPage> SearchJobs(Session& session, const JobFilter& filter);

// As JobStore::GetJobHead.
Result<JobHead> ReadHead(Session& session, const JobId& id);

}  // namespace carillon::mysql
