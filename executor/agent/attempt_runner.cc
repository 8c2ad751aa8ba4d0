#include "executor/agent/attempt_runner.h"

#include <map>
#include <utility>

#include "common/base/failpoint.h"
#include "common/base/log.h"
#include "common/domain/job/job_types.h"
#include "common/domain/trace.h"
#include "executor/leases/lease_watch.h"

namespace carillon::executor {
namespace {

// The longest wait of an attempt for the user database of the host. Then its run is given back, so
// that it may start on another host, and says why.
constexpr Duration kUserPatience = 10s;

// Its host has the order now, which may hold secrets.
void DropOrder(RunEntry& entry) {
  entry.task.command = {};
  entry.task.args = {};
  entry.task.env = {};
  entry.task.container.reset();
  entry.task.http.reset();
  entry.task.handler.reset();
  entry.secrets = {};
}

}  // namespace

void AttemptRunner::Begin(RunEntry& entry, SteadyTime now) {
  if (!entry.task.unreadable.empty()) return RefuseUnreadable(entry);
  switch (entry.runner) {
    case Runner::kWarden:
      entry.asked = SteadyTime{};
      entry.since = now;
      rooms_.saver.Watch(entry.held, entry.member, entry.checkpoint);
      entry.checkpoint.reset();
      starting_.push_back(entry.id);
      return StartDue(now);
    case Runner::kHttp: return StartRequest(entry);
    case Runner::kWorker: return StartFunction(entry);
    case Runner::kNoop: break;
    case Runner::kScheduler: CARILLON_CHECK(false, "no executor runs workflows");
  }
  const WallTime wall = ports_.clock.Wall();
  EndHere(entry, {.state = RunState::kCompleted, .exit_code = 0, .started = wall, .ended = wall});
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

// kUnavailable: the user database did not answer yet. Other errors: the attempt cannot be started.
Result<StartAttempt> AttemptRunner::OrderOf(const RunEntry& entry,
                                            const FilledSecrets& secrets) const {
  const bool as_own = entry.task.run_as.empty();
  const auto found = ports_.programs == nullptr ? nullptr : ports_.programs->Current();
  ProcessDefaults defaults{
      .env = options_.base_env,
      .output_bytes_max = output_bytes_max_.load(),
      .interpreters = found ? found->interpreters : options_.interpreters,
      .container_engine = found ? found->container_engine : options_.container_engine};
  // No other user and no container can enter the directory of the files.
  if (as_own && !entry.task.container) defaults.files = rooms_.saver.Variables(entry.held);
  if (entry.task.container) {
    return StartOf(entry.task, entry.held, entry.lease_end, defaults, secrets);
  }
  const auto user = as_own ? ports_.users.Own() : ports_.users.Find(entry.task.run_as);
  // A process may run as a user whom the host does not list, and then has no HOME.
  const bool unlisted = as_own && !user.ok() && user.code() == ErrorCode::kNotFound;
  if (!user.ok() && !unlisted) return user.error();
  if (user.ok()) defaults.env.merge(VariablesOf(*user));
  StartAttempt start = StartOf(entry.task, entry.held, entry.lease_end, defaults, secrets);
  if (!as_own) start.user = *user;
  CARILLON_TRY(SetWorkingDirectory(entry.task, start));
  return start;
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
  const Result<StartAttempt> start = OrderOf(entry, *secrets);
  if (!start.ok() && start.code() != ErrorCode::kUnavailable) {
    if (asked_before) return true;
    FailUnstarted(entry, reason::kSpawn, start.error().message);
    return false;
  }
  const bool nobody = !start.ok() && now >= entry.since + kUserPatience;
  if (nobody && !asked_before) {
    FailUnstarted(entry, reason::kHost,
                  "the user database of its host does not answer: " + start.error().message);
    return false;
  }
  const Status asked = start.ok() ? ports_.warden.Start(*start) : Status(start.error());
  if (asked.ok()) {
    if (!asked_before) LogTrace(entry, "starts");
    entry.asked = now;
  } else if (!asked_before && asked.code() == ErrorCode::kInvalid) {
    const bool isolated = start->limits || start->user || start->container;
    FailUnstarted(entry, start->script || isolated ? reason::kSpawn : reason::kSecretUnsupported,
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
  SetRunning(entry);
  ports_.http.Start(*std::move(start));
}

void AttemptRunner::StartFunction(RunEntry& entry) {
  const auto secrets = FillSecretsOf(entry.task, entry.secrets);
  if (!secrets.ok()) return FailSecrets(entry, secrets.error());
  StartHandler start = HandlerOf(entry.task, entry.held, entry.lease_end, *secrets);
  SetRunning(entry);
  if (entry.checkpoint) {
    rooms_.saver.Watch(entry.held, entry.member, entry.checkpoint);
    entry.saves = true;
    start.checkpoint = std::exchange(entry.checkpoint, std::nullopt);
  }
  ports_.handlers.Start(std::move(start));
}

void AttemptRunner::SetRunning(RunEntry& entry) {
  LogTrace(entry, "starts");
  rooms_.runs.Move(entry, Next(entry.stage, RunEvent::kStarted).stage);
  DropOrder(entry);
}

void AttemptRunner::Save(AttemptContent save) {
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

// An attempt that an earlier daemon on this host started.
RunEntry& AttemptRunner::Adopt(const HeldAttempt& held, Runner runner, const std::string& handler) {
  RunEntry found;
  found.id = IdOf(held);
  found.held = held;
  found.stage = RunStage::kRunning;
  found.runner = runner;
  found.handler = handler;
  found.saves = runner == Runner::kWorker;  // the earlier daemon knew
  // Before CheckpointSender::Recovered, after which files of unknown attempts are removed.
  if (runner == Runner::kWarden || found.saves) rooms_.saver.Watch(found.held, found.member);
  return rooms_.runs.Insert(std::move(found));
}

void AttemptRunner::SetSilent(const AttemptSilent& event) {
  RunEntry* entry = rooms_.runs.FindHeld(event.attempt);
  if (entry != nullptr) entry->silent = event.silent;
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
  EndHere(entry, {.state = RunState::kLost,
                  .reason = std::string(reason::kNotStarted),
                  .error = "its lease expired before it could start",
                  .ended = ports_.clock.Wall()});
}

void AttemptRunner::FailUnstarted(RunEntry& entry, std::string_view reason, std::string error) {
  EndHere(entry, {.state = RunState::kFailed,
                  .reason = std::string(reason),
                  .error = std::move(error),
                  .ended = ports_.clock.Wall()});
}

// The task would be as unreadable in every further attempt.
void AttemptRunner::RefuseUnreadable(RunEntry& entry) {
  EndHere(entry, {.state = RunState::kFailed,
                  .reason = std::string(reason::kBadDefinition),
                  .error = "executor " + options_.executor_id.value() + " " + options_.version +
                           " cannot read the task: " + entry.task.unreadable,
                  .ended = ports_.clock.Wall(),
                  .no_retry = true});
}

void AttemptRunner::Renew(const MemberId& member, const HeartbeatReply& reply, SteadyTime now) {
  const SteadyTime lease_end = GrantedEnd(reply.sent_us, reply.lease, now);
  std::map<Runner, std::vector<HeldAttempt>> open;
  std::vector<HeldAttempt> owned;
  for (const HeldAttempt& held : reply.renewed) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    entry->member = member;
    entry->renewed = now;
    entry->lease_end = RenewedEnd(entry->lease_end, lease_end);
    if (entry->runner == Runner::kWarden || entry->saves) owned.push_back(entry->held);
    if (entry->stage != RunStage::kReporting) open[entry->runner].push_back(entry->held);
  }
  rooms_.saver.Own(member, owned);
  for (const auto& [runner, row] : rooms_.hosts) {
    if (open[runner].empty()) continue;
    const Status renewed = row.host.RenewLeases(open[runner], lease_end);
    // The next heartbeat renews again, well before the lease ends.
    if (!renewed.ok()) log::Debug("executor", "renew: {}", renewed.error().message);
  }
}

void AttemptRunner::Cancel(const CancelAttempts& message) {
  for (const HeldAttempt& held : message.attempts) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    if (Next(entry->stage, RunEvent::kCancelAsked).action != RunAction::kCancel) continue;
    const auto found = rooms_.hosts.find(entry->runner);
    if (found == rooms_.hosts.end()) continue;
    const Status cancelled = found->second.host.Cancel(entry->held, message.mode);
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
  std::map<Runner, std::vector<HeldAttempt>> over;
  for (const HeldAttempt& held : applied) {
    RunEntry* entry = rooms_.runs.FindHeld(held);
    if (entry == nullptr) continue;
    over[entry->runner].push_back(held);
    rooms_.runs.Move(*entry, Next(entry->stage, RunEvent::kApplied).stage);
  }
  for (const auto& [runner, row] : rooms_.hosts) {
    // The sender notifies the host that keeps the results itself.
    if (row.home != ResultHome::kMemory || over[runner].empty()) continue;
    const Status forgot = row.host.Forget(over[runner]);
    if (!forgot.ok()) log::Debug("executor", "forget: {}", forgot.error().message);
  }
  rooms_.saver.Forget(applied);
}

void AttemptRunner::Started(const AttemptStarted& started, Runner runner) {
  RunEntry* entry = rooms_.runs.Find(IdOf(started.attempt));
  if (entry == nullptr) {
    Adopt(started.attempt, runner, started.handler);
    return;
  }
  const RunStep step = Next(entry->stage, RunEvent::kStarted);
  if (step.stage == entry->stage) return;
  rooms_.runs.Move(*entry, step.stage);
  DropOrder(*entry);
}

void AttemptRunner::Ended(AttemptEnded ended, Runner runner, ResultHome home) {
  RunEntry* entry = rooms_.runs.Find(IdOf(ended.attempt));
  if (entry == nullptr) entry = &Adopt(ended.attempt, runner);
  // The end is no news if the host has moved on to another claim of this attempt.
  if (entry->held.token == ended.attempt.token) End(*entry, std::move(ended), home);
}

void AttemptRunner::EndHere(RunEntry& entry, AttemptResult result) {
  End(entry, {entry.held, std::move(result)}, ResultHome::kMemory);
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
