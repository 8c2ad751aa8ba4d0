// Decides whether a caller may act on a job whose permission covers only own and shared jobs. The
// one place that decides it: routes ask before they act, writes of definitions ask again about the
// version that they replace, and allowed_actions shows the answer.
//
// Errors   403 forbidden (with `permission`), 403 not_owner, 403 out_of_reach; the store's own.
#pragma once

#include "common/domain/share.h"
#include "scheduler/api/call/route.h"

namespace carillon::scheduler {

// Of a job, what decides who may act on it.
struct JobAccessScope {
  std::string user_id = {};
  std::string name_space = {};
  std::optional<Labels> labels = {};  // nullopt: not known, as of a deleted job
  bool deleted = false;
};
JobAccessScope ScopeOf(const JobDefinition& definition);
// 404: there is no such job.
Outcome<JobAccessScope> FindPlace(const Call& call, const JobId& id);

// IsOwn: the caller owns the job. MayAct: the caller owns it, or it is shared with them.
bool IsOwn(const Caller& caller, const JobAccessScope& job);
bool MayAct(const Caller& caller, const JobAccessScope& job);

Problem Forbidden(Permission permission);
Problem NotOwner(Permission permission);

// Whether what the path names is owned by the caller or shared with them. Unknown ids are left to
// the handler.
Outcome<bool> CheckOwned(const Route& route, const Call& call);

// Whether the caller may write `definition` in the place of what `before` says; nullptr: as a new
// job. Who reaches a job by a share only leaves its owner, and leaves it within what is shared.
Outcome<bool> CheckWrite(const Call& call, const JobAccessScope* before,
                         const JobDefinition& definition);

}  // namespace carillon::scheduler
