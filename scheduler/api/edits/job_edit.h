// Functions that several routes of jobs use: reading a job for a change, and changing it.
#pragma once

#include "common/wire/json/job/job_json.h"
#include "scheduler/api/call/call.h"
#include "scheduler/api/edits/job_base.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/workflows/node_job_check.h"

namespace carillon::scheduler {

// The job as JSON, with the actions that this caller may take.
nlohmann::json ShowJob(const Call& call, const StoredJob& job, WallTime now);
// An answer with the job and its ETag.
HttpResponse JobResponse(const Call& call, int status, const StoredJob& job, WallTime now);
// The same after a write: with the warnings about its schedules, if there are any.
HttpResponse WrittenResponse(const Call& call, int status, const StoredJob& job, WallTime now);
// What a preview warns of, except crowded_minute, which costs more; an empty list if the calendars
// cannot be read.
nlohmann::json WarningsAbout(const Call& call, const JobId& id, const JobDefinition& definition,
                             WallTime now);

Outcome<JobBase> ReadBase(const Call& call, const JobId& id);
// The present job if the caller's precondition names its version; otherwise 412.
Outcome<JobBase> ReadAtVersion(const Call& call, const JobId& id, const EntityTags& wanted,
                               WallTime now);
// Parses the job in `body`. 422 if the body describes the schedules in two ways that contradict
// each other.
Outcome<ParsedJob> ReadParsed(const nlohmann::json& body,
                              const std::function<Result<ParsedJob>(Mistakes*)>& parse);

// Returns true if the caller may write this definition (edit_rules.h) and none of its fields is off
// until an upgrade is finished (settings/new_fields.h), otherwise the problem.
Outcome<bool> CheckEdit(const Call& call, const JobId& id, const JobBase* before,
                        const JobDefinition& definition, const ComingJobs& coming = {});

// The functions below write, and note the changes for the audit in `call.note`. The store refuses
// the write if the job has changed since the permission was checked.
//
// 409 exists: the id is taken, perhaps by a deleted job.
Outcome<StoredJob> StoreNew(const Call& call, const JobId& id, const JobDefinition& definition,
                            WallTime now);
// Makes the checks of StoreNew, except whether the id is taken.
Outcome<bool> CheckNew(const Call& call, const JobId& id, const JobDefinition& definition,
                       const ComingJobs& coming = {});
// Stores jobs that have passed CheckNew, all or none. After an error, StoreNew for each job shows
// which job caused it. kTimeout: it is unknown whether the jobs are stored. Does not change the
// call's note.
Result<std::vector<StoredJob>> StoreAllNew(const Call& call, const std::vector<NewJob>& jobs,
                                           WallTime now);
// If the definition is the same as before, nothing is written and the version does not change.
Outcome<StoredJob> StoreDefinition(const Call& call, const JobBase& base,
                                   const JobDefinition& definition, WallTime now,
                                   const ComingJobs& coming = {});
// 409 has_dependents: other jobs start after this one; with `force`, they stay and start no more.
Outcome<bool> Remove(const Call& call, const JobBase& base, WallTime now, bool force = false);

Reply WriteDefinition(const Call& call, const JobBase& base, const JobDefinition& definition,
                      WallTime now);

// 412 with the job as it is now, so that a client can show a three-way difference.
Problem StaleVersion(const Call& call, const JobBase& base, WallTime now);

}  // namespace carillon::scheduler
