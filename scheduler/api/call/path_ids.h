// Ids from the path of a request, and the problems of a job that is missing or unreadable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/domain/run_id.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The job id in the path; 404 if no job can have it.
Outcome<JobId> PathJobId(const Call& call);

// The run id in the path.
Outcome<RunKey> PathRunKey(const Call& call);

// The id in the path; nullopt: no dead letter can have it.
std::optional<uint64_t> DeadLetterId(const std::string& text);

// 404: no such job, or it was deleted.
Outcome<JobHead> LiveHead(const Call& call, const JobId& id);

// Says how to repair the job; the ETag is that of the unreadable version.
Problem Unreadable(const JobId& id, int64_t version);
// The problem for an error of a call that needs the definition of the job.
Problem Explain(const Call& call, const JobId& id, const Error& error);

}  // namespace carillon::scheduler
