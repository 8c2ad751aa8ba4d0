#include "scheduler/api/system/audit_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"
#include "scheduler/api/http/sort.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kActorBytesMax = 1000;
constexpr size_t kActionBytesMax = 64;

// Checks only the form, because later versions add actions. An unknown action has no records.
bool IsAction(std::string_view text) {
  return !text.empty() && text.size() <= kActionBytesMax && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || c == '.' || c == '_';
  });
}

// The recorded changes; null if there are none.
json ReadChanges(const std::string& text) {
  json changes = json::parse(text, nullptr, false);
  return changes.is_array() ? changes : json(nullptr);
}

}  // namespace

Reply ListAudit(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request,
                                                           {"object_id", "actor", "since", "until",
                                                            "sort", "page_size", "page_token"},
                                                           {"action"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "audit"));
  CARILLON_ASSIGN_OR_RETURN(const auto sort, ReadSort(query, {"time"}));
  AuditFilter filter{.object_id = query.Text("object_id").value_or(""),
                     .actor = query.Text("actor").value_or(""),
                     .actions = query.All("action"),
                     .oldest_first = sort && !sort->descending,
                     .limit = page.size() + 1};
  if (filter.actor.size() > kActorBytesMax) {
    return InvalidField("?actor", "too_long", "Must be at most 1,000 bytes.");
  }
  for (const std::string& action : filter.actions) {
    if (!IsAction(action)) {
      return InvalidField("?action", "bad_value", "Must be an action, e.g. job.pause.");
    }
  }
  CARILLON_ASSIGN_OR_RETURN(filter.since, query.Time("since"));
  CARILLON_ASSIGN_OR_RETURN(filter.until, query.Time("until"));
  if (!page.cursor().empty()) {
    const auto last = ParseCursor(page.cursor());
    if (!last) return BadPageToken();
    (filter.oldest_first ? filter.after_id : filter.before_id) = *last;
  }
  CARILLON_ASSIGN_OR_RETURN(const auto records, call.stores.audit.ListAudit(filter));
  for (const AuditRecord& record : records) {
    const json item = {{"id", std::to_string(record.id)},
                       {"time", FormatRfc3339(record.at)},
                       {"actor", record.actor},
                       {"action", record.action},
                       {"object_id", record.object_id},
                       {"reason", record.reason.empty() ? json(nullptr) : json(record.reason)},
                       {"trace_id", record.trace_id},
                       {"changes", ReadChanges(record.changes_json)}};
    if (!page.Add(item, std::to_string(record.id))) break;
  }
  return page.Finish(false, [&] { return call.stores.audit.CountAudit(filter); });
}

}  // namespace carillon::scheduler
