#include "scheduler/api/notices/delivery_routes.h"

#include <nlohmann/json.hpp>

#include "common/domain/job/job.h"
#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

json TimeOfDelivery(WallTime time) {
  return time == WallTime{} ? json(nullptr) : json(FormatRfc3339(time));
}

json DeliveryToJson(const Delivery& delivery) {
  const bool missed = delivery.kind == NoticeKind::kMissed;
  const bool pending = delivery.state == DeliveryState::kPending;
  return {{"id", std::to_string(delivery.id)},
          {"notice_id", NoticeIdText(delivery.notice_id)},
          {"channel", Name(delivery.channel)},
          {"kind", Name(delivery.kind)},
          {"job_id", delivery.job_id.value()},
          {"run_id", missed ? json(nullptr) : json(EncodeRunId(delivery.key))},
          {"state", Name(delivery.state)},
          {"attempts", delivery.attempts},
          {"create_time", FormatRfc3339(delivery.created)},
          {"next_try_time", pending ? json(FormatRfc3339(delivery.due)) : json(nullptr)},
          {"end_time", TimeOfDelivery(delivery.ended)},
          {"status", delivery.status == 0 ? json(nullptr) : json(delivery.status)},
          {"error", delivery.error.empty() ? json(nullptr) : json(delivery.error)},
          {"recipients", delivery.recipients}};
}

Outcome<DeliveryFilter> ReadDeliveryFilter(const Query& query, const Page& page) {
  DeliveryFilter filter{.limit = page.size() + 1};
  if (const auto text = query.Text("state")) {
    const auto state = ParseDeliveryState(*text);
    if (!state.ok()) {
      return InvalidField("?state", "unknown_value", "Must be PENDING, DELIVERED or GIVEN_UP.");
    }
    filter.state = *state;
  }
  if (const auto text = query.Text("kind")) {
    const auto kind = ParseNoticeKind(*text);
    if (!kind.ok()) {
      return InvalidField("?kind", "unknown_value", "Must be failed, missed, late or recovered.");
    }
    filter.kind = *kind;
  }
  if (const auto text = query.Text("job_id")) {
    CARILLON_ASSIGN_OR_RETURN(filter.job_id, FilterJobId(*text));
  }
  if (!page.cursor().empty()) {
    const auto before = ParseCursor(page.cursor());
    if (!before) return BadPageToken();
    filter.before_id = *before;
  }
  return filter;
}

}  // namespace

Reply ListDeliveries(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(
      const Query query,
      Query::Read(call.request, {"state", "kind", "job_id", "page_size", "page_token"}));
  CARILLON_ASSIGN_OR_RETURN(Page page, Page::Read(query, "deliveries"));
  CARILLON_ASSIGN_OR_RETURN(const DeliveryFilter filter, ReadDeliveryFilter(query, page));
  CARILLON_ASSIGN_OR_RETURN(const auto deliveries, call.stores.notices.ListDeliveries(filter));
  for (const Delivery& delivery : deliveries) {
    if (!page.Add(DeliveryToJson(delivery), std::to_string(delivery.id))) break;
  }
  return page.Finish(false, [&] { return call.stores.notices.CountDeliveries(filter); });
}

// Idempotent. If the delivery is pending, a repetition only restarts the day during which the
// delivery is tried.
Reply ResendDelivery(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  const auto id = ParseCursor(call.arguments.at(0));
  if (!id) return NotFound("No such delivery. GET /api/deliveries lists them.");
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, call.api.cluster_now());
  const auto resent = call.stores.notices.ResendDelivery(*id, now);
  if (!resent.ok() && resent.code() == ErrorCode::kNotFound) {
    return NotFound("No such delivery. GET /api/deliveries lists them.");
  }
  if (!resent.ok()) return resent.error();
  call.note.reason = std::string(Name(resent->kind)) + " of " + resent->job_id.value();
  return JsonResponse(202, DeliveryToJson(*resent));
}

Reply TestNotices(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  const std::vector<TestOutcome> outcomes = call.api.test_notices();
  if (outcomes.empty()) {
    return Problem{.status = 409,
                   .code = "no_notify_channel",
                   .detail =
                       "No notification channel is configured. Set notify.webhook_url, or "
                       "notify.mail_server and notify.mail_to."};
  }
  json channels = json::array();
  for (const TestOutcome& one : outcomes) {
    const SendOutcome& outcome = one.outcome;
    channels.push_back({{"channel", Name(one.channel)},
                        {"delivered", outcome.verdict == SendVerdict::kDelivered},
                        {"status", outcome.status == 0 ? json(nullptr) : json(outcome.status)},
                        {"error", outcome.error.empty() ? json(nullptr) : json(outcome.error)}});
  }
  return JsonResponse(200, {{"channels", channels}});
}

}  // namespace carillon::scheduler
