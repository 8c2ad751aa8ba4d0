#include "scheduler/api/bulk/bulk_routes.h"

#include <nlohmann/json.hpp>

#include "common/wire/json/json_text.h"
#include "scheduler/api/bulk/bulk_item.h"
#include "scheduler/api/bulk/bulk_request.h"
#include "scheduler/api/call/audit.h"
#include "scheduler/api/call/unknown_outcome.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

constexpr size_t kIdCharacters = 12;  // random characters of a bulk_id

// A bulk action that is executed while its request waits.
class BulkRun {
 public:
  BulkRun(const Call& call, const BulkRequest& bulk, WallTime now)
      : call_(call),
        operation_{.verb = bulk.verb,
                   .reason = bulk.reason,
                   .confirm = bulk.confirm,
                   .mode = bulk.mode,
                   .requested = now},
        dry_run_(bulk.dry_run) {}

  Reply Run(const SelectedItems& selected) {
    for (const std::string& id : selected.ids) {
      AuditNote note;
      const Reply reply = stopped_ ? Reply(NotTried()) : AskOne(id, note);
      if (!reply.ok() && reply.error().status >= 503 && !stopped_) stopped_ = reply.error();
      if (reply.ok() && !dry_run_) static_cast<void>(RecordItem(call_, operation_, id, note));
      Add(id, reply);
    }
    if (stopped_ && failed_ == items_.size()) return *stopped_;
    return JsonResponse(200, {{"action", operation_.verb->action},
                              {"kind", operation_.verb->kind},
                              {"dry_run", dry_run_},
                              {"total", items_.size()},
                              {"more", selected.more},
                              {"done", dry_run_ ? 0 : items_.size() - failed_},
                              {"failed", failed_},
                              {"items", items_}});
  }

 private:
  static Problem NotTried() {
    return {
        .status = 503,
        .code = "not_tried",
        .detail = "Not tried: the store was unavailable at an earlier item. Retry for the rest."};
  }

  Reply AskOne(const std::string& id, AuditNote& note) const {
    return dry_run_ ? LookAtItem(call_, operation_, id) : DoItem(call_, operation_, id, note);
  }

  void Add(const std::string& id, const Reply& reply) {
    json item = {{"id", id},
                 {"result", dry_run_ ? "would" : "done"},
                 {"run_id", nullptr},
                 {"error", nullptr}};
    if (!reply.ok()) {
      ++failed_;
      item["result"] = "error";
      item["error"] = ItemProblem(*operation_.verb, id, reply.error(), call_.trace_id);
    } else if (!dry_run_) {
      item["run_id"] = RunIdOf(*operation_.verb, *reply);
    }
    items_.push_back(std::move(item));
  }

  const Call& call_;
  const BulkOperation operation_;
  const bool dry_run_;
  json items_ = json::array();
  size_t failed_ = 0;
  std::optional<Problem> stopped_;
};

json TextOrNull(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

bool MayCancel(const Caller& caller, const BulkAction& action) {
  if (action.state != BulkState::kRunning) return false;
  const Reach reach = caller.ReachFor(Permission::kRunJobs);
  const bool own = !caller.user_id.empty() && caller.user_id == action.order.user_id;
  return reach == Reach::kAll || (reach == Reach::kOwn && own);
}

json BulkToJson(const Caller& caller, const BulkAction& action) {
  const BulkOrder& order = action.order;
  json allowed = json::array();
  if (MayCancel(caller, action)) allowed.push_back("cancel");
  return {{"bulk_id", order.bulk_id},
          {"action", order.action},
          {"kind", order.kind},
          {"state", Name(action.state)},
          {"reason", order.reason},
          {"confirm_overlap", order.confirm_overlap},
          {"mode", order.action == "cancel" ? json(Name(order.cancel_mode)) : json(nullptr)},
          {"total", action.total},
          {"done", action.done},
          {"failed", action.failed},
          {"skipped", action.skipped},
          {"actor", order.actor},
          {"user_id", order.user_id},
          {"error", TextOrNull(action.error)},
          {"create_time", FormatRfc3339(order.created)},
          {"update_time", FormatRfc3339(action.updated)},
          {"end_time", HasEnded(action) ? json(FormatRfc3339(action.ended)) : json(nullptr)},
          {"allowed_actions", std::move(allowed)}};
}

json ItemToJson(const BulkItem& item) {
  return {{"position", item.position},
          {"id", item.id},
          {"result", Name(item.result)},
          {"run_id", TextOrNull(item.run_id)},
          {"error", item.error_json.empty() ? json(nullptr) : json::parse(item.error_json)}};
}

StoredAnswer CreatedAnswer(const Caller& caller, const BulkAction& action) {
  return {.status = 202,
          .body = JsonToText(BulkToJson(caller, action)),
          .location = "/api/bulk/" + action.order.bulk_id,
          .etag = {}};
}

BulkOrder OrderOf(const Call& call, const BulkRequest& bulk, WallTime now) {
  const Caller& caller = call.caller;
  return {.bulk_id = "bulk-" + call.services.identifiers.TraceId({}).substr(0, kIdCharacters),
          .action = std::string(bulk.verb->action),
          .kind = std::string(bulk.verb->kind),
          .reason = bulk.reason,
          .confirm_overlap = bulk.confirm,
          .cancel_mode = bulk.mode,
          .actor = caller.Actor(),
          .user_id = caller.OwnerId(),
          .token_id = caller.kind == CallerKind::kToken ? caller.credential : "",
          .role = caller.role,
          .trace_id = std::string(call.trace_id),
          .created = now};
}

Reply StartInBackground(const Call& call, const BulkRequest& bulk, const SelectedItems& selected,
                        WallTime now) {
  const auto answer = [&call](const BulkAction& action) {
    return CreatedAnswer(call.caller, action);
  };
  std::optional<KeyedAnswer<BulkAction>> keyed;
  if (!call.idempotency_key.empty()) {
    keyed = {.scope = call.idempotency_scope, .key = call.idempotency_key, .answer = answer};
  }
  const auto made = call.stores.bulk.CreateBulk(OrderOf(call, bulk, now), selected.ids, keyed);
  if (IsUnknown(made)) {
    return OutcomeUnknown(
        "It is unknown whether the action was accepted. Check GET /api/bulk before retrying.",
        made.error());
  }
  if (!made.ok() && made.code() == ErrorCode::kExhausted) {
    return Problem{
        .status = 409,
        .code = "too_many_open",
        .detail = fmt::format(
            "You have {} active bulk actions, the maximum. Wait for one to end or cancel one.",
            kBulkOpenMax)};
  }
  if (!made.ok()) return made.error();
  call.services.nudge_bulk();
  return FromStored(answer(*made));
}

Outcome<BulkFilter> ReadBulkFilter(const Query& query, const Page& page) {
  BulkFilter filter{.user_id = query.Text("user_id"), .limit = page.size() + 1};
  if (const auto text = query.Text("state")) {
    const auto state = ParseBulkState(*text);
    if (!state.ok()) {
      return InvalidField("?state", "unknown_value",
                          "Must be RUNNING, DONE, CANCELLED or STOPPED.");
    }
    filter.state = *state;
  }
  if (!page.cursor().empty()) {
    const auto before = ParseCursor(page.cursor());
    if (!before) return BadPageToken();
    filter.before_number = *before;
  }
  return filter;
}

Outcome<BulkItemFilter> ReadItemFilter(const Query& query, const Page& page) {
  BulkItemFilter filter{.limit = page.size() + 1};
  if (const auto text = query.Text("result")) {
    const auto result = ParseBulkResult(*text);
    if (!result.ok()) {
      return InvalidField("?result", "unknown_value", "Must be pending, done, error or skipped.");
    }
    filter.result = *result;
  }
  if (!page.cursor().empty()) {
    const auto after = ParseCursor(page.cursor());
    if (!after || *after > INT32_MAX) return BadPageToken();
    filter.after_position = static_cast<int64_t>(*after);
  }
  return filter;
}

Problem NoSuchBulk() {
  return NotFound("No such bulk action. Bulk actions are kept for a week after they end.");
}

}  // namespace

Reply StartBulk(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const BulkRequest bulk, ReadBulkRequest(call));
  call.note.told = !bulk.background;  // in the foreground, each item gets its own record
  NoteCancelMode(call, bulk.mode);
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  CARILLON_ASSIGN_OR_RETURN(const SelectedItems selected, SelectItems(call, bulk));
  if (selected.more && !bulk.dry_run) return TooManyItems(bulk);
  if (bulk.background) return StartInBackground(call, bulk, selected, now);
  return BulkRun(call, bulk, now).Run(selected);
}

Reply ListBulk(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"state", "user_id", "page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "bulk"));
  CARILLON_ASSIGN_OR_RETURN(const BulkFilter filter, ReadBulkFilter(query, page));
  CARILLON_ASSIGN_OR_RETURN(const auto actions, call.stores.bulk.ListBulk(filter));
  for (const BulkAction& action : actions) {
    if (!page.Add(BulkToJson(call.caller, action), std::to_string(action.number))) break;
  }
  return page.Finish(false, [&] { return call.stores.bulk.CountBulk(filter); });
}

Reply GetBulk(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query, Query::Read(call.request, {}));
  const auto action = call.stores.bulk.GetBulk(call.arguments.at(0));
  if (!action.ok() && action.code() == ErrorCode::kNotFound) return NoSuchBulk();
  if (!action.ok()) return action.error();
  return JsonResponse(200, BulkToJson(call.caller, *action));
}

Reply ListBulkItems(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const Query query,
                            Query::Read(call.request, {"result", "page_size", "page_token"}));
  const std::string& bulk_id = call.arguments.at(0);
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "bulk/" + bulk_id));
  CARILLON_ASSIGN_OR_RETURN(const BulkItemFilter filter, ReadItemFilter(query, page));
  const auto items = call.stores.bulk.ListBulkItems(bulk_id, filter);
  if (!items.ok() && items.code() == ErrorCode::kNotFound) return NoSuchBulk();
  if (!items.ok()) return items.error();
  for (const BulkItem& item : *items) {
    if (!page.Add(ItemToJson(item), std::to_string(item.position))) break;
  }
  return page.Finish(false, [&] { return call.stores.bulk.CountBulkItems(bulk_id, filter); });
}

Reply CancelBulk(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const std::string& bulk_id = call.arguments.at(0);
  const auto cancelled = RetryIfUnknown([&] { return call.stores.bulk.CancelBulk(bulk_id, now); });
  if (IsUnknown(cancelled)) {
    return OutcomeUnknown("It is unknown whether it was cancelled. Retrying is safe.",
                          cancelled.error());
  }
  if (!cancelled.ok() && cancelled.code() == ErrorCode::kNotFound) return NoSuchBulk();
  if (!cancelled.ok()) return cancelled.error();
  return JsonResponse(202, BulkToJson(call.caller, *cancelled));
}

}  // namespace carillon::scheduler
