// Decides whether a caller may act on a job if the caller's permission covers only own and shared
// jobs. All such decisions are made here: routes check before they act, writes of definitions check
// again with the version that they replace, and allowed_actions shows the result.
//
// Errors   403 forbidden (with `permission`), 403 not_owner, 403 out_of_reach; the store's errors.
#pragma once

#include "common/domain/job/share.h"
#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// The properties of a job that decide which callers may act on it.
struct JobAccessScope {
  std::string user_id = {};  // the user_id of the job's owner
  std::string name_space = {};
  std::optional<Labels> labels = {};  // nullopt: unknown, for example because the job is deleted
  bool deleted = false;
};
JobAccessScope ScopeOf(const JobDefinition& definition);
// Reads the properties of a job. The job may be deleted. 404: there is no such job.
Outcome<JobAccessScope> FindPlace(const Call& call, const JobId& id);

// IsOwn: the caller owns the job. MayAct: the caller owns the job, or it is shared with them.
bool IsOwn(const Caller& caller, const JobAccessScope& job);
bool MayAct(const Caller& caller, const JobAccessScope& job);

Problem Forbidden(Permission permission);
Problem NotOwner(Permission permission);

// Returns true if the caller may act on the object whose id is in the path: it belongs to the
// caller or is shared with them. Also returns true if there is no such object; the handler then
// answers 404. Otherwise returns the problem.
Outcome<bool> CheckOwned(const Route& route, const Call& call);

// Returns true if a caller whose permission covers only own and shared jobs may replace the job
// `before` with `definition`, otherwise the problem.
// `before` is nullptr if the job is created. A caller who has access only through a share may not
// change the owner of the job. Such a caller may also not move the job out of the share.
Outcome<bool> CheckWrite(const Caller& caller, const JobAccessScope* before,
                         const JobDefinition& definition);

}  // namespace carillon::scheduler
