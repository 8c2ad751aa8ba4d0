// Checks the jobs that a definition names, before its rows are written.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/store/job_store.h"

namespace carillon::mysql {

using UpstreamNumbers = std::map<JobId, JobNo>;
// Checks the jobs that `definition` waits for, and locks their rows in share mode. The lock of
// id_blocks['dependency'] comes first, so that two writers cannot make a cycle together. `id` is
// the job that waits, with its number if it exists already; it may go on to name a job that was
// deleted. Also checks the jobs of nodes and of `waits_for`. kInvalid as in dependents.h.
Result<UpstreamNumbers> CheckUpstream(Session& session, const JobId& id,
                                      std::optional<JobNo> job_no, const JobDefinition& definition);
// The same for new jobs, in their order.
Result<std::vector<UpstreamNumbers>> CheckUpstreamOfNew(Session& session, const NewJobs& jobs);

}  // namespace carillon::mysql
