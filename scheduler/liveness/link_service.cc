#include "scheduler/liveness/link_service.h"

#include <fmt/core.h>

#include "common/base/log.h"
#include "scheduler/liveness/standing.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kMessagesPerStep = 1024;
constexpr Duration kHealthEvery = 500ms;
// Between two steps: this process was stopped, and there are messages that nobody has read yet.
constexpr Duration kStopped = 2s;
constexpr Duration kCatchUp = 1s;
// So many messages are read before silence is judged, if there are more and more of them.
constexpr int kFullStepsMax = 64;

// Returns why the store can never keep this record; empty if it can.
std::string WhyNotKept(const ExecutorRecord& record) {
  if (record.host.size() > kExecutorHostBytesMax) {
    return fmt::format("its host name has {} bytes; at most {} are allowed", record.host.size(),
                       kExecutorHostBytesMax);
  }
  if (record.version.size() > kExecutorVersionBytesMax) {
    return fmt::format("its version has {} bytes; at most {} are allowed", record.version.size(),
                       kExecutorVersionBytesMax);
  }
  return {};
}

}  // namespace

LinkService::LinkService(const Ports& ports, Options options)
    : ports_(ports), options_(options), telling_(options.heartbeat) {}

SteadyTime LinkService::Step(SteadyTime now) {
  std::vector<ExecutorMessage> messages = ports_.hub.Receive(kMessagesPerStep);
  for (ExecutorMessage& message : messages) {
    const LeaseHolder from{message.executor, message.incarnation};
    std::visit([&](auto& body) { Handle(from, body); }, message.message);
  }
  for (const ExecutorProcess& process : ports_.hub.TakeEnded()) {
    ports_.executors.StreamEnded(process.executor, process.incarnation, now);
  }
  const bool drained = messages.size() < kMessagesPerStep;
  full_steps_ = drained ? 0 : full_steps_ + 1;
  if (MayJudge(now) && (drained || full_steps_ % kFullStepsMax == 0)) JudgeHealth(now);
  PushChanges();
  TellPace(now);
  if (ports_.executors_changed && ports_.executors.has_changes()) ports_.executors_changed();
  return drained ? next_health_ : now;
}

// Whoever is taken for lost loses its stream and its tasks, so silence counts only if it could have
// been heard. A postponed judgement is not postponed again.
bool LinkService::MayJudge(SteadyTime now) {
  const bool stopped = stepped_ && now - *stepped_ > kStopped;
  stepped_ = now;
  if (stopped && !std::exchange(catches_up_, true)) next_health_ = now + kCatchUp;
  return now >= next_health_;
}

void LinkService::Handle(const LeaseHolder& from, Register& message) {
  message.record.id = from.executor;
  message.record.incarnation = from.incarnation;
  if (const auto wall = ports_.cluster.Now()) {
    message.record.registered = *wall;
    message.record.last_heartbeat = *wall;
  }
  // Checked before anything else, also for known executors, because the store would refuse the
  // record at every retry.
  if (std::string why = WhyNotKept(message.record); !why.empty()) {
    ports_.metrics.counter("carillon_rejected_messages_total", "executor_too_long").Add();
    log::Error("liveness", "executor refused: {} executor_id={}", why, from.executor.value());
    Send(from, Registered{.accepted = false, .refusal = std::move(why)});
    return;
  }
  // No task would ever reach it. link_bus::CarryingHub clears the flag where the link carries
  // records.
  if (message.carries_records) {
    ports_.metrics.counter("carillon_rejected_messages_total", "other_bus").Add();
    log::Error("liveness",
               "executor refused: it has link.members, but this cluster has Kafka executor_id={}",
               from.executor.value());
    Send(from,
         Registered{.accepted = false,
                    .refusal = "this scheduler sends tasks through Kafka; set kafka.bootstrap "
                               "and zookeeper.connect instead of link.members"});
    return;
  }
  const auto admission = ports_.executors.Admit(message.record, ports_.clock.Steady());
  if (admission == ExecutorTable::Admission::kWait) return;
  if (admission == ExecutorTable::Admission::kFull) {
    ports_.metrics.counter("carillon_rejected_messages_total", "executors_full").Add();
    log::Error("liveness",
               "executor refused: this member has reached its limit of executors executor_id={}",
               from.executor.value());
    Send(from, Registered{.accepted = false,
                          .refusal = "this scheduler has reached its limit of executors; remove "
                                     "some or add schedulers"});
    return;
  }
  if (admission == ExecutorTable::Admission::kRefuse) {
    log::Error("liveness",
               "executor refused: another process with this id is running executor_id={}",
               from.executor.value());
    Send(from, Registered{.accepted = false,
                          .refusal = "another executor with the id " + from.executor.value() +
                                     " is running; give each its own executor_id"});
    return;
  }
  // A known executor is accepted without waiting for the store. So while the store is unavailable,
  // its leases are renewed, and the runs of a restarted executor survive.
  if (const auto known = ports_.executors.AcceptKnown(message.record, ports_.clock.Steady())) {
    SendStanding(*known);
  }
  if (!ports_.registers.Push({from, std::move(message.record)}).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.registers.name()).Add();
  }
}

void LinkService::Handle(const LeaseHolder& from, Heartbeat& message) {
  // The clock is read again, because earlier messages of the batch may have taken a while.
  const SteadyTime now = ports_.clock.Steady();
  const std::optional<WallTime> cluster_now = ports_.cluster.Now();
  const WallTime wall = cluster_now.value_or(WallTime{});
  HeartbeatReply reply{.sent_us = message.sent_us, .lease = options_.lease, .renewed = {}};
  reply.cluster_time = cluster_now;
  reply.registered =
      ports_.executors.HeartbeatFrom(from.executor, from.incarnation, message, wall, now);
  // A process that is not accepted has to register before its leases are renewed.
  if (reply.registered) {
    reply.renewed = ports_.leases.Renew(from, message.running, now);
    std::vector<HeldAttempt> reporting = ports_.leases.Renew(from, message.reporting, now);
    reply.renewed.insert(reply.renewed.end(), reporting.begin(), reporting.end());
  }
  const bool reply_registered = reply.registered;
  Send(from, std::move(reply));
  // An executor with older settings has missed a message, so it is sent the current settings.
  // An executor that reports no slots is too old to know live settings. It would be sent them
  // with every heartbeat.
  if (reply_registered && message.slots > 0 && message.config_version < ports_.settings.version()) {
    if (const auto record = ports_.executors.Find(from.executor)) SendStanding(*record);
  }
  std::vector<HeldAttempt> applied = ports_.applied.Among(message.reporting);
  if (!applied.empty()) Send(from, ResultsApplied{std::move(applied)});
}

void LinkService::Handle(const LeaseHolder& from, ClaimBatch& message) {
  const SteadyTime now = ports_.clock.Steady();
  if (!ports_.executors.MessageFrom(from.executor, from.incarnation, now)) {
    ports_.metrics.counter("carillon_rejected_messages_total", "unregistered").Add();
    return;
  }
  if (!ports_.claims.Push({from, now, std::move(message)}).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", ports_.claims.name()).Add();
  }
}

// Unexpected: link_bus::CarryingHub takes records out where the link carries them.
void LinkService::Handle(const LeaseHolder& from, CarriedRecord&) {
  ports_.metrics.counter("carillon_rejected_messages_total", "other_bus").Add();
  log::Debug("liveness", "a record on the link of a cluster with Kafka executor_id={}",
             from.executor.value());
}

void LinkService::Handle(const LeaseHolder& from, AttemptSave& message) {
  if (!ports_.executors.MessageFrom(from.executor, from.incarnation, ports_.clock.Steady())) {
    ports_.metrics.counter("carillon_rejected_messages_total", "unregistered").Add();
    return;
  }
  SaveQueue& queue = message.save.checkpoint ? ports_.checkpoints : ports_.progress;
  if (!queue.Push({from, std::move(message.save)}).ok()) {
    ports_.metrics.counter("carillon_queue_rejections_total", queue.name()).Add();
  }
}

void LinkService::Send(const LeaseHolder& to, ToExecutor message) {
  const Status sent = ports_.hub.Send(to.executor, to.incarnation, std::move(message));
  // If the stream broke, the executor repeats its request over the next stream.
  if (!sent.ok()) log::Debug("liveness", "send: {}", sent.error().message);
}

void LinkService::PushChanges() {
  const int64_t version = ports_.settings.version();
  const bool all = version != pushed_version_;
  pushed_version_ = version;
  const std::vector<ExecutorRecord> switched = ports_.executors.TakeSwitched();
  for (const ExecutorRecord& record : all ? ports_.executors.Records() : switched) {
    SendStanding(record);
  }
}

void LinkService::TellPace(SteadyTime now) {
  if (telling_.Begins(ports_.executors.quiet_heartbeat(), now)) {
    to_tell_.clear();
    told_ = 0;
    for (const ExecutorRecord& record : ports_.executors.Records()) to_tell_.push_back(record.id);
  }
  for (const size_t due = telling_.Due(to_tell_.size(), now); told_ < due; ++told_) {
    if (const auto record = ports_.executors.Find(to_tell_[told_])) SendStanding(*record);
  }
}

void LinkService::SendStanding(const ExecutorRecord& record) {
  Send({record.id, record.incarnation},
       StandingOf(record, ports_.settings, ports_.cluster,
                  {.usual = options_.heartbeat, .quiet = ports_.executors.quiet_heartbeat()}));
}

void LinkService::JudgeHealth(SteadyTime now) {
  next_health_ = now + kHealthEvery;
  catches_up_ = false;
  if (!ports_.executors.JudgeHealth(now)) return;
  for (const ExecutorRecord& record : ports_.executors.TakeFallen()) {
    if (record.state == ExecutorState::kOnline) continue;  // it is back
    log::Warn("liveness", "executor state={} executor_id={}{}{}", Name(record.state),
              record.id.value(), record.trouble.empty() ? "" : ": ", record.trouble);
    // Nothing else would notice that nobody is at the other end any more.
    if (record.state == ExecutorState::kLost) ports_.hub.Close({record.id, record.incarnation});
  }
  for (const auto& [state, count] : ports_.executors.Counts()) {
    ports_.metrics.gauge("carillon_executors", Name(state)).Set(count);
  }
  if (ports_.state_changed) ports_.state_changed();
}

}  // namespace carillon::scheduler
