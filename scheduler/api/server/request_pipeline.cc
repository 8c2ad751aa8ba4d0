#include "scheduler/api/server/request_pipeline.h"

#include <algorithm>
#include <array>

#include "common/base/ip_address.h"
#include "common/base/log.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/accounts/auth_routes.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/idempotency.h"
#include "scheduler/api/call/ownership.h"
#include "scheduler/api/http/bearer_token.h"
#include "scheduler/api/http/client_address.h"
#include "scheduler/api/http/forwarded_prefix.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/http/short_hash.h"
#include "scheduler/api/server/route_table.h"
#include "scheduler/auth/random_token.h"
#include "scheduler/openapi/openapi_pages.h"

namespace carillon::scheduler {
namespace {

// Limit of a body from an unauthenticated sender: room for the longest name and password, escaped.
constexpr size_t kAnyonesBodyBytesMax = 4u << 10;
constexpr size_t kKeyLengthMax = 255;  // characters of an Idempotency-Key
constexpr const char* kRoom = "api";
constexpr const char* kStrictTransport = "max-age=31536000";  // a year

Problem Unauthenticated(bool token_sent) {
  Problem problem{.status = 401,
                  .code = "unauthenticated",
                  .detail = token_sent ? "This token is unknown or no longer valid."
                                       : "Send a token: Authorization: Bearer <token>."};
  problem.headers.emplace_back("WWW-Authenticate",
                               token_sent ? "Bearer realm=\"carillon\", error=\"invalid_token\""
                                          : "Bearer realm=\"carillon\"");
  return problem;
}

Problem MethodNotAllowed(const std::string& allow) {
  Problem problem{.status = 405,
                  .code = "method_not_allowed",
                  .detail = "This path supports only " + allow + "."};
  problem.headers.emplace_back("Allow", allow);
  return problem;
}

HttpResponse ContractResponse(const OpenApiPage& page) {
  HttpResponse response{.status = 200};
  response.headers = {{"Content-Type", std::string(page.content_type)},
                      {"ETag", std::string(page.etag)},
                      {"Referrer-Policy", "no-referrer"}};
  if (!page.policy.empty()) response.headers.emplace_back("Content-Security-Policy", page.policy);
  response.body = std::string(page.body);
  return response;
}

Problem TooManyRequests(Duration wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  Problem problem{.status = 429,
                  .code = "too_many_requests",
                  .detail = fmt::format("Too many requests. Retry in {} s.", seconds)};
  problem.headers.emplace_back("Retry-After", std::to_string(seconds));
  return problem;
}

// True for paths that load balancers and monitors commonly use. Without this check the console
// would answer them with a page and status 200. A monitor would read that as healthy.
bool IsProbePath(const HttpRequest& request) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "livez",    "readyz", "healthz", "health",  "healthcheck",
      "liveness", "live",   "ready",   "metrics", "readiness"};
  return !request.segments.empty() &&
         std::find(kNames.begin(), kNames.end(), request.segments[0]) != kNames.end();
}

std::optional<Problem> DefectProblem(HttpDefect defect) {
  switch (defect) {
    case HttpDefect::kTargetTooLong:
      return Problem{.status = 414, .code = "uri_too_long", .detail = "The URL exceeds 8 KiB."};
    case HttpDefect::kBadTarget:
      return Problem{
          .status = 400,
          .code = "bad_uri",
          .detail = "The URL contains an invalid escape or a control character, or is not UTF-8."};
    case HttpDefect::kBodyTooLarge:
      return Problem{.status = 413, .code = "body_too_large", .detail = "The body exceeds 1 MiB."};
    case HttpDefect::kBadHeader:
      return Problem{.status = 400,
                     .code = "bad_header",
                     .detail = "A header name contains an invalid character."};
    case HttpDefect::kBadHost:
      return Problem{.status = 400, .code = "bad_header", .detail = "Send only one Host header."};
    case HttpDefect::kUnknownCoding:
      return Problem{.status = 400,
                     .code = "bad_header",
                     .detail = "The only supported Transfer-Encoding is chunked."};
    case HttpDefect::kNone: return std::nullopt;
  }
  return std::nullopt;
}

// Refuses large bodies of unauthenticated senders. Parsing costs far more than a refusal, and one
// address may send many such requests.
std::optional<Problem> TooLargeForAnyone(const HttpRequest& request) {
  const bool fits =
      request.defect != HttpDefect::kBodyTooLarge && request.body.size() <= kAnyonesBodyBytesMax;
  if (fits) return std::nullopt;
  return Problem{.status = 413,
                 .code = "body_too_large",
                 .detail = "The body exceeds 4 KiB, the limit for requests without a token."};
}

// Returns the problem for a write while the store is not trusted. The write might be lost with this
// store, or have no effect.
std::optional<Problem> HeldProblem(const StoreStanding& standing) {
  if (standing.state == StoreState::kTrusted) return std::nullopt;
  Problem problem{.status = 503, .code = "store_held"};
  problem.detail =
      standing.state == StoreState::kHeld
          ? "The store is held: " + standing.reason +
                ". Changes are refused until the trusted store answers again or an operator "
                "accepts this one. See GET /api/system/status."
          : "The trusted store has not been read from the coordinator yet. Retry shortly.";
  problem.headers.emplace_back("Retry-After", "5");
  return problem;
}

Outcome<std::string> ReadKey(const HttpRequest& request) {
  const std::string* header = request.Header("idempotency-key");
  if (header == nullptr) return std::string();
  std::string key = *header;
  if (key.size() >= 2 && key.front() == '"' && key.back() == '"') {
    key = key.substr(1, key.size() - 2);
  }
  const bool visible =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (request.CountHeader("idempotency-key") > 1 || key.empty() || !visible ||
      key.size() > kKeyLengthMax) {
    return Problem{.status = 400,
                   .code = "bad_idempotency_key",
                   .detail = "Idempotency-Key must be 1 to 255 visible ASCII characters."};
  }
  return key;
}

// The scope of an Idempotency-Key consists of caller, route and path. Its length is bounded.
std::string ScopeOf(const Route& route, const Call& call) {
  std::string arguments;
  for (const std::string& argument : call.arguments) arguments += argument + "/";
  return fmt::format("{} {} {} {}", call.caller.Subject(), route.method, route.path,
                     ShortHash(arguments));
}

// A hash of body and query. Together with the route they identify a request.
std::string FingerprintOf(const HttpRequest& request) {
  std::string text = request.body;
  for (const auto& [name, value] : request.query) text += "\n?" + name + "=" + value;
  return HashSecret(text);
}

// Returns the reason from a body that the handler has accepted.
std::string ReasonOf(const HttpRequest& request) {
  const auto body = ParseJsonText(request.body);
  if (!body.ok() || !body->is_object()) return {};
  const auto reason = body->find("reason");
  return reason != body->end() && reason->is_string() ? reason->get<std::string>() : "";
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Returns the path without the query. It is the `instance` of a problem.
std::string PathOf(const HttpRequest& request) {
  return request.target.substr(0, request.target.find('?'));
}

// Null if this cluster publishes no dead letters.
LetterStore* PublishedLetters(const ApiContext& context) {
  return context.config.Text("dead_letters.topic").empty() ? nullptr : &context.stores.letters;
}

}  // namespace

ApiHandler::ApiHandler(const ApiContext& context, size_t workers)
    : context_(context),
      identifiers_(context.seed),
      aside_(context.clock),
      authenticator_(context.stores.auth, context.clock, aside_, context.store_patience,
                     context.cluster_now),
      sign_in_(context.clock),
      account_rate_(context.account_rate),
      address_rate_(context.address_rate),
      lookup_rate_(context.account_rate),
      probe_({.segments = context.stores.segments,
              .executors = context.stores.executors,
              .runs = context.stores.runs,
              .letters = PublishedLetters(context),
              .clock = context.clock},
             context.store_patience),
      changes_({.audit = context.stores.audit,
                .runs = context.stores.runs,
                .executors = context.stores.executors,
                .notices = context.stores.notices,
                .bulk = context.stores.bulk,
                .cluster_now = context.cluster_now},
               identifiers_.TraceId({}).substr(0, 12)),
      streams_(context.clock),
      log_reads_(std::max<size_t>(workers / 2, 1)),
      open_event_runs_(context.stores.events, context.clock),
      stream_loop_("api.streams", context.clock, streams_),
      bulk_item_runner_(
          [this](const HttpRequest& request, const Caller& caller, std::string_view trace_id,
                 AuditNote& note) { return CallOf(request, caller, trace_id, note); }),
      bulk_({.clock = context_.clock,
             .store = context_.stores.bulk,
             .cluster_now = context_.cluster_now,
             .store_trusted =
                 [this] { return context_.store_standing().state == StoreState::kTrusted; },
             .resume = [this](const Grant& grant) { return authenticator_.Resume(grant); },
             .runner = bulk_item_runner_,
             .metrics = context_.metrics}),
      nudge_bulk_([this] {
        bulk_.Nudge();
        bulk_loop_.Wake();
      }),
      console_(context.console, context.version),
      services_{.routes = RouteTable(),
                .identifiers = identifiers_,
                .probe = probe_,
                .streams = streams_,
                .log_reads = log_reads_,
                .open_event_runs = open_event_runs_,
                .changes = changes_,
                .authenticator = authenticator_,
                .sign_in = sign_in_,
                .nudge_bulk = nudge_bulk_},
      bulk_loop_("api.bulk", context.clock, bulk_) {
  streams_.OnAdd([this] { stream_loop_.Wake(); });
}

void ApiHandler::StopStreams() {
  stream_loop_.Stop();
  streams_.Stop();
}

void ApiHandler::Stop() {
  bulk_loop_.Stop();
  bulk_.Leave();
  authenticator_.Stop();
  sign_in_.Stop();
  aside_.Stop();
  probe_.Stop();
}

bool ApiHandler::Urgent(const HttpRequest& request) const {
  static const std::vector<std::string> kStatus = {"api", "system", "status"};
  static const std::vector<std::string> kTopology = {"api", "system", "topology"};
  return request.segments == kStatus || request.segments == kTopology ||
         ConsolePages::Concerns(request);
}

HttpResponse ApiHandler::Handle(const HttpRequest& request) {
  const SteadyTime start = context_.clock.Steady();
  Trace trace{.id = identifiers_.TraceId(request)};
  HttpResponse response;
  try {
    response = Finish(request, trace, Serve(request, trace));
  } catch (const std::exception& error) {
    log::Error(kRoom, "{} {}: {} (trace {})", request.method, PathOf(request), error.what(),
               trace.id);
    response =
        Finish(request, trace,
               Problem{.detail = "Internal error. Search the server log for this trace_id."});
  }
  const Duration took = context_.clock.Steady() - start;
  const std::string code = std::to_string(response.status);
  context_.metrics
      .histogram("carillon_http_request_duration_seconds",
                 LabelValues({trace.route, trace.method, code}))
      .Observe(Seconds(took));
  return response;
}

HttpResponse ApiHandler::Overloaded(const HttpRequest& request) {
  Problem problem{.status = 503,
                  .code = "overloaded",
                  .detail = "Too many requests are queued. Retry shortly."};
  problem.headers.emplace_back("Retry-After", "1");
  return Finish(request, {.id = identifiers_.TraceId(request)}, std::move(problem));
}

Reply ApiHandler::Serve(const HttpRequest& request, Trace& trace) {
  // Checked first, because the caller and the path of such a request may be wrong.
  if (EndsConnection(request.defect)) return *DefectProblem(request.defect);
  if (IsProbePath(request)) return AnswerProbe(request, trace);
  if (auto page = console_.Answer(request)) {
    trace.route = "/";
    trace.method = "GET";
    return std::move(*page);
  }
  if (const OpenApiPage* page = FindOpenApiPage(request.segments)) {
    trace.route = page->path;
    trace.method = "GET";
    if (request.method != "GET" && request.method != "HEAD") return MethodNotAllowed("GET, HEAD");
    return ContractResponse(*page);
  }
  RouteMatch match = RouteTable().Match(request.method, request.segments);
  const bool for_anyone = match.route != nullptr && match.route->permission == Permission::kAnyone;
  Caller caller;
  // A failed refresh counts against the address's rate; a successful one does not. Otherwise
  // strangers at the same address could prevent a refresh and so end a session. The look-up rate
  // bounds the cost of refreshes.
  const bool refresh = for_anyone && match.route->handler == &RefreshSession;
  if (for_anyone) {
    if (auto refused = AdmitAddress(refresh ? lookup_rate_ : address_rate_, request))
      return std::move(*refused);
  } else {
    CARILLON_ASSIGN_OR_RETURN(caller, Identify(request));
    if (auto refused = Admit(account_rate_, caller.Subject())) return std::move(*refused);
  }
  // Checked after the caller. So without a valid token the answer is 401, even if something
  // else is wrong.
  const auto defect = DefectProblem(request.defect);
  if (defect && request.defect != HttpDefect::kBodyTooLarge) return *defect;
  if (match.route == nullptr) {
    if (match.allow.empty())
      return NotFound("No such path. All paths are listed in /api/openapi.json.");
    return MethodNotAllowed(match.allow);
  }
  trace.route = match.route->path;
  trace.method = match.route->method;
  const Permission permission = match.route->permission;
  const Reach reach = for_anyone ? Reach::kAll : caller.ReachFor(permission);
  if (reach == Reach::kNone) return Forbidden(permission);
  if (for_anyone) {
    if (auto large = TooLargeForAnyone(request)) return std::move(*large);
  }
  if (defect) return *defect;
  AuditNote note;
  Call call = CallOf(request, caller, trace.id, note);
  call.arguments = std::move(match.arguments);
  call.owns_all = reach == Reach::kAll;
  if (!call.owns_all) CARILLON_TRY(CheckOwned(*match.route, call));
  Reply reply = Dispatch(*match.route, call);
  if (refresh && !reply.ok()) {
    if (auto refused = AdmitAddress(address_rate_, request)) return std::move(*refused);
  }
  return reply;
}

Reply ApiHandler::AnswerProbe(const HttpRequest& request, Trace& trace) const {
  if (const auto defect = DefectProblem(request.defect)) return *defect;
  auto answer = context_.health == nullptr ? std::nullopt : context_.health->Answer(request);
  if (!answer) {
    return NotFound(
        "No such path on the API port. It serves /livez and /readyz; metrics are at /metrics on "
        "the ops port.");
  }
  trace.route = request.segments[0] == "livez" ? "/livez" : "/readyz";
  trace.method = "GET";
  if (answer->status == 405) return MethodNotAllowed("GET, HEAD");
  return std::move(*answer);
}

Call ApiHandler::CallOf(const HttpRequest& request, const Caller& caller, std::string_view trace_id,
                        AuditNote& note) {
  return {.stores = context_.stores,
          .api = context_,
          .services = services_,
          .request = request,
          .caller = caller,
          .arguments = {},
          .trace_id = trace_id,
          .note = note};
}

Outcome<Caller> ApiHandler::Identify(const HttpRequest& request) {
  // Look-ups of unknown tokens are limited to the rate of an account, not to the lower rate of an
  // address. So a few invented tokens from an address do not delay the first use of a valid token.
  const std::string bearer = BearerToken(request);
  if (authenticator_.MayBeAGuess(bearer)) {
    if (auto refused = AdmitAddress(lookup_rate_, request)) return std::move(*refused);
  }
  auto caller = authenticator_.Authenticate(bearer);
  if (!caller.ok()) return caller.error();
  if (caller->has_value()) return std::move(**caller);
  if (auto refused = AdmitAddress(address_rate_, request)) return std::move(*refused);
  return Unauthenticated(request.Header("authorization") != nullptr);
}

std::optional<Problem> ApiHandler::Admit(RateLimit& limit, const std::string& who) {
  std::optional<Duration> wait;
  {
    MutexLock lock(rates_mu_);
    wait = limit.Admit(who, context_.clock.Steady());
  }
  if (!wait) return std::nullopt;
  return TooManyRequests(*wait);
}

std::optional<Problem> ApiHandler::AdmitAddress(RateLimit& limit, const HttpRequest& request) {
  return Admit(limit, NetworkOf(AddressOf(request)));
}

Reply ApiHandler::Dispatch(const Route& route, Call& call) {
  // Only reads have query parameters. A write with parameters is refused, because it would be worse
  // to ignore them.
  if (route.method != "GET" && !route.with_query) CARILLON_TRY(Query::Read(call.request, {}));
  if (!route.action.empty() && !route.on_any_store) {
    if (auto held = HeldProblem(context_.store_standing())) return std::move(*held);
  }
  if (route.keyed != Keyed::kNo) {
    CARILLON_ASSIGN_OR_RETURN(call.idempotency_key, ReadKey(call.request));
  }
  if (!call.idempotency_key.empty()) call.idempotency_scope = ScopeOf(route, call);
  Reply reply = call.idempotency_key.empty() ? route.handler(call)
                                             : RunOnce(route, call, FingerprintOf(call.request));
  const bool audited = reply.ok() && !route.action.empty() && !call.note.told && !IsReplay(*reply);
  if (audited) Audit(route, call, *reply);
  return reply;
}

void ApiHandler::Audit(const Route& route, const Call& call, const HttpResponse& done) {
  // The object of the record is the first of these that exists:
  // - the object that the handler noted;
  // - the first object in the path;
  // - the created object;
  // - the last segment of the path, for example "password".
  const std::string location = HeaderOf(done, "Location");
  const std::string made =
      location.empty() ? call.request.segments.back() : location.substr(location.rfind('/') + 1);
  RecordAudit(call, {.at = {},
                     .actor = call.caller.Actor(),
                     .action = std::string(route.action),
                     .object_id = !call.note.object_id.empty() ? call.note.object_id
                                  : call.arguments.empty()     ? made
                                                               : call.arguments[0],
                     .reason = AuditReason(call.note, ReasonOf(call.request)),
                     .trace_id = {},
                     .changes_json = call.note.changes_json});
}

HttpResponse ApiHandler::Finish(const HttpRequest& request, const Trace& trace, Reply reply) {
  if (reply.ok()) return Seal(request, trace, std::move(reply).value());
  const Problem& problem = reply.error();
  if (problem.status >= 500) {
    log::Warn(kRoom, "{} {}: {} {}: {} (trace {})", request.method, PathOf(request), problem.status,
              problem.code, problem.log_detail.empty() ? problem.detail : problem.log_detail,
              trace.id);
  }
  return Seal(request, trace, ProblemResponse(problem, PathOf(request), trace.id));
}

HttpResponse ApiHandler::Seal(const HttpRequest& request, const Trace& trace,
                              HttpResponse response) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const std::string etag = HeaderOf(response, "ETag");
  if (reads && response.status == 200 && !etag.empty()) {
    const auto known = ReadTags(request, "if-none-match");
    if (known && known->MatchesWeakly(etag)) {
      response.status = 304;
      response.body.clear();
    }
  }
  for (auto& [name, value] : response.headers) {
    if (name == "Location" && value.starts_with('/')) value = BelowPrefix(request, value);
  }
  response.headers.emplace_back("X-Trace-Id", trace.id);
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  if (context_.serves_tls) {
    response.headers.emplace_back("Strict-Transport-Security", kStrictTransport);
  }
  if (HeaderOf(response, "Cache-Control").empty()) {
    response.headers.emplace_back("Cache-Control", "no-store");
  }
  context_.metrics.counter("carillon_http_requests_total", std::to_string(response.status)).Add();
  log::Debug(kRoom, "{} {} {} (trace {})", request.method, PathOf(request), response.status,
             trace.id);
  return response;
}

}  // namespace carillon::scheduler
