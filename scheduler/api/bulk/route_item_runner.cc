#include "scheduler/api/bulk/route_item_runner.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/base/log.h"
#include "common/wire/json/json_text.h"

namespace carillon::scheduler {
namespace {

using Verdict = ItemOutcome::Verdict;

constexpr size_t kAuditLookedAt = 20;  // records of one object

BulkOperation OperationOf(const BulkOrder& order, const BulkVerb& verb) {
  return {.verb = &verb,
          .reason = order.reason,
          .confirm = order.confirm_overlap,
          .mode = order.cancel_mode,
          .requested = order.created};
}

ItemOutcome Unsuccessful(const BulkVerb& verb, Verdict verdict, const BulkItem& item,
                         const Problem& problem, std::string_view trace_id) {
  return {.verdict = verdict,
          .error_json = JsonToText(ItemProblem(verb, item.id, problem, trace_id))};
}

// True if an earlier attempt of this action has recorded the item. An equal trace id alone
// does not prove that. The trace id comes from the client, which may have used it for the
// same action before.
Result<bool> IsRecorded(const Call& call, const BulkVerb& verb, const BulkOrder& order,
                        const BulkItem& item) {
  CARILLON_ASSIGN_OR_RETURN(
      const auto records,
      call.stores.audit.ListAudit({.object_id = item.id, .limit = kAuditLookedAt}));
  return std::any_of(records.begin(), records.end(), [&](const AuditRecord& record) {
    return record.at >= order.created && record.trace_id == call.trace_id &&
           record.action == verb.AuditAction();
  });
}

Status RecordOnce(const Call& call, const BulkOperation& operation, const BulkOrder& order,
                  const BulkItem& item, EarlierAttempt tried, const AuditNote& note) {
  if (tried == EarlierAttempt::kPossibly) {
    CARILLON_ASSIGN_OR_RETURN(const bool recorded, IsRecorded(call, *operation.verb, order, item));
    if (recorded) return {};
  }
  return RecordItem(call, operation, item.id, note);
}

Problem NotRecorded(const Error& error) {
  Problem problem = ToProblem(error);
  problem.detail = "Done, but the audit record could not be written.";
  return problem;
}

// Repeats an item that may have been executed. If the item's key is in flight, an earlier attempt
// has begun the item. The earlier attempt commits its effect and the settled key in one
// transaction, so this attempt can take over the key at once.
//
// The earlier attempt may only be slow, and may settle or drop the key meanwhile. This attempt then
// gets a conflict and changes nothing. Executing the item once more then returns the result of the
// earlier attempt. If the conflict had another cause, it occurs again.
Reply CallAgain(const Call& call, const BulkOperation& operation, const BulkItem& item,
                AuditNote& note, const ItemKey& key) {
  CARILLON_TRY(call.stores.idempotency.AbandonRequest(key.scope, key.key));
  Reply reply = DoItem(call, operation, item.id, note, key);
  if (reply.ok() || reply.error().code != "conflict") return reply;
  return DoItem(call, operation, item.id, note, key);
}

// A run that waits no longer was perhaps released by an earlier attempt.
Verdict VerdictOf(const Call& call, const BulkOperation& operation, const BulkItem& item,
                  const Reply& reply, EarlierAttempt tried) {
  const Verdict verdict = JudgeItem(*operation.verb, reply, tried);
  if (reply.ok() || tried != EarlierAttempt::kPossibly) return verdict;
  if (reply.error().code != "not_waiting") return verdict;
  const auto released = IsReleased(call, operation, item.id);
  if (!released.ok()) return Verdict::kAgain;
  return *released ? Verdict::kDone : verdict;
}

ItemOutcome DoOne(const Call& call, const BulkOperation& operation, const BulkOrder& order,
                  const BulkItem& item, EarlierAttempt tried) {
  const ItemKey key{.scope = "bulk " + order.bulk_id, .key = std::to_string(item.position)};
  AuditNote note;
  const Reply reply = tried == EarlierAttempt::kPossibly
                          ? CallAgain(call, operation, item, note, key)
                          : DoItem(call, operation, item.id, note, key);
  const Verdict verdict = VerdictOf(call, operation, item, reply, tried);
  if (verdict != Verdict::kDone) {
    return Unsuccessful(*operation.verb, verdict, item, reply.error(), call.trace_id);
  }
  const Status recorded = RecordOnce(call, operation, order, item, tried, note);
  if (!recorded.ok()) {
    return Unsuccessful(*operation.verb, Verdict::kAgain, item, NotRecorded(recorded.error()),
                        call.trace_id);
  }
  if (!reply.ok()) return {};
  const nlohmann::json run_id = RunIdOf(*operation.verb, *reply);
  return {.run_id = run_id.is_string() ? run_id.get<std::string>() : ""};
}

Problem UndoneProblem(Undone undone) {
  if (undone == Undone::kNotBegun) {
    return {
        .status = 403, .code = "forbidden", .detail = "Not done: the action was stopped first."};
  }
  return {
      .status = 504,
      .code = "outcome_unknown",
      .detail =
          "It is unknown whether this was done: it was in progress when the action was stopped."};
}

Problem NotKnownHere() {
  return {.status = 500, .code = "internal", .detail = "This member does not support the action."};
}

}  // namespace

Verdict JudgeItem(const BulkVerb& verb, const Reply& reply, EarlierAttempt tried) {
  if (reply.ok()) return Verdict::kDone;
  const Problem& problem = reply.error();
  if (problem.status >= 503 || problem.code == "request_in_flight") return Verdict::kAgain;
  const bool removes = verb.action == "delete" || verb.action == "discard";
  const bool gone = problem.status == 404 && removes;
  return gone && tried == EarlierAttempt::kPossibly ? Verdict::kDone : Verdict::kFailed;
}

ItemOutcome RouteItemRunner::Do(const BulkOrder& order, const Caller& caller, const BulkItem& item,
                                EarlierAttempt tried) {
  const HttpRequest none;
  AuditNote unused;
  const Call call = make_call_(none, caller, order.trace_id, unused);
  const BulkVerb* verb = FindBulkVerb(order.action, order.kind);
  if (verb == nullptr) {
    return Unsuccessful({}, Verdict::kFailed, item, NotKnownHere(), order.trace_id);
  }
  try {
    return DoOne(call, OperationOf(order, *verb), order, item, tried);
  } catch (const std::exception& error) {
    log::Error("bulk", "{} {}: {} (trace {})", order.action, item.id, error.what(), order.trace_id);
    return Unsuccessful(*verb, Verdict::kFailed, item,
                        {.detail = "Internal error. Search the server log for this trace_id."},
                        order.trace_id);
  }
}

std::optional<ItemOutcome> RouteItemRunner::Precheck(const BulkOrder& order, const Caller& caller,
                                                     const BulkItem& item) {
  const BulkVerb* verb = FindBulkVerb(order.action, order.kind);
  if (verb == nullptr || verb->action != "delete") return std::nullopt;
  const HttpRequest none;
  AuditNote unused;
  const Call call = make_call_(none, caller, order.trace_id, unused);
  try {
    const Reply reply = LookAtItem(call, OperationOf(order, *verb), item.id);
    if (reply.ok() || reply.error().code == "corrupt") return std::nullopt;
    const Verdict verdict = JudgeItem(*verb, reply, EarlierAttempt::kNo);
    return Unsuccessful(*verb, verdict, item, reply.error(), order.trace_id);
  } catch (const std::exception& error) {  // reported when the item is executed
    log::Error("bulk", "{} {}: {} (trace {})", order.action, item.id, error.what(), order.trace_id);
    return std::nullopt;
  }
}

std::string RouteItemRunner::ErrorOf(const BulkOrder& order, Undone undone) {
  const std::string instance = "/api/bulk/" + order.bulk_id;
  return JsonToText(ProblemBody(UndoneProblem(undone), instance, order.trace_id));
}

}  // namespace carillon::scheduler
