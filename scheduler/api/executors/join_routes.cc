#include "scheduler/api/executors/join_routes.h"

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "common/domain/executor_state.h"
#include "common/tls/join_token.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/auth/enrollment.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr int64_t kLifeSeconds = 3600;
constexpr int64_t kLifeSecondsMax = 7 * 86'400;

}  // namespace

// Does not support Idempotency-Key, because the stored answer would contain the token.
Reply CreateJoinToken(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"executor_id", "expires_in_s", "reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const std::string executor, TextMember(body, "executor_id", 63));
  if (!IsExecutorId(executor)) {
    return InvalidField("/executor_id", "bad_executor_id",
                        "Must be an executor_id: [a-z0-9][a-z0-9-]{0,62}.");
  }
  CARILLON_ASSIGN_OR_RETURN(
      const auto life, NumberMember(body, "expires_in_s", {.low = 60, .high = kLifeSecondsMax}));
  if (call.api.link_authority.empty() && call.api.one_process) {
    return Problem{.status = 409,
                   .code = "executors_not_accepted",
                   .detail =
                       "This server runs jobs on its own host only. Start it with --executors "
                       "HOST:PORT to accept executors of other hosts."};
  }
  if (call.api.link_authority.empty()) {
    return Problem{.status = 409,
                   .code = "link_without_tls",
                   .detail =
                       "The control link of this cluster has no TLS (link.tls is off): its "
                       "executors join with the secret of link.join_secret_file. Tokens are for "
                       "clusters with link.tls, which is set before executors are added "
                       "(docs/security.md)."};
  }
  CARILLON_ASSIGN_OR_RETURN(const auto authority, tls::Describe(call.api.link_authority));
  const WallTime now = call.services.authenticator.Wall();
  const std::string secret = NewToken();
  TokenRecord token = DescribeToken(secret, now);
  token.name = executor;
  token.role = std::string(kJoinRole);
  token.expires = now + std::chrono::seconds(life.value_or(kLifeSeconds));
  token.user_id = call.caller.user_id;
  CARILLON_TRY(call.stores.auth.CreateToken(token));
  call.note.object_id = executor;
  call.note.reason = token.token_id;
  const tls::JoinToken whole{.secret = secret, .authority = call.api.link_authority};
  HttpResponse response = JsonResponse(
      201,
      {{"token_id", token.token_id},
       {"executor_id", executor},
       {"expires_at", FormatRfc3339(*token.expires)},
       {"authority_fingerprint", authority.fingerprint},
       {"join_token", whole.Text()},
       {"link_address", call.api.link_address.empty() ? json() : json(call.api.link_address)}});
  response.headers.emplace_back("Location", "/api/tokens/" + token.token_id);
  return response;
}

}  // namespace carillon::scheduler
