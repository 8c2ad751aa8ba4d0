#include "common/wire/messages/control_codec.h"

#include <google/protobuf/arena.h>

#include <array>
#include <utility>

#include "common/wire/messages/control_parts.h"
#include "common/wire/messages/decode_checks.h"
#include "common/wire/messages/save_codec.h"

namespace carillon {
namespace {

using wire::BadMessage;
using wire::Decode;
using wire::Encode;
using wire::kAttemptsMax;
using wire::kCountMax;
using wire::kTextBytesMax;

constexpr int kLabelsMax = 64;
constexpr size_t kSettingsMax = 1000;
constexpr int64_t kLeaseMax_us = 3'600'000'000;
constexpr size_t kPublicKeyBytes = 32;

constexpr std::array kVerdicts = {
    std::pair{ClaimVerdict::kAccepted, std::string_view("accepted")},
    std::pair{ClaimVerdict::kAcceptedAgain, std::string_view("accepted_again")},
    std::pair{ClaimVerdict::kRefused, std::string_view("refused")},
    std::pair{ClaimVerdict::kSkipped, std::string_view("skipped")}};

// A verdict without a name is a refusal for the executor: kEnqueued.
std::string_view NameOf(ClaimVerdict verdict) {
  for (const auto& [value, name] : kVerdicts) {
    if (value == verdict) return name;
  }
  return "refused";
}

std::optional<ClaimVerdict> VerdictOf(std::string_view text) {
  for (const auto& [value, name] : kVerdicts) {
    if (name == text) return value;
  }
  return std::nullopt;
}

// A reason that only a newer member knows becomes kNone; the claim is still refused.
ClaimReason ReasonOf(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ClaimReason::kClusterPaused); ++i) {
    if (Name(static_cast<ClaimReason>(i)) == text) return static_cast<ClaimReason>(i);
  }
  return ClaimReason::kNone;
}

// ---- records ----

void Encode(const CarriedRecord& from, v1::FromExecutor& message) {
  Encode(from, *message.mutable_record());
}

void Encode(const CarriedRecord& from, v1::ToExecutor& message) {
  Encode(from, *message.mutable_record());
}

// ---- executor -> member ----

void Encode(const Register& from, v1::FromExecutor& message) {
  v1::Register& to = *message.mutable_register_();
  to.set_host(from.record.host);
  to.set_ops_port(static_cast<uint32_t>(from.record.ops_port));
  to.mutable_labels()->insert(from.record.labels.begin(), from.record.labels.end());
  to.set_slots(static_cast<uint32_t>(from.record.slots));
  to.set_version(from.record.version);
  to.set_carries_records(from.carries_records);
  for (const HostCheck& check : from.record.checks) {
    v1::HostCheck& added = *to.add_checks();
    added.set_name(check.name);
    added.set_state(std::string(Name(check.state)));
    added.set_detail(check.detail);
    added.set_cure(check.cure);
  }
}

// Leaves out a check with a state of a later version.
Result<std::vector<HostCheck>> DecodeChecks(const v1::Register& from) {
  if (static_cast<size_t>(from.checks_size()) > kHostChecksMax)
    return BadMessage("too many checks");
  std::vector<HostCheck> checks;
  for (const v1::HostCheck& check : from.checks()) {
    if (std::max({check.name().size(), check.detail().size(), check.cure().size()}) >
        kHostCheckBytesMax) {
      return BadMessage("a check");
    }
    const auto state = ParseHostCheckState(check.state());
    if (!state.ok()) continue;
    checks.push_back({check.name(), *state, check.detail(), check.cure()});
  }
  return checks;
}

Result<FromExecutor> Decode(const v1::Register& from, const ExecutorId& executor,
                            const Incarnation& incarnation) {
  if (from.host().size() > kTextBytesMax || from.version().size() > kTextBytesMax) {
    return BadMessage("host or version");
  }
  if (from.ops_port() > UINT16_MAX) return BadMessage("ops_port");
  if (from.slots() > kCountMax) return BadMessage("slots");
  if (static_cast<int>(from.labels().size()) > kLabelsMax) return BadMessage("too many labels");
  Register to;
  to.carries_records = from.carries_records();
  to.record.id = executor;
  to.record.incarnation = incarnation;
  to.record.host = from.host();
  to.record.ops_port = static_cast<int>(from.ops_port());
  to.record.slots = static_cast<int>(from.slots());
  to.record.version = from.version();
  CARILLON_ASSIGN_OR_RETURN(to.record.checks, DecodeChecks(from));
  for (const auto& [name, value] : from.labels()) {
    if (name.empty() || name.size() > kTextBytesMax || value.size() > kTextBytesMax) {
      return BadMessage("label");
    }
    to.record.labels[name] = value;
  }
  return FromExecutor(std::move(to));
}

void Encode(const Heartbeat& from, v1::FromExecutor& message) {
  v1::Heartbeat& to = *message.mutable_heartbeat();
  to.set_sent_us(from.sent_us);
  to.set_running_count(static_cast<uint32_t>(from.running_count));
  to.mutable_load()->set_cpu(from.load.cpu);
  to.mutable_load()->set_memory(from.load.memory);
  to.mutable_load()->set_disk(from.load.disk);
  to.mutable_load()->set_io(from.load.io);
  to.set_free_slots(static_cast<uint32_t>(from.free_slots));
  to.set_free_light_slots(static_cast<uint32_t>(from.free_light_slots));
  to.set_slots(static_cast<uint32_t>(from.slots));
  to.set_config_version(from.config_version);
  to.set_takes_secrets(from.features.Has(Feature::kSecrets));
  to.set_features(from.features.bits());
  for (const auto& [name, slots] : from.handlers) {
    v1::HandlerSlots& handler = *to.add_handlers();
    handler.set_name(name);
    handler.set_slots(static_cast<uint32_t>(slots.slots));
    handler.set_free(static_cast<uint32_t>(slots.free));
  }
  if (from.tasks_behind) to.set_tasks_behind(*from.tasks_behind);
  to.set_leaving(from.leaving);
  Encode(from.running, *to.mutable_running());
  Encode(from.reporting, *to.mutable_reporting());
  Encode(from.claiming, *to.mutable_claiming());
  to.set_trouble(from.trouble);
  to.set_next_in_us(from.next_in.count());
}

bool IsLease(int64_t us) { return us >= 0 && us <= kLeaseMax_us; }

double Share(double value) { return value >= 0 && value <= 1 ? value : 0; }  // NaN is 0

Result<FromExecutor> Decode(const v1::Heartbeat& from) {
  if (from.running_count() > kCountMax || from.free_slots() > kCountMax ||
      from.free_light_slots() > kCountMax || from.slots() > kCountMax) {
    return BadMessage("a count");
  }
  if (from.config_version() < 0) return BadMessage("config_version");
  if (from.tasks_behind() < 0) return BadMessage("tasks_behind");
  if (from.trouble().size() > kTextBytesMax) return BadMessage("trouble");
  if (!IsLease(from.next_in_us())) return BadMessage("next_in");
  Heartbeat to;
  to.sent_us = from.sent_us();
  to.next_in = Duration(from.next_in_us());
  to.running_count = static_cast<int>(from.running_count());
  to.load = {.cpu = Share(from.load().cpu()),
             .memory = Share(from.load().memory()),
             .disk = Share(from.load().disk()),
             .io = Share(from.load().io())};
  to.free_slots = static_cast<int>(from.free_slots());
  to.free_light_slots = static_cast<int>(from.free_light_slots());
  to.slots = static_cast<int>(from.slots());
  to.config_version = from.config_version();
  to.features = Features::FromBits(from.features());
  if (from.takes_secrets()) to.features.Add(Feature::kSecrets);
  if (static_cast<size_t>(from.handlers_size()) > kHandlersMax) return BadMessage("handlers");
  for (const v1::HandlerSlots& handler : from.handlers()) {
    if (!IsFullHandlerName(handler.name()) || handler.slots() > kCountMax ||
        handler.free() > kCountMax) {
      return BadMessage("handlers");
    }
    to.handlers[handler.name()] = {static_cast<int>(handler.slots()),
                                   static_cast<int>(handler.free())};
  }
  if (from.has_tasks_behind()) to.tasks_behind = from.tasks_behind();
  to.leaving = from.leaving();
  to.trouble = from.trouble();
  CARILLON_ASSIGN_OR_RETURN(to.running, Decode(from.running()));
  CARILLON_ASSIGN_OR_RETURN(to.reporting, Decode(from.reporting()));
  CARILLON_ASSIGN_OR_RETURN(to.claiming, Decode(from.claiming()));
  return FromExecutor(std::move(to));
}

void Encode(const ClaimBatch& from, v1::FromExecutor& message) {
  v1::ClaimBatch& to = *message.mutable_claim_batch();
  to.set_sent_us(from.sent_us);
  to.set_batch_id(from.batch_id);
  for (const ClaimRequest& request : from.requests) {
    v1::Claim& claim = *to.add_claims();
    Encode(HeldAttempt{.key = request.key,
                       .segment = request.segment,
                       .job_no = request.job_no,
                       .attempt = request.attempt,
                       .token = request.token},
           *claim.mutable_attempt());
    claim.set_def_version(request.def_version);
    claim.set_overlap_policy(std::string(Name(request.overlap.policy)));
    claim.set_wants_secrets(request.wants_secrets);
  }
}

Result<FromExecutor> Decode(const v1::ClaimBatch& from, const ExecutorId& executor,
                            const Incarnation& incarnation) {
  if (from.claims_size() > kAttemptsMax) return BadMessage("too many claims");
  ClaimBatch to{.sent_us = from.sent_us(), .batch_id = from.batch_id(), .requests = {}};
  to.requests.reserve(static_cast<size_t>(from.claims_size()));
  for (const v1::Claim& claim : from.claims()) {
    CARILLON_ASSIGN_OR_RETURN(const HeldAttempt attempt, Decode(claim.attempt()));
    const auto overlap = ParseName<OverlapPolicy>(claim.overlap_policy());
    if (!overlap.ok() || claim.def_version() < 0) return BadMessage("claim");
    to.requests.push_back({.key = attempt.key,
                           .segment = attempt.segment,
                           .job_no = attempt.job_no,
                           .attempt = attempt.attempt,
                           .def_version = claim.def_version(),
                           .token = attempt.token,
                           .executor = executor,
                           .incarnation = incarnation,
                           .wants_secrets = claim.wants_secrets(),
                           .overlap = {.policy = *overlap}});
  }
  return FromExecutor(std::move(to));
}

// ---- member -> executor ----

void Encode(const Registered& from, v1::ToExecutor& message) {
  v1::Registered& to = *message.mutable_registered();
  to.set_accepted(from.accepted);
  to.set_refusal(from.refusal);
  to.set_enabled(from.enabled);
  to.set_draining(from.draining);
  to.mutable_settings()->set_version(from.settings.version);
  to.mutable_settings()->mutable_values()->insert(from.settings.values.begin(),
                                                  from.settings.values.end());
  if (from.cluster_time) to.set_cluster_time_us(ToUnixMicros(*from.cluster_time));
  to.set_heartbeat_us(from.heartbeat.count());
  to.set_quiet_heartbeat_us(from.quiet_heartbeat.count());
  to.set_takes_saves(from.takes_saves);
}

// The names are not checked here: the receiver ignores names that are not settings of its version.
Result<ClusterSettings> Decode(const v1::Settings& from) {
  if (from.version() < 0) return BadMessage("version of the settings");
  if (from.values().size() > kSettingsMax) return BadMessage("too many settings");
  ClusterSettings to{.version = from.version()};
  for (const auto& [name, value] : from.values()) {
    if (name.size() > kTextBytesMax || value.size() > kTextBytesMax) return BadMessage("setting");
    to.values[name] = value;
  }
  return to;
}

Result<ToExecutor> Decode(const v1::Registered& from) {
  if (from.refusal().size() > kTextBytesMax) return BadMessage("refusal");
  if (!IsLease(from.heartbeat_us()) || !IsLease(from.quiet_heartbeat_us())) {
    return BadMessage("heartbeat");
  }
  CARILLON_ASSIGN_OR_RETURN(ClusterSettings settings, Decode(from.settings()));
  Registered to{.accepted = from.accepted(),
                .refusal = from.refusal(),
                .enabled = from.enabled(),
                .draining = from.draining(),
                .settings = std::move(settings),
                .heartbeat = Duration(from.heartbeat_us()),
                .quiet_heartbeat = Duration(from.quiet_heartbeat_us()),
                .takes_saves = from.takes_saves()};
  if (from.has_cluster_time_us()) to.cluster_time = FromUnixMicros(from.cluster_time_us());
  return ToExecutor(std::move(to));
}

void Encode(const HeartbeatReply& from, v1::ToExecutor& message) {
  v1::HeartbeatReply& to = *message.mutable_heartbeat_reply();
  to.set_sent_us(from.sent_us);
  to.set_lease_us(from.lease.count());
  to.set_registered(from.registered);
  Encode(from.renewed, *to.mutable_renewed());
  if (from.cluster_time) to.set_cluster_time_us(ToUnixMicros(*from.cluster_time));
}

Result<ToExecutor> Decode(const v1::HeartbeatReply& from) {
  if (!IsLease(from.lease_us())) return BadMessage("lease");
  HeartbeatReply to{.sent_us = from.sent_us(),
                    .lease = Duration(from.lease_us()),
                    .registered = from.registered(),
                    .renewed = {}};
  CARILLON_ASSIGN_OR_RETURN(to.renewed, Decode(from.renewed()));
  if (from.has_cluster_time_us()) to.cluster_time = FromUnixMicros(from.cluster_time_us());
  return ToExecutor(std::move(to));
}

void Encode(const ClaimBatchReply& from, v1::ToExecutor& message) {
  v1::ClaimBatchReply& to = *message.mutable_claim_batch_reply();
  to.set_batch_id(from.batch_id);
  to.set_sent_us(from.sent_us);
  to.set_lease_us(from.lease.count());
  for (const ClaimBatchReply::Item& item : from.items) {
    v1::ClaimAnswer& answer = *to.add_answers();
    answer.set_task_id(EncodeRunId(item.key));
    answer.set_claim_token(FormatClaimToken(item.token));
    answer.set_verdict(std::string(NameOf(item.verdict)));
    answer.set_reason(std::string(Name(item.reason)));
    answer.mutable_secrets()->insert(item.secrets.begin(), item.secrets.end());
    answer.set_secret_failure(item.secret_failure);
    answer.set_secret_error(item.secret_error);
    if (item.checkpoint) answer.set_checkpoint(*item.checkpoint);
  }
}

Result<SecretValues> DecodeSecrets(const v1::ClaimAnswer& from) {
  if (from.secret_failure().size() > kTextBytesMax || from.secret_error().size() > kTextBytesMax) {
    return BadMessage("secrets");
  }
  SecretValues secrets;
  for (const auto& [name, value] : from.secrets()) {
    if (!IsSecretName(name) || value.size() > kSecretBytesMax) return BadMessage("secrets");
    secrets[name] = value;
  }
  return secrets;
}

Result<ToExecutor> Decode(const v1::ClaimBatchReply& from) {
  if (!IsLease(from.lease_us())) return BadMessage("lease");
  if (from.answers_size() > kAttemptsMax) return BadMessage("too many answers");
  ClaimBatchReply to{.batch_id = from.batch_id(),
                     .sent_us = from.sent_us(),
                     .lease = Duration(from.lease_us()),
                     .items = {}};
  for (const v1::ClaimAnswer& answer : from.answers()) {
    const auto key = DecodeRunId(answer.task_id());
    const auto token = ParseClaimToken(answer.claim_token());
    const auto verdict = VerdictOf(answer.verdict());
    if (!key.ok() || !token.ok() || !verdict) return BadMessage("answer to a claim");
    CARILLON_ASSIGN_OR_RETURN(SecretValues secrets, DecodeSecrets(answer));
    to.items.push_back({.key = *key,
                        .token = *token,
                        .verdict = *verdict,
                        .reason = ReasonOf(answer.reason()),
                        .secrets = std::move(secrets),
                        .secret_failure = answer.secret_failure(),
                        .secret_error = answer.secret_error()});
    if (answer.checkpoint().size() > kCheckpointBytesMax) return BadMessage("checkpoint");
    if (answer.has_checkpoint()) to.items.back().checkpoint = answer.checkpoint();
  }
  return ToExecutor(std::move(to));
}

void Encode(const ResultsApplied& from, v1::ToExecutor& message) {
  Encode(from.applied, *message.mutable_results_applied()->mutable_applied());
}

void Encode(const LogsStored& from, v1::ToExecutor& message) {
  v1::LogsStored& to = *message.mutable_logs_stored();
  for (const StoredOutput& stored : from.stored) {
    v1::StoredOutput& item = *to.add_stored();
    Encode(stored.attempt, *item.mutable_attempt());
    item.set_first_seq(stored.first_seq);
  }
}

Result<std::vector<StoredOutput>> Decode(const v1::LogsStored& from) {
  if (from.stored_size() > kAttemptsMax) return BadMessage("too many pieces of logs");
  std::vector<StoredOutput> to;
  for (const v1::StoredOutput& item : from.stored()) {
    CARILLON_ASSIGN_OR_RETURN(const HeldAttempt held, Decode(item.attempt()));
    to.push_back({.attempt = held, .first_seq = item.first_seq()});
  }
  return to;
}

void Encode(const CancelAttempts& from, v1::ToExecutor& message) {
  v1::CancelAttempts& to = *message.mutable_cancel_attempts();
  Encode(from.attempts, *to.mutable_attempts());
  to.set_kill(from.mode == CancelMode::kKill);
}

template <typename Message>
const Message* Parse(std::string_view bytes, google::protobuf::Arena& arena) {
  if (bytes.size() > wire::kControlBytesMax) return nullptr;
  wire::SilenceProtobuf();
  auto* message = google::protobuf::Arena::CreateMessage<Message>(&arena);
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? message : nullptr;
}

}  // namespace

std::string EncodeFromExecutor(const FromExecutor& message) {
  google::protobuf::Arena arena;
  auto* to = google::protobuf::Arena::CreateMessage<v1::FromExecutor>(&arena);
  std::visit([to](const auto& from) { Encode(from, *to); }, message);
  return to->SerializeAsString();
}

Result<FromExecutor> DecodeFromExecutor(std::string_view bytes, const ExecutorId& executor,
                                        const Incarnation& incarnation) {
  google::protobuf::Arena arena;
  const auto* from = Parse<v1::FromExecutor>(bytes, arena);
  if (from == nullptr) return BadMessage("not a message");
  switch (from->message_case()) {
    case v1::FromExecutor::kRegister: return Decode(from->register_(), executor, incarnation);
    case v1::FromExecutor::kHeartbeat: return Decode(from->heartbeat());
    case v1::FromExecutor::kClaimBatch: return Decode(from->claim_batch(), executor, incarnation);
    case v1::FromExecutor::kRecord: {
      CARILLON_ASSIGN_OR_RETURN(CarriedRecord record, Decode(from->record()));
      return FromExecutor(std::move(record));
    }
    case v1::FromExecutor::kSave: return Decode(from->save());
    case v1::FromExecutor::kPiece:
    case v1::FromExecutor::MESSAGE_NOT_SET: break;
  }
  return BadMessage("empty, or of a kind that is not known here");
}

std::string EncodeWelcome(const Welcome& welcome) {
  v1::ToExecutor to;
  to.mutable_welcome()->set_member(welcome.member.value());
  to.mutable_welcome()->set_public_key(welcome.public_key);
  to.mutable_welcome()->set_takes_pieces(welcome.takes_pieces);
  return to.SerializeAsString();
}

std::string EncodeToExecutor(const ToExecutor& message) {
  google::protobuf::Arena arena;
  auto* to = google::protobuf::Arena::CreateMessage<v1::ToExecutor>(&arena);
  std::visit([to](const auto& from) { Encode(from, *to); }, message);
  return to->SerializeAsString();
}

Result<std::variant<Welcome, ToExecutor>> DecodeToExecutor(std::string_view bytes) {
  using Incoming = std::variant<Welcome, ToExecutor>;
  google::protobuf::Arena arena;
  const auto* from = Parse<v1::ToExecutor>(bytes, arena);
  if (from == nullptr) return BadMessage("not a message");
  const auto wrap = [](Result<ToExecutor> decoded) -> Result<Incoming> {
    if (!decoded.ok()) return decoded.error();
    return Incoming(std::move(decoded).value());
  };
  switch (from->message_case()) {
    case v1::ToExecutor::kWelcome:
      if (!wire::IsMemberId(from->welcome().member()) ||
          from->welcome().public_key().size() != kPublicKeyBytes) {
        return BadMessage("welcome");
      }
      return Incoming(Welcome{MemberId(from->welcome().member()), from->welcome().public_key(),
                              from->welcome().takes_pieces()});
    case v1::ToExecutor::kRegistered: return wrap(Decode(from->registered()));
    case v1::ToExecutor::kHeartbeatReply: return wrap(Decode(from->heartbeat_reply()));
    case v1::ToExecutor::kClaimBatchReply: return wrap(Decode(from->claim_batch_reply()));
    case v1::ToExecutor::kResultsApplied: {
      CARILLON_ASSIGN_OR_RETURN(auto applied, Decode(from->results_applied().applied()));
      return Incoming(ToExecutor(ResultsApplied{std::move(applied)}));
    }
    case v1::ToExecutor::kCancelAttempts: {
      CARILLON_ASSIGN_OR_RETURN(auto attempts, Decode(from->cancel_attempts().attempts()));
      const bool kill = from->cancel_attempts().kill();
      return Incoming(ToExecutor(
          CancelAttempts{std::move(attempts), kill ? CancelMode::kKill : CancelMode::kGraceful}));
    }
    case v1::ToExecutor::kLogsStored: {
      CARILLON_ASSIGN_OR_RETURN(auto stored, Decode(from->logs_stored()));
      return Incoming(ToExecutor(LogsStored{std::move(stored)}));
    }
    case v1::ToExecutor::kRecord: {
      CARILLON_ASSIGN_OR_RETURN(CarriedRecord record, Decode(from->record()));
      return Incoming(ToExecutor(std::move(record)));
    }
    case v1::ToExecutor::kSaveAnswer: return wrap(Decode(from->save_answer()));
    case v1::ToExecutor::kPiece:
    case v1::ToExecutor::MESSAGE_NOT_SET: break;
  }
  return BadMessage("empty, or of a kind that is not known here");
}

}  // namespace carillon
