#include "scheduler/api/bulk/bulk_request.h"

#include <fmt/core.h>

#include <array>
#include <set>

#include "common/wire/json/json_text.h"
#include "scheduler/api/bulk/bulk_item.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kIdBytesMax = 63;
// Maximum number of pages read for a filter without an index. That is about a million runs.
constexpr int kSearchesMax = 20;

// If a request has no `kind`, the first entry of its action applies.
constexpr std::array kVerbs = {
    BulkVerb{"run", "job", "POST", "execute"},
    BulkVerb{"pause", "job", "POST", "pause", true},
    BulkVerb{"resume", "job", "POST", "resume", true},
    BulkVerb{"delete", "job", "DELETE", ""},
    BulkVerb{"cancel", "run", "POST", "cancel", true, true, true},
    BulkVerb{"cancel", "job", "POST", "cancel", true, true, true},
    BulkVerb{"release", "run", "POST", "release", true},
    BulkVerb{"retry", "run", "POST", "retry", false, true},
    BulkVerb{"retry", "dead_letter", "POST", "retry", false, true},
    BulkVerb{"discard", "dead_letter", "DELETE", ""},
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
  if (known)
    return InvalidField("/kind", "unknown_value", "This kind does not support the action.");
  return InvalidField("/action", action.empty() ? "missing" : "unknown_value",
                      "Must be run, pause, resume, cancel, release, retry, discard or delete.");
}

Outcome<std::vector<std::string>> ReadIds(const json& list, size_t most) {
  if (!list.is_array()) return InvalidField("/ids", "wrong_type", "Must be a list of ids.");
  if (list.empty() || list.size() > most) {
    return InvalidField("/ids", "out_of_range", fmt::format("Must have 1 to {} ids.", most));
  }
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = "/ids/" + std::to_string(i);
    if (!list[i].is_string()) return InvalidField(pointer, "wrong_type", "Must be a string.");
    ids.push_back(list[i].get<std::string>());
    if (ids.back().empty() || ids.back().size() > kIdBytesMax) {
      return InvalidField(pointer, "bad_value", "Must be 1 to 63 characters.");
    }
    if (!seen.insert(ids.back()).second) {
      return InvalidField(pointer, "repeated", "This id appears more than once.");
    }
  }
  return ids;
}

Outcome<json> ReadFilter(const json& filter, const BulkVerb& verb) {
  if (!filter.is_object() || filter.empty()) {
    return InvalidField(
        "/filter", "missing",
        "Must be an object with at least one condition, e.g. {\"selector\": \"team = etl\"}.");
  }
  if (verb.kind == "run" && !filter.contains("state") && !filter.contains("waiting")) {
    return InvalidField("/filter/state", "missing",
                        "A filter of runs requires a state, or waiting=upstream_run.");
  }
  for (const auto& [name, value] : filter.items()) {
    const json list = value.is_array() ? value : json::array({value});
    for (const json& text : list) {
      if (text.is_string()) continue;
      return InvalidField(JsonPointer("/filter", name), "wrong_type",
                          "Must be a string or a list of strings.");
    }
  }
  return filter;
}

// Returns the name of the field with the id of an item, in a list of this kind.
std::string_view IdMember(std::string_view kind) {
  if (kind == "job") return "job_id";
  return kind == "run" ? "run_id" : "id";
}

// Returns the problem of a list's query, with pointers into the filter from which the
// query was made.
Problem OfFilter(Problem problem) {
  for (FieldError& error : problem.errors) {
    if (error.pointer.starts_with('?')) error.pointer = "/filter/" + error.pointer.substr(1);
  }
  return problem;
}

}  // namespace

std::string_view BulkVerb::path() const {
  if (kind == "job") return "jobs";
  return kind == "run" ? "runs" : "dead-letters";
}

std::string BulkVerb::AuditAction() const {
  return fmt::format("{}.{}", kind, verb.empty() ? action : verb);
}

const BulkVerb* FindBulkVerb(std::string_view action, std::string_view kind) {
  for (const BulkVerb& verb : kVerbs) {
    if (verb.action == action && verb.kind == kind) return &verb;
  }
  return nullptr;
}

Outcome<BulkRequest> ReadBulkRequest(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body,
                            ReadObject(call.request, Body::kRequired,
                                       {"action", "kind", "ids", "filter", "dry_run", "background",
                                        "reason", "confirm_overlap", "mode"}));
  BulkRequest request;
  CARILLON_ASSIGN_OR_RETURN(request.verb, ReadVerb(body));
  // A member of the previous release could not go on with it.
  const bool is_new = request.verb->action == "release";
  if (is_new && !call.api.upgrade.FeatureOn(kFanOutMigration)) return UpgradeUnfinished("action");
  CARILLON_ASSIGN_OR_RETURN(request.dry_run, FlagMember(body, "dry_run"));
  CARILLON_ASSIGN_OR_RETURN(request.background, FlagMember(body, "background"));
  if (request.dry_run && request.background) {
    return InvalidField("/background", "unused", "A dry run cannot run in the background.");
  }
  if (body.contains("ids") == body.contains("filter")) {
    return InvalidField("/ids", "missing", "Give either ids or a filter.");
  }
  if (body.contains("ids")) {
    CARILLON_ASSIGN_OR_RETURN(request.ids, ReadIds(body["ids"], request.items_max()));
  } else {
    CARILLON_ASSIGN_OR_RETURN(request.filter, ReadFilter(body["filter"], *request.verb));
  }
  CARILLON_ASSIGN_OR_RETURN(request.confirm, FlagMember(body, "confirm_overlap"));
  if (request.confirm && !request.verb->takes_confirm) {
    return InvalidField("/confirm_overlap", "unused", "Only allowed with cancel and retry.");
  }
  CARILLON_ASSIGN_OR_RETURN(request.mode, CancelModeMember(body));
  if (request.mode != CancelMode::kGraceful && !request.verb->takes_mode) {
    return InvalidField("/mode", "unused", "Only allowed with cancel.");
  }
  CARILLON_ASSIGN_OR_RETURN(request.reason, TextMember(body, "reason", kReasonCharactersMax));
  return request;
}

Outcome<SelectedItems> SelectItems(const Call& call, const BulkRequest& bulk) {
  if (!bulk.filter) return SelectedItems{.ids = bulk.ids};
  const std::string id(IdMember(bulk.verb->kind));
  SelectedItems selected;
  std::string token;
  int searches = 0;
  do {
    HttpRequest request = AskedRequest(call, "GET", {"api", std::string(bulk.verb->path())});
    for (const auto& [name, value] : bulk.filter->items()) {
      if (name == "page_size" || name == "page_token") {
        return InvalidField("/filter/" + name, "unknown_parameter",
                            "A filter does not take paging parameters.");
      }
      const json list = value.is_array() ? value : json::array({value});
      for (const json& text : list) request.query.emplace_back(name, text.get<std::string>());
    }
    request.query.emplace_back("page_size", std::to_string(kPageSizeMax));
    if (!token.empty()) request.query.emplace_back("page_token", token);
    AuditNote unused;
    const Reply reply = AskAlone(call, request, unused);
    if (!reply.ok()) return OfFilter(reply.error());
    const json page = json::parse(reply->body);
    for (const json& item : page["items"]) selected.ids.push_back(item[id]);
    token = page["next_page_token"].is_null() ? "" : page["next_page_token"].get<std::string>();
    if (page.contains("searched_to") && ++searches == kSearchesMax) {
      return InvalidField("/filter", "too_far_back",
                          fmt::format("The search stopped at {} before it was complete; nothing "
                                      "was done. Set `since` or narrow the filter.",
                                      page["searched_to"].get<std::string>()));
    }
  } while (!token.empty() && selected.ids.size() <= bulk.items_max());
  selected.more = selected.ids.size() > bulk.items_max();
  if (selected.more) selected.ids.resize(bulk.items_max());
  return selected;
}

Problem TooManyItems(const BulkRequest& bulk) {
  return InvalidField(
      "/filter", "too_many",
      fmt::format("More than {} match; nothing was done. Narrow the filter or send ids.",
                  bulk.items_max()));
}

}  // namespace carillon::scheduler
