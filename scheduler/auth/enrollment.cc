#include "scheduler/auth/enrollment.h"

#include "common/base/log.h"
#include "scheduler/auth/authenticator.h"

namespace carillon::scheduler {
namespace {

// The answer is the same for all mistakes in a token. So it does not help to guess a token.
Error NotGood() {
  return {ErrorCode::kDenied,
          "the join token is unknown, already used, expired, or for another executor"};
}

Result<std::string> FindJoinToken(AuthStore& store, const JoinRequest& request, WallTime now) {
  CARILLON_ASSIGN_OR_RETURN(const auto found, store.FindToken(HashToken(request.token)));
  const bool good = found && found->token.role == kJoinRole &&
                    found->token.name == request.executor.value() && found->token.expires &&
                    *found->token.expires > now;
  if (!good) return NotGood();
  return found->token.token_id;
}

// An executor that is not in the store may renew. The store may have been restored from an older
// backup, or the executor may have joined only just now.
Status CheckMayRenew(ExecutorStore& store, const ExecutorId& id) {
  const auto executor = store.GetExecutor(id);
  if (!executor.ok()) {
    return executor.code() == ErrorCode::kNotFound ? Status() : Status(executor.error());
  }
  if (executor->enabled) return {};
  return {
      ErrorCode::kDenied,
      "this executor is disabled, so its certificate is not renewed; enable it, or join it again"};
}

}  // namespace

Result<std::string> ExecutorEnrollment::Issue(const JoinRequest& request) const {
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, now_());
  const bool renews = request.token.empty();
  std::string token_id;
  if (renews) {
    CARILLON_TRY(CheckMayRenew(stores_.executors, request.executor));
  } else {
    CARILLON_ASSIGN_OR_RETURN(token_id, FindJoinToken(stores_.auth, request, now));
  }
  auto issued = authority_.Issue(request.request, {.common_name = request.executor.value(),
                                                   .purpose = tls::Purpose::kClient,
                                                   .from = now - kClockTolerance,
                                                   .until = now + kExecutorCertificateLife});
  if (!issued.ok()) return Error{ErrorCode::kDenied, issued.error().message};
  if (renews) return issued;
  // Deleting the token uses it up. If there are two concurrent requests, the store lets only one of
  // them delete the token.
  const Status used = stores_.auth.DeleteToken(token_id);
  if (!used.ok()) return used.code() == ErrorCode::kNotFound ? NotGood() : used.error();
  const std::string& id = request.executor.value();
  const Status told = stores_.audit.RecordAudit({.at = now,
                                                 .actor = id,
                                                 .action = "executor.join",
                                                 .object_id = id,
                                                 .reason = token_id,
                                                 .trace_id = {},
                                                 .changes_json = {}});
  if (!told.ok())
    log::Error("api", "audit record not written: executor.join {}: {}", id, told.error().message);
  return issued;
}

}  // namespace carillon::scheduler
