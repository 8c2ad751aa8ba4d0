#include "executor/agent/executor_core.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/log.h"

namespace carillon::executor {
namespace {

constexpr Duration kRecoverAgain = 100ms;

ExecutorRecord RecordOf(const ExecutorOptions& options, WallTime now) {
  ExecutorRecord record;
  record.id = options.executor_id;
  record.incarnation = options.incarnation;
  record.host = options.host;
  record.ops_port = options.ops_port;
  record.labels = options.labels;
  record.slots = options.tuning.slots;
  record.version = options.version;
  record.checks = options.checks;
  record.last_heartbeat = now;
  record.registered = now;
  return record;
}

}  // namespace

ExecutorCore::ExecutorCore(const ExecutorDaemon::Ports& ports, const ExecutorOptions& options,
                           ResultSender& sender, LogSender& logs, CheckpointSender& saver)
    : ports_(ports),
      hosts_(HostsOf(ports.warden, ports.http, ports.handlers)),
      logs_(logs),
      saver_(saver),
      sessions_(ports.link, RecordOf(options, ports.clock.Wall())),
      runner_(ports, options, {.hosts = hosts_, .runs = runs_, .sender = sender, .saver = saver}),
      gate_(options, {.runs = runs_,
                      .runner = runner_,
                      .sender = sender,
                      .saver = saver,
                      .warden = ports.warden}),
      claims_(ports.tokens, options,
              {.runs = runs_,
               .queues = queues_,
               .sessions = sessions_,
               .gate = gate_,
               .runner = runner_}),
      admission_(ports, options,
                 {.runs = runs_, .queues = queues_, .claims = claims_, .gate = gate_}),
      heartbeats_(ports, options,
                  {.runs = runs_,
                   .sessions = sessions_,
                   .claims = claims_,
                   .gate = gate_,
                   .warden = warden_}),
      board_(ports.metrics) {}

SteadyTime ExecutorCore::Step(SteadyTime now) {
  more_ = false;
  // Nothing is claimed until the attempts of an earlier daemon are known: they may occupy slots.
  const bool recovered = Recover();
  TakeMessages(now);
  for (const auto& [runner, row] : hosts_) {
    // An end that a worker repeats is no news once the spool of an earlier daemon is loaded.
    if (spool_loaded_ || runner != Runner::kWorker) TakeEvents(runner);
  }
  gate_.SetOffers(ports_.handlers.Offers());
  warden_.Observe(ports_.warden.CanStart(), now);
  // A warden that refuses this daemon may never be listed. Members hear of it, and the jobs that
  // need no process run.
  const bool ready = recovered || (spool_loaded_ && !warden_.trouble().empty());
  runner_.StartDue(now);
  runner_.CheckLeases(now);
  runner_.HandOver();
  if (ready) {
    more_ = admission_.TakeTasks(now) || more_;
    admission_.DropExpired(now);
    claims_.ClaimFree(now);
    claims_.AskAgain(now);
  }
  if (ports_.programs != nullptr) {
    const auto programs = ports_.programs->Current();
    if (std::exchange(programs_, programs) != programs) sessions_.SetChecks(programs->checks);
  }
  sessions_.Sync(now);
  sessions_.FlushClaims(now);
  if (ready) heartbeats_.Beat(now);
  PublishStatus();
  return recovered ? NextWake(now) : now + kRecoverAgain;
}

void ExecutorCore::OnReadable(const std::function<void()>& wake) {
  ports_.tasks.OnReadable(wake);
  ports_.link.OnReadable(wake);
  for (const auto& [runner, row] : hosts_) row.host.OnReadable(wake);
}

void ExecutorCore::Tune(const ExecutorTuning& tuning) {
  gate_.SetSlots(tuning.slots);
  gate_.rate().Set(tuning.starts_per_second);
  runner_.SetOutputMax(tuning.output_bytes_max);
}

void ExecutorCore::Leave(SteadyTime now) {
  gate_.Drain();
  heartbeats_.Leave(now);
}

bool ExecutorCore::Recover() {
  if (spool_loaded_ && warden_listed_) return true;
  if (!spool_loaded_) {
    Result<std::vector<AttemptEnded>> spooled = ports_.spool.Load();
    if (!spooled.ok()) {
      log::Error("executor", "spool: {}", spooled.error().message);
      return false;
    }
    for (AttemptEnded& ended : *spooled) {
      Adopt(std::move(ended), Runner::kNoop, ResultHome::kSpool);
    }
    spool_loaded_ = true;
  }
  Result<Warden::Inventory> inventory = ports_.warden.List();
  if (!inventory.ok()) return false;
  for (const AttemptStarted& started : inventory->running) Adopt(started, Runner::kWarden);
  for (AttemptEnded& ended : inventory->ended) {
    Adopt(std::move(ended), Runner::kWarden, ResultHome::kWarden);
  }
  warden_listed_ = true;
  gate_.OpenProcesses();
  // Among them are the attempts of an earlier daemon, whose files must stay.
  TakeEvents(Runner::kWorker);
  saver_.Recovered();
  if (runs_.size() > 0) {
    log::Info("executor", "found {} running and {} to report", runs_.count(RunStage::kRunning),
              runs_.count(RunStage::kReporting));
  }
  return true;
}

void ExecutorCore::TakeMessages(SteadyTime now) {
  std::vector<MemberMessage> messages = ports_.link.Receive(kMessagesPerStep);
  more_ = more_ || messages.size() == kMessagesPerStep;
  for (const MemberMessage& received : messages) {
    std::visit([&](const auto& message) { On(received.member, message, now); }, received.message);
  }
}

void ExecutorCore::On(const MemberId& member, const Registered& message, SteadyTime now) {
  admission_.LearnTime(message.cluster_time, now);
  sessions_.OnRegistered(member, message);
  saver_.Meet(member, message.takes_saves);
  ports_.settings.Adopt(message.settings);
}

void ExecutorCore::On(const MemberId& member, const HeartbeatReply& message, SteadyTime now) {
  admission_.LearnTime(message.cluster_time, now);
  sessions_.OnHeartbeatReply(member, message);
  runner_.Renew(member, message, now);
}

void ExecutorCore::On(const MemberId& member, const ClaimBatchReply& message, SteadyTime now) {
  sessions_.OnClaimsAnswered(member, message, now);
  claims_.OnAnswers(member, message, now);
}

void ExecutorCore::On(const MemberId&, const ResultsApplied& message, SteadyTime) {
  runner_.Applied(message);
}

void ExecutorCore::On(const MemberId&, const CancelAttempts& message, SteadyTime) {
  runner_.Cancel(message);
}

void ExecutorCore::On(const MemberId&, const LogsStored& message, SteadyTime) {
  logs_.Stored(message.stored);
}

// Unexpected: link_bus::CarryingLink takes records out where the link carries them.
void ExecutorCore::On(const MemberId& member, const CarriedRecord&, SteadyTime) {
  log::Debug("executor", "a record on the link of a cluster with Kafka member={}", member.value());
}

void ExecutorCore::On(const MemberId&, const SaveAnswer& message, SteadyTime) {
  saver_.Answered(message);
}

void ExecutorCore::TakeEvents(Runner runner) {
  const AttemptHostRow& from = hosts_.at(runner);
  std::vector<AttemptEvent> events = from.host.Receive(kMessagesPerStep);
  more_ = more_ || events.size() == kMessagesPerStep;
  const bool of_warden = from.home == ResultHome::kWarden;
  for (AttemptEvent& event : events) {
    if (auto* output = std::get_if<AttemptOutput>(&event)) {
      // The warden bounds its output, and repeats it until it is confirmed.
      of_warden ? logs_.Add(std::move(*output)) : logs_.AddIfRoom(std::move(*output));
    } else if (auto* ended = std::get_if<AttemptEnded>(&event)) {
      if (of_warden) DropOtherClaim(ended->attempt);
      runner_.Ended(std::move(*ended), runner, from.home);
    } else if (auto* save = std::get_if<AttemptContent>(&event)) {
      runner_.Save(std::move(*save));
    } else if (const auto* silent = std::get_if<AttemptSilent>(&event)) {
      runner_.SetSilent(*silent);
    } else {
      Adopt(std::get<AttemptStarted>(event), runner);
    }
  }
}

void ExecutorCore::Adopt(const AttemptStarted& started, Runner runner) {
  DropOtherClaim(started.attempt);
  runner_.Started(started, runner);
}

void ExecutorCore::Adopt(AttemptEnded ended, Runner runner, ResultHome home) {
  DropOtherClaim(ended.attempt);
  runner_.Ended(std::move(ended), runner, home);
}

// Drops the entry of an attempt that the warden holds under another token: an earlier daemon on
// this host already started the attempt that was to be claimed here.
void ExecutorCore::DropOtherClaim(const HeldAttempt& held) {
  RunEntry* entry = runs_.Find(IdOf(held));
  if (entry == nullptr || entry->held.token == held.token) return;
  queues_.Of(entry->lane()).Remove(entry->id);
  claims_.Drop(*entry);
  saver_.Forget({entry->held});
  runs_.Move(*entry, RunStage::kGone);
}

void ExecutorCore::PublishStatus() {
  const int running = runs_.count(RunStage::kStarting) + runs_.count(RunStage::kRunning);
  const int reporting = runs_.count(RunStage::kReporting);
  const bool idle = running + reporting + runs_.count(RunStage::kClaiming) == 0 && spool_loaded_ &&
                    warden_listed_;
  const Duration may_wait = idle ? sessions_.calm() : Duration{};
  if (may_wait != may_wait_) ports_.link.MayWait(may_wait_ = may_wait);
  board_.Publish({.status = {.running = running,
                             .queued = runs_.count(RunStage::kQueued),
                             .reporting = reporting,
                             .warden_ready = warden_listed_ && ports_.warden.CanStart().ok()},
                  .idle = idle,
                  .slots_used = runs_.used(Lane::kProcess),
                  .slots_free = gate_.FreeSlots(Lane::kProcess),
                  .config_version = ports_.settings.version(),
                  .refusal = sessions_.refusal()});
}

SteadyTime ExecutorCore::NextWake(SteadyTime now) const {
  if (more_) return now;
  SteadyTime next = std::min(sessions_.NextDue(), claims_.NextDue());
  if (runner_.waiting()) next = std::min(next, now + kRecoverAgain);
  // A full disk or an absent warden is checked again soon.
  if (!queues_.empty()) next = std::min({next, queues_.NextExpiry(), now + kRecoverAgain});
  return next;
}

}  // namespace carillon::executor
