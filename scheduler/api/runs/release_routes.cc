#include "scheduler/api/runs/release_routes.h"

#include <nlohmann/json.hpp>

#include "common/domain/upstream/wait_end.h"
#include "scheduler/api/call/allowed_actions.h"
#include "scheduler/api/call/audited_write.h"
#include "scheduler/api/call/path_ids.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/runs/run_answer.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

Problem ExplainRelease(const Error& error) {
  Problem problem = ToProblem(error);
  if (error.code == ErrorCode::kConflict) problem.code = "not_waiting";
  return problem;
}

// The wait may have ended otherwise, but a run that goes on is what was asked for.
bool WentOn(const RunRow& row) { return !IsFinal(row.state) && !CheckReleasable(row).ok(); }

}  // namespace

Reply ReleaseRun(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, PathRunKey(call));
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_ASSIGN_OR_RETURN(const std::string why,
                            TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const RunDetail before, call.stores.runs.GetRun(key));
  if (before.kept) return ToProblem(OnlyKept(key));
  CARILLON_TRY(CheckWorkflowOf(call, before, "release"));
  CARILLON_ASSIGN_OR_RETURN(const json allowed, AllowedActions(call, Owned::kRun, before.job_id));
  const AuditedWrite write(call, now, why);
  const auto released = call.stores.upstream.ReleaseRun(key, write.context());
  if (released.ok()) return AcceptedRun(call, *released, allowed);
  if (!IsUnknown(released)) return ExplainRelease(released.error());
  const auto after = call.stores.runs.GetRun(key);
  if (after.ok() && WentOn(after->row)) return AcceptedRun(call, *after, allowed);
  return OutcomeUnknown("It is unknown whether the run was released. Trying again is safe.",
                        released.error());
}

}  // namespace carillon::scheduler
