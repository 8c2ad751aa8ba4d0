#include "scheduler/api/call/idempotency.h"

#include "common/base/log.h"
#include "scheduler/api/http/page.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kReplayed = "Idempotent-Replayed";

HttpResponse Replay(const StoredAnswer& answer) {
  HttpResponse response = FromStored(answer);
  response.headers.emplace_back(kReplayed, "true");
  return response;
}

}  // namespace

bool IsReplay(const HttpResponse& response) { return !HeaderOf(response, kReplayed).empty(); }

Reply RunOnce(const Route& route, const Call& call, const std::string& fingerprint) {
  IdempotencyStore& store = call.stores.idempotency;
  const std::string& scope = call.idempotency_scope;
  const std::string& key = call.idempotency_key;
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const RequestLookup lookup,
                            store.BeginRequest(scope, key, fingerprint, now));
  switch (lookup.state) {
    case RequestState::kReplay: return Replay(lookup.answer);
    case RequestState::kInFlight: {
      Problem problem{
          .status = 409,
          .code = "request_in_flight",
          .detail =
              "The first request with this Idempotency-Key is still in progress. Retry shortly."};
      problem.headers.emplace_back("Retry-After", "1");
      return problem;
    }
    case RequestState::kMismatch:
      return Problem{.status = 422,
                     .code = "idempotency_mismatch",
                     .detail =
                         "This Idempotency-Key was used with a different body. Use a new key for a "
                         "new request."};
    case RequestState::kNew: break;
  }
  Reply reply = route.handler(call);
  Status kept;
  if (reply.ok() && route.keyed != Keyed::kInWrite) {
    kept = store.FinishRequest(scope, key,
                               {.status = reply->status,
                                .body = reply->body,
                                .location = HeaderOf(*reply, "Location"),
                                .etag = HeaderOf(*reply, "ETag")});
  } else if (!reply.ok() && reply.error().code != "outcome_unknown") {
    // Nothing was done, so the key may be used again. After an unknown outcome the key stays in
    // flight for a minute, so that an immediate repetition cannot take effect twice.
    kept = store.AbandonRequest(scope, key);
  }
  if (!kept.ok()) {
    log::Warn("api", "result of the idempotency key of {} not stored: {}", scope,
              kept.error().message);
  }
  return reply;
}

}  // namespace carillon::scheduler
