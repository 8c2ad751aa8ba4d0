// Reading a job to change it, and changing it: what the routes of jobs have in common.
#pragma once

#include "common/wire/job_json.h"
#include "scheduler/api/call/call.h"
#include "scheduler/api/call/ownership.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {

// As callers see it, with what this one may do.
nlohmann::json ShowJob(const Call& call, const StoredJob& job, WallTime now);
// With its ETag.
HttpResponse JobResponse(const Call& call, int status, const StoredJob& job, WallTime now);

// What a write builds on. Of a job whose stored definition cannot be read only what else is known
// is filled in: it can be replaced and deleted all the same.
struct JobBase {
  StoredJob job;
  bool readable = true;
};
JobAccessScope ScopeOf(const JobBase& base);
Outcome<JobBase> ReadBase(const Call& call, const JobId& id);
// The job as it is, when the caller's precondition names this version; else 412.
Outcome<JobBase> ReadAtVersion(const Call& call, const JobId& id, const EntityTags& wanted,
                               WallTime now);
// What a body says of a job. Two views of its schedules that contradict each other are 422.
Outcome<ParsedJob> ReadParsed(const std::function<Result<ParsedJob>(Mistakes*)>& parse);

// Whether the caller may write this, and the job may use the secrets it names. Through a share, a
// caller may add secrets of the owner only if they may use them too.
Outcome<bool> CheckEdit(const Call& call, const JobBase* before, const JobDefinition& definition);

// The writes themselves. Each leaves what changed for the audit in the call's note. What `before`
// says is checked and is what the store expects, so that nothing comes between.
//
// 409 exists: the id is taken, also by a deleted job.
Outcome<StoredJob> StoreNew(const Call& call, const JobId& id, const JobDefinition& definition,
                            WallTime now);
// Refuses, without asking for the id, the same as StoreNew.
Outcome<bool> CheckNew(const Call& call, const JobId& id, const JobDefinition& definition);
// Jobs that CheckNew has passed, all of them or none; what keeps one back, StoreNew says of it.
// kTimeout: whether they are stored is not known.
// The note is left as it is.
Result<std::vector<StoredJob>> StoreAllNew(const Call& call, const std::vector<NewJob>& jobs,
                                           WallTime now);
// An edit that changes nothing writes nothing: the version stays.
Outcome<StoredJob> StoreDefinition(const Call& call, const JobBase& base,
                                   const JobDefinition& definition, WallTime now);
Outcome<bool> Remove(const Call& call, const JobBase& base, WallTime now);

Reply WriteDefinition(const Call& call, const JobBase& base, const JobDefinition& definition,
                      WallTime now);

// 412 with the job as it is now, so that a client can show a three-way difference.
Problem StaleVersion(const Call& call, const JobBase& base, WallTime now);

}  // namespace carillon::scheduler
