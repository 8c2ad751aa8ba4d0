// Ids from the path of a request, and the problems of a job that is missing or unreadable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/domain/run_id.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The job id in the path; 404 if it does not have the form of a job id.
Outcome<JobId> PathJobId(const Call& call);

// The run id in the path; 400 if it does not have the form of a run id.
Outcome<RunKey> PathRunKey(const Call& call);

// Parses the id of a dead letter; nullopt if it does not have the form of one.
std::optional<uint64_t> DeadLetterId(const std::string& text);

// Reads a job that is not deleted. 404: there is no such job, or it was deleted.
Outcome<JobHead> LiveHead(const Call& call, const JobId& id);

// The problem of a job whose definition cannot be decoded. It says how to repair the job. Its ETag
// is the ETag of the unreadable version.
Problem Unreadable(const JobId& id, int64_t version);
// The problem for an error of a call that needs the definition of the job.
Problem Explain(const Call& call, const JobId& id, const Error& error);

}  // namespace carillon::scheduler
