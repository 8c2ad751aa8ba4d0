#include "scheduler/server/scheduler_settings.h"

#include <algorithm>

#include "common/base/version.h"
#include "common/config/event_topics.h"
#include "common/domain/job/job.h"
#include "common/process/process.h"

namespace carillon::scheduler {
namespace {

// The loops of planning, claims, results, admission, backfills, liveness, the guard, housekeeping,
// notices and bulk actions hold at most one connection each.
// So does the reader of events, if there are topics for it.
constexpr size_t kLoopConnections = 14;

MailTls MailTlsOf(const std::string& text) {
  if (text == "off") return MailTls::kOff;
  return text == "tls" ? MailTls::kTls : MailTls::kStartTls;
}

Error WrongSetting(std::string_view name, const std::string& why) {
  return {ErrorCode::kInvalid, std::string(name) + ": " + why};
}

Result<std::vector<std::string>> MailAddressesOf(const std::string& list) {
  std::vector<std::string> addresses;
  for (size_t from = 0; from < list.size();) {
    const size_t comma = std::min(list.find(',', from), list.size());
    const std::string one = list.substr(from, comma - from);
    if (!IsMailAddress(one)) {
      return WrongSetting("notify.mail_to", "'" + one + "' is not a mail address");
    }
    addresses.push_back(one);
    from = comma + 1;
  }
  return addresses;
}

}  // namespace

MemberTuning MemberTuningOf(const config::Config& config) {
  return {.horizon = config.Time("scheduler.horizon_s"),
          .dispatch_timeout = config.Time("scheduler.dispatch_timeout_ms"),
          .bus_format = BusFormatOf(config.Text("bus.format")),
          .retention = config.Time("retention_days"),
          .keep_last_runs = static_cast<int>(config.Integer("keep_last_runs")),
          .overload = config.Levels("overload.levels")};
}

MemberOptions MemberOptionsOf(const config::Config& config, uint64_t seed) {
  MemberOptions options;
  options.self = {.id = MemberId(config.Text("scheduler.id")),
                  .incarnation = process::NewIncarnation(seed),
                  .version = kVersion};
  options.seed = seed;
  options.tuning = MemberTuningOf(config);
  options.wheel_capacity = static_cast<size_t>(config.Integer("scheduler.wheel_capacity"));
  options.lease = config.Time("scheduler.lease_ms");
  options.heartbeat = config.Time("scheduler.heartbeat_ms");
  options.executor_lost = config.Time("scheduler.executor_lost_ms");
  options.clock_offset_max = config.Time("scheduler.clock_offset_max_ms");
  options.dead_letter_topic = config.Text("dead_letters.topic");
  return options;
}

ApiOptions ApiOptionsOf(const config::Config& config) {
  return {
      .address = config.Text("rest.listen"),
      .port = static_cast<uint16_t>(config.Integer("rest.port")),
      .tls = {.certificate_file = config.Text("rest.tls_certificate_file"),
              .key_file = config.Text("rest.tls_key_file")},
      .allow_beyond_loopback = config.Flag("rest.allow_beyond_loopback"),
      .advertise = config.Text("rest.advertise"),
      .public_url = config.Text("rest.public_url"),
      .workers = static_cast<size_t>(config.Integer("rest.workers")),
      .address_connections_max = static_cast<size_t>(config.Integer("rest.address_connections")),
      .trusted_proxies = config.Networks("rest.trusted_proxies")};
}

ops::OpsOptions OpsOptionsOf(const config::Config& config) {
  return {.address = config.Text("ops.listen"),
          .port = static_cast<uint16_t>(config.Integer("ops.port")),
          .allow_beyond_loopback = config.Flag("ops.allow_beyond_loopback")};
}

Result<NotifyOptions> NotifyOptionsOf(const config::Config& config) {
  NotifyOptions options;
  options.webhook_url = config.Text("notify.webhook_url");
  options.mail_server = config.Text("notify.mail_server");
  options.mail_tls = MailTlsOf(config.Text("notify.mail_tls"));
  options.mail_user = config.Text("notify.mail_user");
  options.mail_from = config.Text("notify.mail_from");
  if (options.HasMail() && !IsMailAddress(options.mail_from)) {
    return WrongSetting("notify.mail_from", "is not a mail address (user@host)");
  }
  auto kinds = ParseNoticeKinds(config.Text("notify.on"));
  if (!kinds.ok()) return WrongSetting("notify.on", kinds.error().message);
  CARILLON_ASSIGN_OR_RETURN(auto addresses, MailAddressesOf(config.Text("notify.mail_to")));
  options.defaults = {.on = std::move(kinds).value(),
                      .late_after = config.Time("notify.late_after_s"),
                      .repeat_after = config.Time("notify.repeat_after_s"),
                      .mail_to = std::move(addresses)};
  return options;
}

Result<std::vector<EventTopic>> EventTopicsOf(const config::Config& config) {
  std::vector<EventTopic> topics;
  for (const config::TopicOfEvents& one : config::EventTopicsIn(config)) {
    const std::string space =
        one.name_space.empty() ? std::string(kDefaultNamespace) : one.name_space;
    if (!IsNamespace(space)) return config::RefuseEventNamespace(config, one, kNamespaceRule);
    topics.push_back({.topic = one.topic, .name_space = space});
  }
  return topics;
}

size_t StoreConnectionsOf(const config::Config& config) {
  const size_t reader = config::EventTopicsIn(config).empty() ? 0 : 1;
  return static_cast<size_t>(config.Integer("store.connections")) + kLoopConnections + reader;
}

}  // namespace carillon::scheduler
