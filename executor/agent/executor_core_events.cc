// Handles the events that the core loop receives from members and from the warden.
#include <algorithm>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/domain/trace.h"
#include "executor/agent/executor_core.h"
#include "executor/tasks/task_kinds.h"
#include "executor/warden/lease_watch.h"

namespace carillon::executor {
namespace {

constexpr Duration kClockTolerance = 10s;

// A lease starts when its request was sent, by this host's clock: the member cannot have granted
// it earlier.
SteadyTime LeaseEnd(int64_t sent_us, Duration lease, SteadyTime now) {
  if (failpoint::Broken("lease.from_receipt")) return now + lease;
  return SteadyTime(Duration(sent_us)) + lease;
}

bool Accepted(ClaimVerdict verdict) {
  return verdict == ClaimVerdict::kAccepted || verdict == ClaimVerdict::kAcceptedAgain;
}

}  // namespace

void ExecutorCore::TakeMessages(SteadyTime now) {
  std::vector<MemberMessage> messages = ports_.link.Receive(kMessagesPerStep);
  more_ = more_ || messages.size() == kMessagesPerStep;
  for (const MemberMessage& received : messages) {
    std::visit([&](const auto& message) { On(received.member, message, now); }, received.message);
  }
}

void ExecutorCore::LearnTime(const std::optional<WallTime>& told, SteadyTime now) {
  if (!told) return;
  cluster_time_.Tell(*told, now);
  const Duration ahead = ports_.clock.Wall() - *told;
  const bool wrong = ahead > kClockTolerance || ahead < -kClockTolerance;
  if (wrong && !told_clock_) {
    log::Warn("executor", "this host's clock is {} s {} cluster time: times of runs are wrong",
              (ahead < Duration{} ? -ahead : ahead) / 1s,
              ahead < Duration{} ? "behind" : "ahead of");
  }
  told_clock_ = wrong;
}

void ExecutorCore::On(const MemberId& member, const Registered& message, SteadyTime now) {
  LearnTime(message.cluster_time, now);
  sessions_.OnRegistered(member, message);
  ports_.settings.Adopt(message.settings);
}

void ExecutorCore::On(const MemberId& member, const HeartbeatReply& message, SteadyTime now) {
  LearnTime(message.cluster_time, now);
  sessions_.OnHeartbeatReply(member, message);
  lease_ = message.lease;
  const SteadyTime lease_end = LeaseEnd(message.sent_us, message.lease, now);
  std::vector<HeldAttempt> processes;
  for (const HeldAttempt& held : message.renewed) {
    RunEntry* entry = runs_.FindHeld(held);
    if (entry == nullptr) continue;
    entry->member = member;
    entry->renewed = now;
    entry->lease_end = RenewedEnd(entry->lease_end, lease_end);
    if (entry->lane == Lane::kProcess && entry->stage != RunStage::kReporting) {
      processes.push_back(entry->held);
    }
  }
  if (processes.empty()) return;
  const Status renewed = ports_.warden.RenewLeases(processes, lease_end);
  // The next heartbeat renews again, well before the lease ends.
  if (!renewed.ok()) log::Debug("executor", "renew: {}", renewed.error().message);
}

void ExecutorCore::On(const MemberId& member, const ClaimBatchReply& message, SteadyTime now) {
  lease_ = message.lease;
  sessions_.OnClaimsAnswered(member, now - SteadyTime(Duration(message.sent_us)));
  for (const ClaimBatchReply::Item& item : message.items) {
    const auto claim = claims_.find(item.token);
    if (claim == claims_.end()) continue;  // already answered
    RunEntry& entry = *runs_.Find(claim->second);
    if (entry.id.key != item.key || entry.stage != RunStage::kClaiming) continue;
    if (Accepted(item.verdict)) {
      entry.member = member;
      Accept(entry, item, LeaseEnd(message.sent_us, message.lease, now), now);
    } else if (entry.member == member && item.reason == ClaimReason::kNotOwner) {
      // The segment moved, perhaps after this claim was committed; then its current owner answers
      // "accepted again". AskAgain gives up in time.
      entry.member = sessions_.After(member);
      entry.asked = SteadyTime{};
      next_ask_ = std::min(next_ask_, now + kAskOther);
    } else if (entry.member == member) {
      claims_.erase(claim);
      runs_.Move(entry, Next(entry.stage, RunEvent::kRefused).stage);
    }
  }
}

void ExecutorCore::Accept(RunEntry& entry, const ClaimBatchReply::Item& answer,
                          SteadyTime lease_end, SteadyTime now) {
  const bool late = now >= lease_end - kLeaseMargin;
  const RunStep step = Next(entry.stage, late ? RunEvent::kAcceptedLate : RunEvent::kAccepted);
  if (step.action == RunAction::kClaim) {
    // "Accepted again" carries a fresh lease; AskAgain gives up when that is never in time either.
    if (now < entry.since + lease_ - kLeaseMargin) {
      SendClaim(entry, now);
      return;
    }
    // The attempt is certainly ours and was never started: reporting that at once makes the
    // retry prompt.
    claims_.erase(entry.held.token);
    runs_.Move(entry, RunStage::kStarting);
    EndUnstarted(entry);
    return;
  }
  claims_.erase(entry.held.token);
  entry.lease_end = lease_end;
  entry.renewed = now;
  runs_.Move(entry, step.stage);
  if (!answer.secret_failure.empty()) {
    return FailUnstarted(entry, answer.secret_failure, answer.secret_error);
  }
  if (!entry.task.secret_env.empty() && answer.secrets.empty()) {
    return FailUnstarted(entry, reason::kSecretUnsupported,
                         "the member that accepted the claim runs a version without secrets");
  }
  entry.secrets = answer.secrets;
  Begin(entry, now);
}

void ExecutorCore::Begin(RunEntry& entry, SteadyTime now) {
  if (entry.lane == Lane::kProcess) {
    entry.asked = SteadyTime{};
    starting_.push_back(entry.id);
    StartDue(now);
    return;
  }
  AttemptResult result = KindOf(entry.task.type).run(entry.task, ports_.clock.Wall());
  Ended(entry, {entry.held, std::move(result), entry.task.job_id}, ResultHome::kMemory);
}

// Asking again heals a start that was lost with the warden or could not be sent, because the warden
// ignores a second start of an attempt.
void ExecutorCore::StartDue(SteadyTime now) {
  const size_t count = starting_.size();
  for (size_t i = 0; i < count; ++i) {
    const AttemptId id = starting_.front();
    starting_.pop_front();
    RunEntry* entry = runs_.Find(id);
    if (entry == nullptr || entry->stage != RunStage::kStarting) continue;
    const bool asked_before = entry->asked != SteadyTime{};
    if (asked_before && now < entry->asked + kStartAgain) {
      starting_.push_back(id);
      continue;
    }
    if (StartOne(*entry, now)) starting_.push_back(id);
  }
}

// Returns false if the attempt ended instead of starting. An attempt that was passed to the warden
// before may already be running, so only the warden may end it.
bool ExecutorCore::StartOne(RunEntry& entry, SteadyTime now) {
  const bool asked_before = entry.asked != SteadyTime{};
  const auto secrets = FillSecretsOf(entry.task, entry.secrets);
  if (!secrets.ok()) {
    const bool missing = secrets.code() == ErrorCode::kNotFound;
    FailUnstarted(entry, missing ? reason::kSecretMissing : reason::kSpawn,
                  secrets.error().message);
    return false;
  }
  const Status asked = ports_.warden.Start(
      StartOf(entry.task, entry.held, entry.lease_end,
              {.env = options_.base_env, .output_bytes_max = output_bytes_max_.load()}, *secrets));
  if (asked.ok()) {
    if (!asked_before) LogTrace(entry, "starts");
    entry.asked = now;
  } else if (!asked_before && asked.code() == ErrorCode::kInvalid) {
    FailUnstarted(entry, reason::kSecretUnsupported, asked.error().message);
    return false;
  } else if (!asked_before && now >= entry.lease_end - kLeaseMargin) {
    EndUnstarted(entry);  // the warden never received it
    return false;
  }
  return true;
}

// Lets a user find a run by its trace id; costs nothing at other log levels. An attempt found at
// the warden after a restart has no task, and so only the default trace id of its run.
void ExecutorCore::LogTrace(const RunEntry& entry, std::string_view what) const {
  if (!log::Enabled(log::Level::kDebug)) return;
  log::Debug("executor", "run {} attempt {} {} (trace {})", EncodeRunId(entry.id.key),
             entry.id.attempt, what, TraceIdOf(entry.id.key, entry.task.trace_id));
}

void ExecutorCore::EndUnstarted(RunEntry& entry) {
  const AttemptResult result{.state = RunState::kLost,
                             .reason = std::string(reason::kLeaseEnded),
                             .error = "its lease expired before it could start",
                             .ended = ports_.clock.Wall()};
  Ended(entry, {entry.held, result, entry.task.job_id}, ResultHome::kMemory);
}

void ExecutorCore::FailUnstarted(RunEntry& entry, std::string_view reason, std::string error) {
  const AttemptResult result{.state = RunState::kFailed,
                             .reason = std::string(reason),
                             .error = std::move(error),
                             .ended = ports_.clock.Wall()};
  Ended(entry, {entry.held, result, entry.task.job_id}, ResultHome::kMemory);
}

void ExecutorCore::On(const MemberId&, const ResultsApplied& message, SteadyTime) {
  std::vector<HeldAttempt> applied;
  for (const HeldAttempt& held : message.applied) {
    RunEntry* entry = runs_.FindHeld(held);
    if (entry == nullptr) continue;
    const RunStep step = Next(entry->stage, RunEvent::kApplied);
    if (step.action != RunAction::kForget) continue;
    applied.push_back(entry->held);
  }
  // The sender's queue is full only with thousands of entries; the owner repeats the message.
  std::vector<HeldAttempt> refused = applied;
  sender_.Applied(refused);
  applied.resize(applied.size() - refused.size());
  for (const HeldAttempt& held : applied) {
    RunEntry* entry = runs_.FindHeld(held);
    if (entry != nullptr) runs_.Move(*entry, Next(entry->stage, RunEvent::kApplied).stage);
  }
}

void ExecutorCore::On(const MemberId&, const CancelAttempts& message, SteadyTime) {
  for (const HeldAttempt& held : message.attempts) {
    RunEntry* entry = runs_.FindHeld(held);
    if (entry == nullptr || entry->lane == Lane::kLight) continue;
    if (Next(entry->stage, RunEvent::kCancelAsked).action != RunAction::kCancel) continue;
    const Status cancelled = ports_.warden.Cancel(entry->held, message.mode);
    // The owner repeats the request until the run is over.
    if (!cancelled.ok()) log::Debug("executor", "cancel: {}", cancelled.error().message);
  }
}

void ExecutorCore::On(const MemberId&, const LogsStored& message, SteadyTime) {
  logs_.Stored(message.stored);
}

void ExecutorCore::TakeWardenEvents() {
  std::vector<WardenEvent> events = ports_.warden.Receive(kMessagesPerStep);
  more_ = more_ || events.size() == kMessagesPerStep;
  for (WardenEvent& event : events) {
    if (const auto* started = std::get_if<AttemptStarted>(&event)) {
      AdoptRunning(*started);
    } else if (auto* output = std::get_if<AttemptOutput>(&event)) {
      logs_.Add(std::move(*output));
    } else {
      AdoptEnded(std::get<AttemptEnded>(std::move(event)), ResultHome::kWarden);
    }
  }
}

// The warden holds this attempt under another token, from an earlier daemon on this host. The
// attempt that was to be claimed here already runs, or ran.
void ExecutorCore::DropPretender(const HeldAttempt& held) {
  RunEntry* entry = runs_.Find(IdOf(held));
  if (entry == nullptr || entry->held.token == held.token) return;
  QueueOf(entry->lane).Remove(entry->id);
  claims_.erase(entry->held.token);
  runs_.Move(*entry, RunStage::kGone);
}

void ExecutorCore::AdoptRunning(const AttemptStarted& started) {
  DropPretender(started.attempt);
  RunEntry* entry = runs_.Find(IdOf(started.attempt));
  if (entry != nullptr) {
    const RunStep step = Next(entry->stage, RunEvent::kStarted);
    if (step.stage != entry->stage) {
      runs_.Move(*entry, step.stage);
      entry->task.command = {};  // the warden has it now; it may hold secrets
      entry->task.env = {};
      entry->secrets = {};
    }
    return;
  }
  RunEntry found;  // started by an earlier daemon on this host
  found.id = IdOf(started.attempt);
  found.held = started.attempt;
  found.stage = RunStage::kRunning;
  runs_.Insert(std::move(found));
}

void ExecutorCore::AdoptEnded(AttemptEnded ended, ResultHome home) {
  DropPretender(ended.attempt);
  RunEntry* entry = runs_.Find(IdOf(ended.attempt));
  if (entry == nullptr) {
    RunEntry found;
    found.id = IdOf(ended.attempt);
    found.held = ended.attempt;
    found.stage = RunStage::kRunning;
    found.lane = home == ResultHome::kWarden ? Lane::kProcess : Lane::kLight;
    entry = &runs_.Insert(std::move(found));
  }
  Ended(*entry, std::move(ended), home);
}

void ExecutorCore::Ended(RunEntry& entry, AttemptEnded ended, ResultHome home) {
  const RunStep step = Next(entry.stage, RunEvent::kEnded);
  if (step.action != RunAction::kReport) return;  // reported before
  LogTrace(entry, Name(ended.result.state));
  if (ended.job_id.empty()) ended.job_id = entry.task.job_id;
  entry.task = TaskMessage{};
  entry.secrets = {};
  runs_.Move(entry, step.stage);
  runs_.AddOutput(entry, ended.result.output.size());
  to_sender_.push_back({std::move(ended), home});
}

// Passes everything that ended in this Step at once, so that the sender is woken once. What its
// queue has no room for stays here, and nothing is claimed meanwhile.
void ExecutorCore::HandOver() { sender_.Report(to_sender_); }

// Runs only with the failpoint that shows why the warden must enforce leases: a stopped daemon
// checks nothing.
void ExecutorCore::CheckLeases(SteadyTime now) {
  if (!failpoint::Broken("lease.daemon_checks")) return;
  runs_.ForEach([&](const RunEntry& entry) {
    const bool runs = entry.stage == RunStage::kStarting || entry.stage == RunStage::kRunning;
    if (!runs || !entry.kill_at_lease_end || entry.lease_end == SteadyTime{}) return;
    if (now < entry.lease_end - kLeaseMargin) return;
    static_cast<void>(ports_.warden.Cancel(entry.held, CancelMode::kGraceful).ok());
  });
}

}  // namespace carillon::executor
