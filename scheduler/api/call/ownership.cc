#include "scheduler/api/call/ownership.h"

#include <fmt/core.h>

#include "common/domain/run_id.h"
#include "scheduler/api/call/path_ids.h"

namespace carillon::scheduler {
namespace {

const Error kUnknown{ErrorCode::kNotFound, "no such id"};

// Returns the job whose id is in the path, or the job of the run, dead letter or backfill whose id
// is in the path.
Result<JobId> JobOf(Owned owned, const Call& call) {
  const std::string& id = call.arguments.at(0);
  switch (owned) {
    case Owned::kJob:
      if (!ValidateJobId(id).ok()) return kUnknown;
      return JobId(id);
    case Owned::kRun: {
      const auto key = DecodeRunId(id);
      if (!key.ok()) return kUnknown;
      CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(*key));
      return run.job_id;
    }
    case Owned::kBackfill: {
      const auto number = DeadLetterId(id);
      if (!number) return kUnknown;
      CARILLON_ASSIGN_OR_RETURN(const Backfill backfill,
                                call.stores.backfills.GetBackfill(*number));
      return backfill.terms.job_id;
    }
    default: {
      const auto letter_id = DeadLetterId(id);
      if (!letter_id) return kUnknown;
      CARILLON_ASSIGN_OR_RETURN(const DeadLetter letter,
                                call.stores.runs.GetDeadLetter(*letter_id));
      return letter.job_id;
    }
  }
}

Result<std::string> OwnerOf(Owned owned, const Call& call) {
  const std::string& id = call.arguments.at(0);
  if (owned == Owned::kToken) {
    CARILLON_ASSIGN_OR_RETURN(const TokenRecord token, call.stores.auth.GetToken(id));
    return token.user_id;
  }
  if (owned == Owned::kBulk) {
    CARILLON_ASSIGN_OR_RETURN(const BulkAction action, call.stores.bulk.GetBulk(id));
    return action.order.user_id;
  }
  CARILLON_ASSIGN_OR_RETURN(const StoredSecret secret, call.stores.secrets.GetSecret(id));
  return secret.record.user_id;
}

// Reads the labels only if the decision may depend on them.
Result<JobAccessScope> ReadPlace(const Call& call, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(JobHead head, call.stores.jobs.GetJobHead(id));
  // A deleted job is returned as well, because its runs still have an owner. CheckOwned treats a
  // deleted job itself as unknown, and the handler answers 404.
  JobAccessScope place{.user_id = std::move(head.user_id),
                       .name_space = std::move(head.name_space),
                       .deleted = head.deleted};
  const bool settled = IsOwn(call.caller, place) ||
                       call.caller.shared.Cover(place.name_space, nullptr) ||
                       !call.caller.shared.CoverSomeOf(place.name_space);
  if (settled) return place;
  const auto job = call.stores.jobs.GetJob(id);
  if (job.ok()) return ScopeOf(job->definition);
  const bool unreadable = job.code() == ErrorCode::kCorrupt || job.code() == ErrorCode::kNotFound;
  if (!unreadable) return job.error();
  return place;
}

Result<bool> IsWithinReach(const Route& route, const Call& call) {
  const bool of_no_job =
      route.owned == Owned::kToken || route.owned == Owned::kSecret || route.owned == Owned::kBulk;
  if (of_no_job) {
    CARILLON_ASSIGN_OR_RETURN(const std::string owner, OwnerOf(route.owned, call));
    return !owner.empty() && owner == call.caller.user_id;
  }
  CARILLON_ASSIGN_OR_RETURN(const JobId id, JobOf(route.owned, call));
  CARILLON_ASSIGN_OR_RETURN(const JobAccessScope job, ReadPlace(call, id));
  if (job.deleted && route.owned == Owned::kJob) return kUnknown;
  return MayAct(call.caller, job);
}

Problem NotYours() {
  Problem problem{.status = 403,
                  .code = "not_owner",
                  .detail = "Only an administrator can assign a job to another user. Omit user_id.",
                  .errors = {{"/user_id", "not_owner", "Not your user_id."}}};
  problem.members["permission"] = Name(Permission::kWriteJobs);
  return problem;
}

Problem OwnerStays() {
  Problem problem{
      .status = 403,
      .code = "not_owner",
      .detail = "The owner of a job that is shared with you cannot be changed. Omit user_id.",
      .errors = {{"/user_id", "not_owner", "Not the owner of the job."}}};
  problem.members["permission"] = Name(Permission::kWriteJobs);
  return problem;
}

Problem OutOfReach(const Caller& caller, const JobDefinition& definition) {
  const bool by_labels = caller.shared.CoverSomeOf(definition.name_space);
  const std::string pointer = by_labels ? "/labels" : "/namespace";
  std::string what =
      by_labels
          ? fmt::format(
                "In namespace {}, jobs with these labels are not shared with you. GET /api/auth/me "
                "lists your shares.",
                definition.name_space)
          : fmt::format("Namespace {} is not shared with you. GET /api/auth/me lists your shares.",
                        definition.name_space);
  Problem problem{.status = 403,
                  .code = "out_of_reach",
                  .detail = what,
                  .errors = {{pointer, "out_of_reach", std::move(what)}}};
  problem.members["permission"] = Name(Permission::kWriteJobs);
  return problem;
}

// True if the caller may write a job with the scope `after`. Normally the caller's shares must
// cover this scope. There are two exceptions for a job that belongs to the caller:
// - it may be in the namespace `default`;
// - it may stay in its namespace if the shares did not cover it there before. Another user has then
//   moved it there.
bool MayAssignScope(const Caller& caller, const JobAccessScope* before,
                    const JobAccessScope& after) {
  if (caller.shared.Cover(after.name_space, &*after.labels)) return true;
  if (before != nullptr && !IsOwn(caller, *before)) return false;
  if (after.name_space == kDefaultNamespace) return true;
  if (before == nullptr || before->name_space != after.name_space) return false;
  return !before->labels || !caller.shared.Cover(before->name_space, &*before->labels);
}

}  // namespace

JobAccessScope ScopeOf(const JobDefinition& definition) {
  return {.user_id = definition.user_id,
          .name_space = definition.name_space,
          .labels = definition.labels};
}

Outcome<JobAccessScope> FindPlace(const Call& call, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(JobAccessScope place, ReadPlace(call, id));
  return place;
}

bool IsOwn(const Caller& caller, const JobAccessScope& job) {
  return !job.user_id.empty() && job.user_id == caller.user_id;
}

bool MayAct(const Caller& caller, const JobAccessScope& job) {
  return IsOwn(caller, job) ||
         caller.shared.Cover(job.name_space, job.labels ? &*job.labels : nullptr);
}

Problem NotOwner(Permission permission) {
  Problem problem{.status = 403,
                  .code = "not_owner",
                  .detail = fmt::format("Owned by another user. Your permission '{}' covers only "
                                        "what you own and what is shared with you.",
                                        Name(permission))};
  problem.members["permission"] = Name(permission);
  return problem;
}

Problem Forbidden(Permission permission) {
  Problem problem{.status = 403,
                  .code = "forbidden",
                  .detail = fmt::format("This requires the permission '{}'.", Name(permission))};
  problem.members["permission"] = Name(permission);
  return problem;
}

Outcome<bool> CheckOwned(const Route& route, const Call& call) {
  if (route.owned == Owned::kNothing) return true;
  const auto within = IsWithinReach(route, call);
  if (!within.ok() && within.code() == ErrorCode::kNotFound) return true;
  if (!within.ok()) return within.error();
  if (*within) return true;
  return NotOwner(route.permission);
}

Outcome<bool> CheckWrite(const Caller& caller, const JobAccessScope* before,
                         const JobDefinition& definition) {
  if (before != nullptr && !MayAct(caller, *before)) return NotOwner(Permission::kWriteJobs);
  const bool own = before == nullptr || IsOwn(caller, *before);
  if (own && definition.user_id != caller.user_id) return NotYours();
  if (!own && definition.user_id != before->user_id) return OwnerStays();
  if (MayAssignScope(caller, before, ScopeOf(definition))) return true;
  return OutOfReach(caller, definition);
}

}  // namespace carillon::scheduler
