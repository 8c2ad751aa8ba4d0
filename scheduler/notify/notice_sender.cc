#include "scheduler/notify/notice_sender.h"

#include <fmt/core.h>

#include "common/wire/json/job/job_json.h"
#include "common/wire/json/notice_json.h"
#include "common/wire/webhook_signature.h"
#include "scheduler/notify/notice_mail.h"

namespace carillon::scheduler {
namespace {

constexpr int kGone = 410;  // Standard Webhooks: the receiver wants no more messages

constexpr size_t kErrorBytesMax = 500;

// Makes a server's answer storable: valid UTF-8 of bounded length. The answer may be any bytes.
std::string Sentence(const std::string& why) { return ToValidUtf8(why.substr(0, kErrorBytesMax)); }

SendOutcome Unsent(const std::string& why) {
  return {.verdict = SendVerdict::kTryAgain, .error = Sentence(why)};
}

SendOutcome NoAnswer(const Error& error) {
  return {.verdict =
              error.code == ErrorCode::kInvalid ? SendVerdict::kTryAgain : SendVerdict::kNoAnswer,
          .error = Sentence(error.message)};
}

// An approval is decided on the page of the workflow's run, which also shows what came before.
std::string LinkTo(const OpenNotice& open, const std::string& console_url) {
  if (console_url.empty()) return {};
  if (open.notice.kind == NoticeKind::kApproval && open.run && open.run->node) {
    return console_url + "/runs/" + EncodeRunId(open.run->node->workflow_run);
  }
  if (open.notice.kind == NoticeKind::kMissed) return console_url + "/jobs/" + open.job_id.value();
  return console_url + "/runs/" + EncodeRunId(open.notice.key);
}

int64_t UnixSeconds(WallTime time) { return ToUnixMicros(time) / 1'000'000; }

}  // namespace

std::string NoticeIdText(uint64_t notice_id) { return "ntc_" + std::to_string(notice_id); }

std::vector<NewDelivery> NoticeSender::Compose(const OpenNotice& notice,
                                               const std::string& console_url, WallTime now) const {
  const std::string link = LinkTo(notice, console_url);
  std::vector<NewDelivery> deliveries;
  if (options_.HasWebhook()) {
    deliveries.push_back(
        {.channel = DeliveryChannel::kWebhook, .message = NoticeToText(notice, link)});
  }
  const bool of_job = !notice.rules.mail_to.empty() && notice.notice.kind != NoticeKind::kShed;
  const std::vector<std::string>& to = of_job ? notice.rules.mail_to : options_.defaults.mail_to;
  if (options_.HasMail() && !to.empty()) {
    const MailEnvelope envelope{
        .from = options_.mail_from, .to = to, .id = NoticeIdText(notice.notice.id), .date = now};
    deliveries.push_back(
        {.channel = DeliveryChannel::kMail,
         .recipients = to,
         .message = ComposeMail(envelope, SubjectOf(notice), TextOf(notice, link))});
  }
  return deliveries;
}

SendOutcome NoticeSender::Send(const Delivery& delivery) const {
  if (delivery.channel == DeliveryChannel::kWebhook) {
    if (!options_.HasWebhook()) return Unsent("notify.webhook_url is not set");
    return Seen(delivery.channel, Post(NoticeIdText(delivery.notice_id), delivery.message));
  }
  if (!options_.HasMail()) return Unsent("notify.mail_server is not set");
  return Seen(delivery.channel, Mail(delivery.recipients, delivery.message));
}

SendOutcome NoticeSender::Seen(DeliveryChannel channel, SendOutcome outcome) const {
  MutexLock lock(mu_);
  seen_[channel] = {.channel = channel, .last = outcome.verdict, .at = clock_.Wall()};
  return outcome;
}

std::vector<ChannelHealth> NoticeSender::Channels() const {
  std::vector<DeliveryChannel> all;
  if (options_.HasWebhook()) all.push_back(DeliveryChannel::kWebhook);
  if (options_.HasMail()) all.push_back(DeliveryChannel::kMail);
  std::vector<ChannelHealth> channels;
  MutexLock lock(mu_);
  for (const DeliveryChannel channel : all) {
    const auto seen = seen_.find(channel);
    channels.push_back(seen == seen_.end() ? ChannelHealth{.channel = channel} : seen->second);
  }
  return channels;
}

SendOutcome NoticeSender::Post(const std::string& id, const std::string& body) const {
  const auto text = secrets_.WebhookSecrets();
  if (!text.ok()) return Unsent(text.error().message);
  const auto secrets = ParseWebhookSecrets(*text);
  if (!secrets.ok()) return Unsent("notify.webhook_secret_file: " + secrets.error().message);
  const int64_t now_s = UnixSeconds(clock_.Wall());
  const auto status = transport_.Post(
      {.url = options_.webhook_url,
       .headers = {{"Content-Type", "application/json"},
                   {"User-Agent", "Carillon"},
                   {"webhook-id", id},
                   {"webhook-timestamp", std::to_string(now_s)},
                   {"webhook-signature",
                    SignWebhook(*secrets, {.id = id, .timestamp_s = now_s, .body = body})}},
       .body = body});
  if (!status.ok()) return NoAnswer(status.error());
  if (*status >= 200 && *status < 300) {
    return {.verdict = SendVerdict::kDelivered, .status = *status};
  }
  return {.verdict = *status == kGone ? SendVerdict::kRefused : SendVerdict::kTryAgain,
          .status = *status,
          .error = fmt::format("the receiver answered {}", *status)};
}

SendOutcome NoticeSender::Mail(const std::vector<std::string>& to,
                               const std::string& message) const {
  NoticeMail mail{.server = options_.mail_server,
                  .tls = options_.mail_tls,
                  .user = options_.mail_user,
                  .from = options_.mail_from,
                  .to = to,
                  .message = message};
  if (!mail.user.empty()) {
    const auto password = secrets_.MailPassword();
    if (!password.ok()) return Unsent(password.error().message);
    mail.password = *password;
  }
  const auto status = transport_.Mail(mail);
  if (!status.ok()) return NoAnswer(status.error());
  if (*status >= 200 && *status < 300) {
    return {.verdict = SendVerdict::kDelivered, .status = *status};
  }
  return {.verdict = SendVerdict::kTryAgain,
          .status = *status,
          .error = fmt::format("the mail server answered {}", *status)};
}

std::vector<TestOutcome> NoticeSender::SendTest() const {
  const WallTime now = clock_.Wall();
  const std::string id = fmt::format("ntc_test_{}", ToUnixMicros(now));
  std::vector<TestOutcome> outcomes;
  if (options_.HasWebhook()) {
    outcomes.push_back({DeliveryChannel::kWebhook,
                        Seen(DeliveryChannel::kWebhook, Post(id, TestNoticeToText(now)))});
  }
  if (options_.HasMail() && !options_.defaults.mail_to.empty()) {
    const std::vector<std::string>& to = options_.defaults.mail_to;
    const std::string mail =
        ComposeMail({.from = options_.mail_from, .to = to, .id = id, .date = now},
                    "[Carillon] Test notification", "Test notification from Carillon.\n");
    outcomes.push_back({DeliveryChannel::kMail, Seen(DeliveryChannel::kMail, Mail(to, mail))});
  }
  return outcomes;
}

}  // namespace carillon::scheduler
