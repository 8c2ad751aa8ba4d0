#include "executor/agent/attempt_runner.h"

#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/domain/job/job_types.h"
#include "common/domain/trace.h"
#include "executor/leases/lease_watch.h"
#include "executor/tasks/task_kinds.h"

namespace carillon::executor {

void AttemptRunner::Begin(RunEntry& entry, SteadyTime now) {
  if (entry.lane == Lane::kProcess) {
    entry.asked = SteadyTime{};
    rooms_.saver.Watch(entry.held, entry.member, entry.checkpoint);
    entry.checkpoint.reset();
    starting_.push_back(entry.id);
    StartDue(now);
    return;
  }
  if (RunnerOf(entry.task.type) == Runner::kHttp) return StartRequest(entry);
  if (entry.lane == Lane::kHandler) return StartFunction(entry);
  AttemptResult result = KindOf(entry.task.type).run(entry.task, ports_.clock.Wall());
  End(entry, {entry.held, std::move(result), entry.task.job_id}, ResultHome::kMemory);
}

// Passes each start to the warden again until it is confirmed, because a start may be lost with a
// warden or may not be sent. The repetition is safe: the warden ignores a second start
// of an attempt.
void AttemptRunner::StartDue(SteadyTime now) {
  const size_t count = starting_.size();
  for (size_t i = 0; i < count; ++i) {
    const AttemptId id = starting_.front();
    starting_.pop_front();
    RunEntry* entry = rooms_.runs.Find(id);
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
bool AttemptRunner::StartOne(RunEntry& entry, SteadyTime now) {
  const bool asked_before = entry.asked != SteadyTime{};
  const auto in_place = asked_before ? Result<bool>(true) : rooms_.saver.InPlace(entry.held);
  if (!in_place.ok()) {
    FailUnstarted(entry, reason::kSpawn,
                  "its checkpoint could not be put into place: " + in_place.error().message);
    return false;
  }
  if (!*in_place) {
    const bool late = now >= entry.lease_end - kLeaseMargin;
    if (late) EndUnstarted(entry);
    return !late;
  }
  const auto secrets = FillSecretsOf(entry.task, entry.secrets);
  if (!secrets.ok()) {
    FailSecrets(entry, secrets.error());
    return false;
  }
  // No other user and no container can enter the directory of the files.
  const bool has_files = entry.task.run_as.empty() && !entry.task.container;
  StartAttempt start = StartOf(entry.task, entry.held, entry.lease_end,
                               {.env = options_.base_env,
                                .output_bytes_max = output_bytes_max_.load(),
                                .interpreters = options_.interpreters,
                                .container_engine = options_.container_engine,
                                .files = has_files ? rooms_.saver.Variables(entry.held)
                                                   : std::map<std::string, std::string>()},
                               *secrets);
  Status asked;
  if (!entry.task.run_as.empty()) {
    auto user = ports_.users.Find(entry.task.run_as);
    if (user.ok()) {
      SetUser(*std::move(user), start);
    } else if (user.code() == ErrorCode::kUnavailable) {
      asked = user.error();
    } else if (asked_before) {
      return true;
    } else {
      FailUnstarted(entry, reason::kSpawn, user.error().message);
      return false;
    }
  }
  if (asked.ok()) asked = ports_.warden.Start(start);
  if (asked.ok()) {
    if (!asked_before) LogTrace(entry, "starts");
    entry.asked = now;
  } else if (!asked_before && asked.code() == ErrorCode::kInvalid) {
    const bool isolated = start.limits || start.user || start.container;
    FailUnstarted(entry, start.script || isolated ? reason::kSpawn : reason::kSecretUnsupported,
                  asked.error().message);
    return false;
  } else if (!asked_before && now >= entry.lease_end - kLeaseMargin) {
    EndUnstarted(entry);  // the warden never received it
    return false;
  }
  return true;
}

void AttemptRunner::StartRequest(RunEntry& entry) {
  auto start =
      HttpOf(entry.task, entry.held, entry.lease_end, output_bytes_max_.load(), entry.secrets);
  if (!start.ok()) return FailSecrets(entry, start.error());
  LogTrace(entry, "starts");
  rooms_.runs.Move(entry, Next(entry.stage, RunEvent::kStarted).stage);
  ports_.http.Start(*std::move(start));
  entry.task.http.reset();  // the runner has it now, with its secrets
  entry.secrets = {};
}

void AttemptRunner::StartFunction(RunEntry& entry) {
  const auto secrets = FillSecretsOf(entry.task, entry.secrets);
  if (!secrets.ok()) return FailSecrets(entry, secrets.error());
  LogTrace(entry, "starts");
  rooms_.runs.Move(entry, Next(entry.stage, RunEvent::kStarted).stage);
  StartHandler start = HandlerOf(entry.task, entry.held, entry.lease_end, *secrets);
  if (entry.checkpoint) {
    rooms_.saver.Watch(entry.held, entry.member, entry.checkpoint);
    entry.saves = true;
    start.checkpoint = std::exchange(entry.checkpoint, std::nullopt);
  }
  ports_.handlers.Start(std::move(start));
  entry.task.handler.reset();  // the runner has it now, with its secrets
  entry.task.env = {};
  entry.secrets = {};
}

void AttemptRunner::Save(HandlerSave save) {
  RunEntry* entry = rooms_.runs.FindHeld(save.attempt);
  if (entry == nullptr || entry->stage != RunStage::kRunning) return;
  // Not from the start on, because most functions save nothing.
  if (!std::exchange(entry->saves, true)) rooms_.saver.Watch(entry->held, entry->member);
  if (save.progress) {
    rooms_.saver.Put(entry->held, RunFileKind::kProgress, *std::move(save.progress));
  }
  if (save.checkpoint) {
    rooms_.saver.Put(entry->held, RunFileKind::kCheckpoint, *std::move(save.checkpoint));
  }
}

void AttemptRunner::AdoptHandler(const HandlerAdopted& adopted) {
  if (rooms_.runs.Find(IdOf(adopted.attempt)) != nullptr) return;
  RunEntry found;
  found.id = IdOf(adopted.attempt);
  found.held = adopted.attempt;
  found.stage = RunStage::kRunning;
  found.lane = Lane::kHandler;
  found.handler = adopted.handler;
  found.saves = true;  // the earlier daemon knew
  rooms_.saver.Watch(found.held, found.member);
  rooms_.runs.Insert(std::move(found));
}

void AttemptRunner::SetSilent(const HandlerSilent& word) {
  RunEntry* entry = rooms_.runs.FindHeld(word.attempt);
  if (entry != nullptr) entry->silent = word.silent;
}

void AttemptRunner::FailSecrets(RunEntry& entry, const Error& error) {
  const bool missing = error.code == ErrorCode::kNotFound;
  FailUnstarted(entry, missing ? reason::kSecretMissing : reason::kSpawn, error.message);
}

// Lets a user find a run by its trace id; costs nothing at other log levels. An attempt found at
// the warden after a restart has no task, so the default trace id of its run is logged.
void AttemptRunner::LogTrace(const RunEntry& entry, std::string_view what) const {
  if (!log::Enabled(log::Level::kDebug)) return;
  log::Debug("executor", "run {} attempt {} {} (trace {})", EncodeRunId(entry.id.key),
             entry.id.attempt, what, TraceIdOf(entry.id.key, entry.task.trace_id));
}

void AttemptRunner::EndUnstarted(RunEntry& entry) {
  const AttemptResult result{.state = RunState::kLost,
                             .reason = std::string(reason::kNotStarted),
                             .error = "its lease expired before it could start",
                             .ended = ports_.clock.Wall()};
  End(entry, {entry.held, result, entry.task.job_id}, ResultHome::kMemory);
}

void AttemptRunner::FailUnstarted(RunEntry& entry, std::string_view reason, std::string error) {
  const AttemptResult result{.state = RunState::kFailed,
                             .reason = std::string(reason),
                             .error = std::move(error),
                             .ended = ports_.clock.Wall()};
  End(entry, {entry.held, result, entry.task.job_id}, ResultHome::kMemory);
}

void AttemptRunner::Renew(const MemberId& member, const HeartbeatReply& reply, SteadyTime now) {
  const SteadyTime lease_end = GrantedEnd(reply.sent_us, reply.lease, now);
  std::vector<HeldAttempt> processes;
  std::vector<HeldAttempt> requests;
  std::vector<HeldAttempt> functions;
  std::vector<HeldAttempt> owned;
  for (const HeldAttempt& held : reply.renewed) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    entry->member = member;
    entry->renewed = now;
    entry->lease_end = RenewedEnd(entry->lease_end, lease_end);
    if (entry->lane == Lane::kProcess || entry->saves) owned.push_back(entry->held);
    if (entry->stage == RunStage::kReporting) continue;
    switch (entry->lane) {
      case Lane::kProcess: processes.push_back(entry->held); break;
      case Lane::kLight: requests.push_back(entry->held); break;
      case Lane::kHandler: functions.push_back(entry->held); break;
    }
  }
  rooms_.saver.Own(member, owned);
  if (!requests.empty()) ports_.http.RenewLeases(requests, lease_end);
  if (!functions.empty()) ports_.handlers.RenewLeases(functions, lease_end);
  if (processes.empty()) return;
  const Status renewed = ports_.warden.RenewLeases(processes, lease_end);
  // The next heartbeat renews again, well before the lease ends.
  if (!renewed.ok()) log::Debug("executor", "renew: {}", renewed.error().message);
}

void AttemptRunner::Cancel(const CancelAttempts& message) {
  for (const HeldAttempt& held : message.attempts) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    if (Next(entry->stage, RunEvent::kCancelAsked).action != RunAction::kCancel) continue;
    if (entry->lane == Lane::kLight) {
      ports_.http.Cancel(entry->held);
      continue;
    }
    if (entry->lane == Lane::kHandler) {
      ports_.handlers.Cancel(entry->held);
      continue;
    }
    const Status cancelled = ports_.warden.Cancel(entry->held, message.mode);
    // The owner repeats the request until the run is over.
    if (!cancelled.ok()) log::Debug("executor", "cancel: {}", cancelled.error().message);
  }
}

void AttemptRunner::Applied(const ResultsApplied& message) {
  std::vector<HeldAttempt> applied;
  for (const HeldAttempt& held : message.applied) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    const RunStep step = Next(entry->stage, RunEvent::kApplied);
    if (step.action != RunAction::kForget) continue;
    applied.push_back(entry->held);
  }
  // Results that do not fit into the sender's queue are not changed: the owner repeats the message.
  std::vector<HeldAttempt> refused = applied;
  rooms_.sender.Applied(refused);
  applied.resize(applied.size() - refused.size());
  std::vector<HeldAttempt> functions;
  for (const HeldAttempt& held : applied) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    if (entry->lane == Lane::kHandler) functions.push_back(held);
    rooms_.runs.Move(*entry, Next(entry->stage, RunEvent::kApplied).stage);
  }
  if (!functions.empty()) ports_.handlers.Forget(functions);
  rooms_.saver.Forget(applied);
}

void AttemptRunner::Started(const AttemptStarted& started) {
  RunEntry* entry = rooms_.runs.Find(IdOf(started.attempt));
  if (entry != nullptr) {
    const RunStep step = Next(entry->stage, RunEvent::kStarted);
    if (step.stage != entry->stage) {
      rooms_.runs.Move(*entry, step.stage);
      entry->task.command = {};  // the warden has the command now, which may hold secrets
      entry->task.args = {};
      entry->task.container.reset();
      entry->task.env = {};
      entry->secrets = {};
    }
    return;
  }
  RunEntry found;  // started by an earlier daemon on this host
  found.id = IdOf(started.attempt);
  found.held = started.attempt;
  found.stage = RunStage::kRunning;
  rooms_.saver.Watch(found.held, found.member);
  rooms_.runs.Insert(std::move(found));
}

void AttemptRunner::EndedHandler(AttemptEnded ended) {
  RunEntry* entry = rooms_.runs.FindHeld(ended.attempt);
  if (entry == nullptr) {
    AdoptHandler({.attempt = ended.attempt, .handler = {}});
    entry = rooms_.runs.FindHeld(ended.attempt);
  }
  // Without an entry the host has moved on to another claim of this attempt, so that this end is
  // no news.
  if (entry != nullptr) End(*entry, std::move(ended), ResultHome::kMemory);
}

void AttemptRunner::Ended(AttemptEnded ended, ResultHome home) {
  RunEntry* entry = rooms_.runs.Find(IdOf(ended.attempt));
  if (entry == nullptr) {
    RunEntry found;
    found.id = IdOf(ended.attempt);
    found.held = ended.attempt;
    found.stage = RunStage::kRunning;
    found.lane = home == ResultHome::kWarden ? Lane::kProcess : Lane::kLight;
    // Before RunSaver::Recovered, after which files of unknown attempts are removed.
    if (home == ResultHome::kWarden) rooms_.saver.Watch(found.held, found.member);
    entry = &rooms_.runs.Insert(std::move(found));
  }
  End(*entry, std::move(ended), home);
}

void AttemptRunner::End(RunEntry& entry, AttemptEnded ended, ResultHome home) {
  const RunStep step = Next(entry.stage, RunEvent::kEnded);
  if (step.action != RunAction::kReport) return;  // reported before
  LogTrace(entry, Name(ended.result.state));
  if (ended.job_id.empty()) ended.job_id = entry.task.job_id;
  entry.task = TaskMessage{};
  entry.secrets = {};
  rooms_.runs.Move(entry, step.stage);
  rooms_.runs.AddOutput(entry, ended.result.output.size() + BytesOf(ended.result.outputs));
  to_sender_.push_back({std::move(ended), home, home == ResultHome::kWarden || entry.saves});
}

void AttemptRunner::CheckLeases(SteadyTime now) {
  if (!failpoint::Broken("lease.daemon_checks")) return;
  rooms_.runs.ForEach([&](const RunEntry& entry) {
    const bool runs = entry.stage == RunStage::kStarting || entry.stage == RunStage::kRunning;
    if (!runs || !entry.kill_at_lease_end || entry.lease_end == SteadyTime{}) return;
    if (now < entry.lease_end - kLeaseMargin) return;
    static_cast<void>(ports_.warden.Cancel(entry.held, CancelMode::kGraceful).ok());
  });
}

}  // namespace carillon::executor
