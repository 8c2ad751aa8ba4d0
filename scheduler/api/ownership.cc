#include "scheduler/api/ownership.h"

#include <fmt/core.h>

#include "common/domain/run_id.h"
#include "scheduler/api/dead_letter_routes.h"

namespace carillon::scheduler {
namespace {

Result<std::string> OwnerOfJob(const Call& call, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(const JobHead head, call.api.jobs.GetJobHead(id));
  return head.user_id;
}

Result<std::string> OwnerOf(Owned owned, const Call& call) {
  const std::string& id = call.arguments.at(0);
  const Error unknown{ErrorCode::kNotFound, "no such id"};
  switch (owned) {
    case Owned::kJob:
      if (!ValidateJobId(id).ok()) return unknown;
      return OwnerOfJob(call, JobId(id));
    case Owned::kRun: {
      const auto key = DecodeRunId(id);
      if (!key.ok()) return unknown;
      CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.api.runs.GetRun(*key));
      return OwnerOfJob(call, run.job_id);
    }
    case Owned::kDeadLetter: {
      const auto letter_id = DeadLetterId(id);
      if (!letter_id) return unknown;
      CARILLON_ASSIGN_OR_RETURN(const DeadLetter letter, call.api.runs.GetDeadLetter(*letter_id));
      return OwnerOfJob(call, letter.job_id);
    }
    case Owned::kToken: {
      CARILLON_ASSIGN_OR_RETURN(const TokenRecord token, call.api.auth.GetToken(id));
      return token.user_id;
    }
    case Owned::kSecret: {
      CARILLON_ASSIGN_OR_RETURN(const StoredSecret secret, call.api.secrets.GetSecret(id));
      return secret.record.user_id;
    }
    case Owned::kBulk: {
      CARILLON_ASSIGN_OR_RETURN(const BulkAction action, call.api.bulk.GetBulk(id));
      return action.order.user_id;
    }
    case Owned::kNothing: break;
  }
  return unknown;
}

}  // namespace

Problem NotOwner(Permission permission) {
  Problem problem{.status = 403,
                  .code = "not_owner",
                  .detail = fmt::format("This belongs to somebody else; your permission '{}' "
                                        "reaches only to what is yours.",
                                        Name(permission))};
  problem.members["permission"] = Name(permission);
  return problem;
}

Problem Forbidden(Permission permission) {
  Problem problem{.status = 403,
                  .code = "forbidden",
                  .detail = fmt::format("This needs the permission '{}'.", Name(permission))};
  problem.members["permission"] = Name(permission);
  return problem;
}

Outcome<bool> CheckOwned(const Route& route, const Call& call) {
  if (route.owned == Owned::kNothing) return true;
  const auto owner = OwnerOf(route.owned, call);
  if (!owner.ok() && owner.code() == ErrorCode::kNotFound) return true;
  if (!owner.ok()) return owner.error();
  if (!owner->empty() && *owner == call.caller.user_id) return true;
  return NotOwner(route.permission);
}

Outcome<bool> CheckNewOwner(const Call& call, const std::string& user_id) {
  if (call.owns_all || user_id == call.caller.user_id) return true;
  Problem problem{
      .status = 403,
      .code = "not_owner",
      .detail = "Only an administrator gives a job to somebody else; leave user_id out.",
      .errors = {{"/user_id", "not_owner", "This is not your user_id."}}};
  problem.members["permission"] = Name(Permission::kWriteJobs);
  return problem;
}

}  // namespace carillon::scheduler
