// Each item is asked as if the caller had asked for it alone, by the route's own handler: the same
// rights, the same checks, the same answers, its own record in the audit.
#include "scheduler/api/bulk_routes.h"

#include <fmt/core.h>

#include <array>
#include <set>

#include "common/wire/json_text.h"
#include "scheduler/api/audit.h"
#include "scheduler/api/ownership.h"
#include "scheduler/api/page.h"
#include "scheduler/api/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kIdBytesMax = 63;

// One of the things that can be done to many.
struct BulkVerb {
  std::string_view action;
  std::string_view kind;  // job or run
  std::string_view method;
  std::string_view verb;  // last segment of the path; empty = none
  bool takes_reason = false;
  bool takes_confirm = false;
};
// The first of an action is what it means without a `kind`.
constexpr std::array kVerbs = {
    BulkVerb{"run", "job", "POST", "execute"},
    BulkVerb{"pause", "job", "POST", "pause", true},
    BulkVerb{"resume", "job", "POST", "resume", true},
    BulkVerb{"delete", "job", "DELETE", ""},
    BulkVerb{"cancel", "run", "POST", "cancel", true, true},
    BulkVerb{"cancel", "job", "POST", "cancel", true, true},
    BulkVerb{"retry", "run", "POST", "retry", false, true},
};

struct BulkRequest {
  const BulkVerb* verb = nullptr;
  std::vector<std::string> ids = {};
  std::optional<json> filter = {};
  bool dry_run = false;
  bool confirm = false;
  std::string reason = {};
};

Outcome<const BulkVerb*> ReadVerb(const json& body) {
  CARILLON_ASSIGN_OR_RETURN(const std::string action, TextMember(body, "action", kIdBytesMax));
  CARILLON_ASSIGN_OR_RETURN(const std::string kind, TextMember(body, "kind", kIdBytesMax));
  bool known = false;
  for (const BulkVerb& verb : kVerbs) {
    if (verb.action != action) continue;
    known = true;
    if (kind.empty() || verb.kind == kind) return &verb;
  }
  if (known) return InvalidField("/kind", "unknown_value", "There is no such action of that kind.");
  return InvalidField("/action", action.empty() ? "missing" : "unknown_value",
                      "This has to be run, pause, resume, cancel, retry or delete.");
}

Outcome<std::vector<std::string>> ReadIds(const json& list) {
  if (!list.is_array()) return InvalidField("/ids", "wrong_type", "This has to be a list of ids.");
  if (list.empty() || list.size() > kBulkItemsMax) {
    return InvalidField("/ids", "out_of_range",
                        fmt::format("This has to be 1 to {} ids.", kBulkItemsMax));
  }
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = "/ids/" + std::to_string(i);
    if (!list[i].is_string()) return InvalidField(pointer, "wrong_type", "An id is a text.");
    ids.push_back(list[i].get<std::string>());
    if (ids.back().empty() || ids.back().size() > kIdBytesMax) {
      return InvalidField(pointer, "bad_value", "An id has 1 to 63 characters.");
    }
    if (!seen.insert(ids.back()).second) {
      return InvalidField(pointer, "repeated", "This id is in the list already.");
    }
  }
  return ids;
}

Outcome<json> ReadFilter(const json& filter, const BulkVerb& verb) {
  if (!filter.is_object() || filter.empty()) {
    return InvalidField("/filter", "missing",
                        "A filter is an object with at least one condition, such as "
                        "{\"selector\": \"team = etl\"}.");
  }
  if (verb.kind == "run" && !filter.contains("state")) {
    return InvalidField("/filter/state", "missing", "A filter of runs says which states it means.");
  }
  for (const auto& [name, value] : filter.items()) {
    const json list = value.is_array() ? value : json::array({value});
    for (const json& text : list) {
      if (text.is_string()) continue;
      return InvalidField(JsonPointer("/filter", name), "wrong_type",
                          "A condition is a text, or a list of texts.");
    }
  }
  return filter;
}

Outcome<BulkRequest> ReadRequest(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kRequired,
                                                        {"action", "kind", "ids", "filter",
                                                         "dry_run", "reason", "confirm_overlap"}));
  BulkRequest request;
  CARILLON_ASSIGN_OR_RETURN(request.verb, ReadVerb(body));
  if (body.contains("ids") == body.contains("filter")) {
    return InvalidField("/ids", "missing", "Give either ids or a filter.");
  }
  if (body.contains("ids")) {
    CARILLON_ASSIGN_OR_RETURN(request.ids, ReadIds(body["ids"]));
  } else {
    CARILLON_ASSIGN_OR_RETURN(request.filter, ReadFilter(body["filter"], *request.verb));
  }
  CARILLON_ASSIGN_OR_RETURN(request.dry_run, FlagMember(body, "dry_run"));
  CARILLON_ASSIGN_OR_RETURN(request.confirm, FlagMember(body, "confirm_overlap"));
  if (request.confirm && !request.verb->takes_confirm) {
    return InvalidField("/confirm_overlap", "unused", "Only cancel and retry can overlap.");
  }
  CARILLON_ASSIGN_OR_RETURN(request.reason, TextMember(body, "reason", kReasonCharactersMax));
  return request;
}

std::string PathOf(const BulkVerb& verb) { return verb.kind == "job" ? "jobs" : "runs"; }

HttpRequest Asked(const Call& call, std::string_view method, std::vector<std::string> segments) {
  HttpRequest request{.method = std::string(method), .target = {}, .segments = std::move(segments)};
  request.peer = call.request.peer;
  return request;
}

// A request of its own for the same caller. `request` and `note` outlive it.
Call Single(const Call& call, const HttpRequest& request, const RouteMatch& match,
            AuditNote& note) {
  return {.api = call.api,
          .identifiers = call.identifiers,
          .store = call.store,
          .streams = call.streams,
          .changes = call.changes,
          .authenticator = call.authenticator,
          .sign_in = call.sign_in,
          .request = request,
          .caller = call.caller,
          .arguments = match.arguments,
          .trace_id = call.trace_id,
          .note = note,
          .owns_all = ReachOf(call.caller.role, match.route->permission) == Reach::kAll};
}

enum class Asking { kDo, kOnlyMay };
// `request` by the handler of its route; or only whether the caller may ask for it.
Reply Ask(const Call& call, const HttpRequest& request, AuditNote& note,
          Asking asking = Asking::kDo) {
  const RouteMatch match = MatchRoute(request.method, request.segments);
  if (match.route == nullptr) return NotFound("There is no such id.");
  const Permission permission = match.route->permission;
  if (ReachOf(call.caller.role, permission) == Reach::kNone) return Forbidden(permission);
  const Call single = Single(call, request, match, note);
  if (!single.owns_all) CARILLON_TRY(CheckOwned(*match.route, single));
  return asking == Asking::kDo ? match.route->handler(single) : HttpResponse{};
}

// Of pages that no index finds: about a million runs are looked at.
constexpr int kSearchesMax = 20;

struct Selected {
  std::vector<std::string> ids;
  bool more = false;  // than may be acted on at once
};

// The problem of a list's query, said of the filter it came from.
Problem OfFilter(Problem problem) {
  for (FieldError& error : problem.errors) {
    if (error.pointer.starts_with('?')) error.pointer = "/filter/" + error.pointer.substr(1);
  }
  return problem;
}

// By the list's own route, so that its filters mean the same here.
Outcome<Selected> Select(const Call& call, const BulkRequest& bulk) {
  const std::string id = bulk.verb->kind == "job" ? "job_id" : "run_id";
  Selected selected;
  std::string token;
  int searches = 0;
  do {
    HttpRequest request = Asked(call, "GET", {"api", PathOf(*bulk.verb)});
    for (const auto& [name, value] : bulk.filter->items()) {
      if (name == "page_size" || name == "page_token") {
        return InvalidField("/filter/" + name, "unknown_parameter", "A filter has no pages.");
      }
      const json list = value.is_array() ? value : json::array({value});
      for (const json& text : list) request.query.emplace_back(name, text.get<std::string>());
    }
    request.query.emplace_back("page_size", std::to_string(kPageSizeMax));
    if (!token.empty()) request.query.emplace_back("page_token", token);
    AuditNote unused;
    const Reply reply = Ask(call, request, unused);
    if (!reply.ok()) return OfFilter(reply.error());
    const json page = json::parse(reply->body);
    for (const json& item : page["items"]) selected.ids.push_back(item[id]);
    token = page["next_page_token"].is_null() ? "" : page["next_page_token"].get<std::string>();
    if (page.contains("searched_to") && ++searches == kSearchesMax) {
      return InvalidField(
          "/filter", "too_far_back",
          fmt::format("The search got back to {} and is not at its end; nothing was "
                      "done. Give `since`, or a narrower filter.",
                      page["searched_to"].get<std::string>()));
    }
  } while (!token.empty() && selected.ids.size() <= kBulkItemsMax);
  selected.more = selected.ids.size() > kBulkItemsMax;
  if (selected.more) selected.ids.resize(kBulkItemsMax);
  return selected;
}

class BulkRun {
 public:
  BulkRun(const Call& call, const BulkRequest& bulk) : call_(call), bulk_(bulk) {}

  Reply Run(const Selected& selected) {
    for (const std::string& id : selected.ids) {
      AuditNote note;
      const Reply reply = stopped_ ? Reply(NotTried()) : AskOne(id, note);
      if (!reply.ok() && reply.error().status >= 503 && !stopped_) stopped_ = reply.error();
      if (reply.ok() && !bulk_.dry_run) Record(id, note);
      Add(id, reply);
    }
    if (stopped_ && failed_ == items_.size()) return *stopped_;
    return JsonResponse(200, {{"action", bulk_.verb->action},
                              {"kind", bulk_.verb->kind},
                              {"dry_run", bulk_.dry_run},
                              {"total", items_.size()},
                              {"more", selected.more},
                              {"done", bulk_.dry_run ? 0 : items_.size() - failed_},
                              {"failed", failed_},
                              {"items", items_}});
  }

 private:
  static Problem NotTried() {
    return {.status = 503,
            .code = "not_tried",
            .detail = "The store was away at an item before; ask again for the rest."};
  }

  Reply AskOne(const std::string& id, AuditNote& note) const {
    const BulkVerb& verb = *bulk_.verb;
    std::vector<std::string> segments = {"api", PathOf(verb), id};
    if (bulk_.dry_run) return Look(segments, note);
    if (!verb.verb.empty()) segments.emplace_back(verb.verb);
    HttpRequest request = Asked(call_, verb.method, std::move(segments));
    json body = json::object();
    if (verb.takes_reason && !bulk_.reason.empty()) body["reason"] = bulk_.reason;
    if (bulk_.confirm) body["confirm_overlap"] = true;
    if (verb.method == "POST") {
      request.body = JsonToText(body);
    } else {
      request.headers.emplace_back("if-match", "*");  // whatever it is now
    }
    return Ask(call_, request, note);
  }

  // Whether it is there, and the caller's to act on.
  Reply Look(const std::vector<std::string>& segments, AuditNote& note) const {
    CARILLON_TRY(Ask(call_, Asked(call_, "GET", segments), note));
    std::vector<std::string> acted = segments;
    if (!bulk_.verb->verb.empty()) acted.emplace_back(bulk_.verb->verb);
    return Ask(call_, Asked(call_, bulk_.verb->method, acted), note, Asking::kOnlyMay);
  }

  void Record(const std::string& id, const AuditNote& note) const {
    RecordAudit(call_, {.at = {},
                        .actor = call_.caller.Actor(),
                        .action = fmt::format("{}.{}", bulk_.verb->kind, AuditVerb()),
                        .object_id = id,
                        .reason = bulk_.reason,
                        .trace_id = {},
                        .changes_json = note.changes_json});
  }
  std::string_view AuditVerb() const {
    return bulk_.verb->verb.empty() ? bulk_.verb->action : bulk_.verb->verb;
  }

  void Add(const std::string& id, const Reply& reply) {
    json item = {{"id", id},
                 {"result", bulk_.dry_run ? "would" : "done"},
                 {"run_id", nullptr},
                 {"error", nullptr}};
    if (!reply.ok()) {
      ++failed_;
      Problem problem = reply.error();
      problem.members = json::object();
      item["result"] = "error";
      item["error"] =
          ProblemBody(problem, "/api/" + PathOf(*bulk_.verb) + "/" + id, call_.trace_id);
    } else if (bulk_.verb->action == "run" && !bulk_.dry_run) {
      item["run_id"] = json::parse(reply->body)["run_id"];
    }
    items_.push_back(std::move(item));
  }

  const Call& call_;
  const BulkRequest& bulk_;
  json items_ = json::array();
  size_t failed_ = 0;
  std::optional<Problem> stopped_;
};

}  // namespace

Reply BulkAction(const Call& call) {
  call.note.told = true;  // item by item
  CARILLON_ASSIGN_OR_RETURN(const BulkRequest bulk, ReadRequest(call));
  Selected selected{.ids = bulk.ids};
  if (bulk.filter) {
    CARILLON_ASSIGN_OR_RETURN(selected, Select(call, bulk));
  }
  if (selected.more && !bulk.dry_run) {
    return InvalidField("/filter", "too_many",
                        fmt::format("More than {} match; nothing was done. Narrow the filter, or "
                                    "give ids.",
                                    kBulkItemsMax));
  }
  return BulkRun(call, bulk).Run(selected);
}

}  // namespace carillon::scheduler
