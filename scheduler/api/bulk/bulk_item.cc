#include "scheduler/api/bulk/bulk_item.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/domain/run_id.h"
#include "common/domain/upstream/wait_end.h"
#include "common/domain/workflow/node_key.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/idempotency.h"
#include "scheduler/api/call/ownership.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

enum class Asking { kDo, kOnlyMay };

// A separate call for the same caller. `request` and `note` must outlive it.
Call Single(const Call& call, const HttpRequest& request, const RouteMatch& match, AuditNote& note,
            const std::optional<ItemKey>& key) {
  const ItemKey none;
  return {.stores = call.stores,
          .api = call.api,
          .services = call.services,
          .request = request,
          .caller = call.caller,
          .arguments = match.arguments,
          .trace_id = call.trace_id,
          .note = note,
          .owns_all = call.caller.ReachFor(match.route->permission) == Reach::kAll,
          .idempotency_key = key.value_or(none).key,
          .idempotency_scope = key.value_or(none).scope};
}

Reply Ask(const Call& call, const HttpRequest& request, AuditNote& note, Asking asking,
          const std::optional<ItemKey>& key) {
  const RouteMatch match = call.services.routes.Match(request.method, request.segments);
  if (match.route == nullptr) return NotFound("No such id.");
  const Permission permission = match.route->permission;
  if (call.caller.ReachFor(permission) == Reach::kNone) return Forbidden(permission);
  const bool keyed = key && match.route->keyed != Keyed::kNo;
  const Call single = Single(call, request, match, note, keyed ? key : std::nullopt);
  if (!single.owns_all) CARILLON_TRY(CheckOwned(*match.route, single));
  if (asking == Asking::kOnlyMay) return HttpResponse{};
  return keyed ? RunOnce(*match.route, single, "") : match.route->handler(single);
}

std::vector<std::string> Path(const BulkVerb& verb, const std::string& id) {
  return {"api", std::string(verb.path()), id};
}
std::vector<std::string> ActedPath(const BulkVerb& verb, const std::string& id) {
  std::vector<std::string> segments = Path(verb, id);
  if (!verb.verb.empty()) segments.emplace_back(verb.verb);
  return segments;
}

bool RetriesRuns(const BulkVerb& verb) { return verb.verb == "retry" && verb.kind == "run"; }

bool IsNode(const std::string& id) {
  const auto key = DecodeRunId(id);
  return key.ok() && NodePlaceOf(*key).has_value();
}

enum class Since {
  kNothing,
  kReleased,
  kStarted
};  // kReleased: a node, by the retry of its whole run

// Tells how far the run has come since the action was requested. kNothing, too, if it cannot be
// read: the retry itself says why.
Since LookSince(const Call& call, const std::string& id, WallTime requested) {
  const auto key = DecodeRunId(id);
  if (!key.ok()) return Since::kNothing;
  const auto run = call.stores.runs.GetRun(*key);
  if (!run.ok()) return Since::kNothing;
  const RunRow& row = run->row;
  if (row.claimed > requested) return Since::kStarted;
  const bool released = NodePlaceOf(*key) && row.state == RunState::kPending && IsTime(row.due) &&
                        row.due >= requested;
  return released ? Since::kReleased : Since::kNothing;
}

// The run is read without the reasons why it waits, which cost more than the release.
Outcome<bool> CheckWaits(const Call& call, const std::string& id) {
  const auto key = DecodeRunId(id);
  if (!key.ok()) return NotFound("No such id.");
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(*key));
  const Status releasable = CheckReleasable(run.row);
  if (releasable.ok()) return true;
  Problem problem = ToProblem(releasable.error());
  problem.code = "not_waiting";
  return problem;
}

}  // namespace

HttpRequest AskedRequest(const Call& call, std::string_view method,
                         std::vector<std::string> segments) {
  HttpRequest request{.method = std::string(method), .target = {}, .segments = std::move(segments)};
  request.peer = call.request.peer;
  return request;
}

Reply AskAlone(const Call& call, const HttpRequest& request, AuditNote& note) {
  return Ask(call, request, note, Asking::kDo, {});
}

Reply DoItem(const Call& call, const BulkOperation& operation, const std::string& id,
             AuditNote& note, const std::optional<ItemKey>& key) {
  const BulkVerb& verb = *operation.verb;
  HttpRequest request = AskedRequest(call, verb.method, ActedPath(verb, id));
  json body = json::object();
  if (verb.takes_reason && !operation.reason.empty()) body["reason"] = operation.reason;
  if (operation.confirm) body["confirm_overlap"] = true;
  if (operation.mode != CancelMode::kGraceful) body["mode"] = Name(operation.mode);
  if (verb.method == "POST") {
    request.body = JsonToText(body);
  } else {
    request.headers.emplace_back("if-match", "*");  // any version
  }
  const auto may = [&] { return Ask(call, request, note, Asking::kOnlyMay, {}); };
  const auto since = [&] {
    return RetriesRuns(verb) ? LookSince(call, id, operation.requested) : Since::kNothing;
  };
  // A node must not be run twice, and its workflow run may have begun again with all that was to
  // be retried.
  if (IsNode(id) && since() == Since::kStarted) return may();
  Reply reply = Ask(call, request, note, Asking::kDo, key);
  if (reply.ok() || reply.error().code != "conflict" || since() == Since::kNothing) return reply;
  return may();
}

Result<bool> IsReleased(const Call& call, const BulkOperation& operation, const std::string& id) {
  CARILLON_ASSIGN_OR_RETURN(const RunKey key, DecodeRunId(id));
  CARILLON_ASSIGN_OR_RETURN(const RunDetail run, call.stores.runs.GetRun(key));
  return !IsFinal(run.row.state) || run.row.claimed > operation.requested;
}

Reply LookAtItem(const Call& call, const BulkOperation& operation, const std::string& id) {
  const BulkVerb& verb = *operation.verb;
  AuditNote unused;
  const auto may = [&] {
    return Ask(call, AskedRequest(call, verb.method, ActedPath(verb, id)), unused, Asking::kOnlyMay,
               {});
  };
  if (verb.action == "release") {
    CARILLON_TRY(may());
    CARILLON_TRY(CheckWaits(call, id));
    return HttpResponse{};
  }
  CARILLON_TRY(AskAlone(call, AskedRequest(call, "GET", Path(verb, id)), unused));
  return may();
}

Status RecordItem(const Call& call, const BulkOperation& operation, const std::string& id,
                  const AuditNote& note) {
  return TryRecordAudit(call, {.at = {},
                               .actor = call.caller.Actor(),
                               .action = operation.verb->AuditAction(),
                               .object_id = id,
                               .reason = AuditReason(note, operation.reason),
                               .trace_id = {},
                               .changes_json = note.changes_json});
}

json ItemProblem(const BulkVerb& verb, const std::string& id, Problem problem,
                 std::string_view trace_id) {
  problem.members = json::object();
  return ProblemBody(problem, fmt::format("/api/{}/{}", verb.path(), id), trace_id);
}

json RunIdOf(const BulkVerb& verb, const HttpResponse& done) {
  return verb.action == "run" ? json::parse(done.body)["run_id"] : json(nullptr);
}

}  // namespace carillon::scheduler
