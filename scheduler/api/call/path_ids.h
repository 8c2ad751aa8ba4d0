// Ids from the path of a request, and the problems of a job that is missing or unreadable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/domain/run_id.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The job id in the path. One that cannot exist is simply not found.
Outcome<JobId> PathJobId(const Call& call);

// The run that the path names.
Outcome<RunKey> PathRunKey(const Call& call);

// Of the path; nullopt: no dead letter has such an id.
std::optional<uint64_t> DeadLetterId(const std::string& text);

// 404: there is none, or it was deleted.
Outcome<JobHead> LiveHead(const Call& call, const JobId& id);

// Says how the job is mended; its ETag is that of the version that cannot be read.
Problem Unreadable(const JobId& id, int64_t version);
// An error of a call that needs the job's definition.
Problem Explain(const Call& call, const JobId& id, const Error& error);

}  // namespace carillon::scheduler
