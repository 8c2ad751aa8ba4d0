#include "executor/worker/worker_book.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"
#include "executor/journal/attempt_codec.h"
#include "executor/warden/lease_watch.h"

namespace carillon::executor {
namespace {

std::string Masked(const std::shared_ptr<const SecretPatterns>& patterns, const std::string& text) {
  if (!patterns) return text;
  SecretMasker masker(patterns);
  std::string masked = masker.Feed(text);
  return masked + masker.End();
}

AttemptResult ResultOf(WorkerDone done, bool lease_over,
                       const std::shared_ptr<const SecretPatterns>& patterns) {
  AttemptResult result{.state = done.state, .error = Masked(patterns, done.error)};
  switch (done.state) {
    case RunState::kCompleted: {
      for (auto& [name, value] : done.outputs) value = Masked(patterns, value);
      const Status outputs = CheckOutputs(done.outputs);
      if (outputs.ok()) {
        result.outputs = std::move(done.outputs);
        return result;
      }
      result.state = RunState::kFailed;
      result.reason = reason::kBadOutputs;
      result.error = outputs.error().message;
      return result;
    }
    case RunState::kCancelled: result.reason = reason::kCancelRequested; return result;
    case RunState::kTimedOut: result.reason = reason::kTimeout; return result;
    case RunState::kLost:
      result.reason = lease_over ? reason::kLeaseEnded : reason::kWorkerStopped;
      return result;
    default: result.reason = reason::kHandlerError; return result;
  }
}

}  // namespace

WorkerTicket WorkerBook::TicketOf(const HeldAttempt& held) {
  ByteWriter out;
  PutHeld(out, held);
  return out.Take();
}

std::optional<HeldAttempt> WorkerBook::AttemptOf(const WorkerTicket& ticket) {
  ByteReader in(ticket);
  HeldAttempt held = GetHeld(in);
  if (!in.Finished() || held.attempt < 1 || held.token == ClaimToken{}) return std::nullopt;
  return held;
}

WorkerBook::Attempt* WorkerBook::Find(const HeldAttempt& held) {
  const auto found = attempts_.find(IdOf(held));
  const bool same = found != attempts_.end() && found->second.start.attempt.token == held.token;
  return same ? &found->second : nullptr;
}

WorkerBook::Attempt* WorkerBook::FindOf(const WorkerProcess& process, const WorkerTicket& ticket) {
  const std::optional<HeldAttempt> held = AttemptOf(ticket);
  Attempt* attempt = held ? Find(*held) : nullptr;
  const bool given = attempt != nullptr && attempt->stage != Stage::kWaiting &&
                     attempt->process == process;
  return given ? attempt : nullptr;
}

WorkerBook::Outgoing* WorkerBook::To(const WorkerProcess& process) {
  const auto worker = workers_.find(process);
  if (worker == workers_.end() || worker->second.session == 0) return nullptr;
  return &outgoing_[worker->second.session];
}

std::set<WorkerProcess> WorkerBook::Processes() const {
  std::set<WorkerProcess> processes;
  for (const auto& [process, worker] : workers_) processes.insert(process);
  return processes;
}

std::optional<WorkerBook::Session> WorkerBook::SessionOf(const WorkerProcess& process) const {
  const auto worker = workers_.find(process);
  if (worker == workers_.end() || worker->second.session == 0) return std::nullopt;
  return worker->second.session;
}

void WorkerBook::Adopt(const StartRecord& record) {
  const AttemptId id = IdOf(record.attempt);
  if (attempts_.contains(id)) return;
  Attempt& attempt = attempts_[id];
  attempt.start.attempt = record.attempt;
  attempt.start.job_id = record.job_id;
  attempt.start.handler = record.handler;
  attempt.stage = Stage::kSent;  // or never sent: the worker's Hello tells
  attempt.process = record.process;
  attempt.started = record.started;
  attempt.deadline = record.deadline;
  deadlines_.insert({attempt.deadline, id});
  attempt.adopted = true;
  ++workers_[record.process].busy[record.handler];
  events_.push_back(HandlerAdopted{.attempt = record.attempt, .handler = record.handler});
}

void WorkerBook::Attach(Session session, const WorkerProcess& process, WorkerHello hello, Now now) {
  Worker& worker = workers_[process];
  if (worker.session != 0) {
    replaced_.push_back(worker.session);
    Detach(worker.session);
  }
  worker.session = session;
  worker.app = hello.app;
  worker.draining = false;
  worker.offers.clear();
  for (const auto& [name, concurrency] : hello.handlers) {
    worker.offers[hello.app + "/" + name] = concurrency;
  }
  sessions_[session] = process;
  outgoing_[session].welcome = session;
  for (const auto& [ticket, values] : hello.masked) {
    Attempt* attempt = FindOf(process, ticket);
    if (attempt != nullptr && !attempt->patterns && !values.empty()) {
      attempt->patterns = std::make_shared<SecretPatterns>(values);
    }
  }
  std::set<const Attempt*> named;
  for (const WorkerTicket& ticket : hello.held) {
    Attempt* attempt = FindOf(process, ticket);
    if (attempt == nullptr) continue;
    named.insert(attempt);
    Outgoing& out = outgoing_[session];
    if (attempt->start.lease_end != SteadyTime{}) {
      out.leases[attempt->start.lease_end].push_back(ticket);
    }
    if (attempt->cancel_asked) out.asks.push_back({ticket, WorkerAsk::Why::kCancel});
    if (attempt->timeout_asked) out.asks.push_back({ticket, WorkerAsk::Why::kTimeout});
  }
  for (WorkerDone& done : hello.done) TakeDone(process, std::move(done), now);
  for (auto& [id, attempt] : attempts_) {
    if (attempt.process != process || named.contains(&attempt)) continue;
    // What an earlier session was sent and this process does not know, it will never begin: it obeys only Runs of its
    // current session.
    if (attempt.stage == Stage::kSent) {
      Lose(attempt, reason::kNotStarted, "its worker never got it", now);
    } else if (attempt.stage == Stage::kRecorded) {
      SendRun(attempt);
    }
  }
  RebuildOffers();
  Tick(now);
}

void WorkerBook::Take(Session session, FromWorkerMessage message, Now now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;  // replaced
  const WorkerProcess process = found->second;
  TakeLogs(process, std::move(message.logs), now);
  TakeSaves(process, std::move(message.saves));
  for (WorkerDone& done : message.done) TakeDone(process, std::move(done), now);
  Worker& worker = workers_[process];
  if (message.draining && !std::exchange(worker.draining, true)) RebuildOffers();
  Tick(now);
}

void WorkerBook::Detach(Session session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  Worker& worker = workers_[found->second];
  worker.session = 0;
  sessions_.erase(found);
  outgoing_.erase(session);
  RebuildOffers();
}

void WorkerBook::Died(const WorkerProcess& process, Now now) {
  const auto worker = workers_.find(process);
  if (worker == workers_.end()) return;
  for (auto& [id, attempt] : attempts_) {
    if (attempt.stage == Stage::kWaiting || attempt.process != process) continue;
    if (attempt.stage != Stage::kDone) {
      Lose(attempt, reason::kWorkerDied, "the process of its worker ended", now);
    }
  }
  if (worker->second.session != 0) {
    replaced_.push_back(worker->second.session);
    Detach(worker->second.session);
  }
  workers_.erase(process);
  RebuildOffers();
}

void WorkerBook::Start(StartHandler start, Now now) {
  const AttemptId id = IdOf(start.attempt);
  if (attempts_.contains(id)) return;  // asked twice
  Attempt& attempt = attempts_[id];
  attempt.start = std::move(start);
  attempt.give_up = now.steady + kPlaceWait;
  if (!attempt.start.masked.empty()) {
    attempt.patterns = std::make_shared<SecretPatterns>(attempt.start.masked);
  }
  if (!Place(attempt, now)) waiting_.push_back(id);
}

// The least busy worker with a free slot.
bool WorkerBook::Place(Attempt& attempt, Now now) {
  const std::string& handler = attempt.start.handler;
  std::pair<const WorkerProcess, Worker>* choice = nullptr;
  double least = 1;
  for (auto& entry : workers_) {
    Worker& worker = entry.second;
    const auto offer = worker.offers.find(handler);
    if (worker.session == 0 || worker.draining || offer == worker.offers.end()) continue;
    const double busy = static_cast<double>(worker.busy[handler]) / offer->second;
    if (busy >= least) continue;
    choice = &entry;
    least = busy;
  }
  if (choice == nullptr) return false;
  ++choice->second.busy[handler];
  attempt.stage = Stage::kRecording;
  attempt.process = choice->first;
  attempt.started = now.wall;
  attempt.deadline = now.steady + attempt.start.timeout;
  deadlines_.insert({attempt.deadline, IdOf(attempt.start.attempt)});
  records_.push_back({.attempt = attempt.start.attempt,
                      .job_id = attempt.start.job_id,
                      .handler = handler,
                      .process = attempt.process,
                      .started = attempt.started,
                      .deadline = attempt.deadline});
  if (failpoint::Broken("worker.record")) {
    attempt.stage = Stage::kRecorded;
    SendRun(attempt);
  }
  return true;
}

void WorkerBook::Recorded(const std::vector<AttemptId>& ids) {
  for (const AttemptId& id : ids) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.stage != Stage::kRecording) continue;
    found->second.stage = Stage::kRecorded;
    SendRun(found->second);
  }
}

void WorkerBook::NotRecorded(const std::vector<AttemptId>& ids, const std::string& why, Now now) {
  for (const AttemptId& id : ids) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.stage != Stage::kRecording) continue;
    Lose(found->second, reason::kNotStarted, why, now);
  }
}

void WorkerBook::SendRun(Attempt& attempt) {
  Outgoing* out = To(attempt.process);
  if (out == nullptr) return;
  attempt.stage = Stage::kSent;
  out->runs.push_back(attempt.start);
  out->deadlines.push_back(attempt.deadline);
  if (attempt.cancel_asked) {
    out->asks.push_back({TicketOf(attempt.start.attempt), WorkerAsk::Why::kCancel});
  }
  if (attempt.timeout_asked) {
    out->asks.push_back({TicketOf(attempt.start.attempt), WorkerAsk::Why::kTimeout});
  }
  // The worker has them now, with the secrets.
  attempt.start.parameters_json = {};
  attempt.start.env = {};
  attempt.start.masked = {};
  attempt.start.checkpoint = {};
}

void WorkerBook::RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  for (const HeldAttempt& held : attempts) {
    Attempt* attempt = Find(held);
    if (attempt == nullptr || attempt->stage == Stage::kDone) continue;
    attempt->start.lease_end = RenewedEnd(attempt->start.lease_end, lease_end);
    if (attempt->stage != Stage::kSent) continue;
    if (Outgoing* out = To(attempt->process)) {
      out->leases[attempt->start.lease_end].push_back(TicketOf(held));
    }
  }
}

void WorkerBook::Cancel(const HeldAttempt& held, Now now) {
  Attempt* attempt = Find(held);
  if (attempt == nullptr || attempt->stage == Stage::kDone || attempt->cancel_asked) return;
  attempt->cancel_asked = true;
  if (attempt->stage == Stage::kWaiting) {
    return End(*attempt,
               {.state = RunState::kCancelled,
                .reason = std::string(reason::kCancelRequested),
                .error = "it was cancelled before a worker had a slot for it"},
               now);
  }
  if (attempt->stage != Stage::kSent) return;
  Note(*attempt, "a cancel was asked for; the function goes on until it checks for that", now);
  if (Outgoing* out = To(attempt->process)) {
    out->asks.push_back({TicketOf(held), WorkerAsk::Why::kCancel});
  }
}

void WorkerBook::Forget(const std::vector<HeldAttempt>& attempts) {
  for (const HeldAttempt& held : attempts) {
    Attempt* attempt = Find(held);
    if (attempt == nullptr || attempt->stage != Stage::kDone) continue;
    if (Outgoing* out = To(attempt->process)) out->done_stored.push_back(TicketOf(held));
    removals_.push_back(IdOf(held));
    attempts_.erase(IdOf(held));
  }
}

void WorkerBook::TakeDone(const WorkerProcess& process, WorkerDone done, Now now) {
  const std::optional<HeldAttempt> held = AttemptOf(done.ticket);
  if (!held) return;
  const auto known = attempts_.find(IdOf(*held));
  if (known == attempts_.end()) {
    // Its record was removed when the database had its result, and only the confirmation was lost. To report it again
    // is harmless, and brings the confirmation.
    Attempt& attempt = attempts_[IdOf(*held)];
    attempt.start.attempt = *held;
    attempt.stage = Stage::kSent;
    attempt.process = process;
    attempt.started = now.wall;
    attempt.adopted = true;
    ++workers_[process].busy[attempt.start.handler];
    return End(attempt, ResultOf(std::move(done), false, nullptr), now);
  }
  Attempt* attempt = FindOf(process, done.ticket);
  if (attempt == nullptr || attempt->stage == Stage::kDone) return;
  const bool lease_over = attempt->start.lease_end != SteadyTime{} &&
                          now.steady >= attempt->start.lease_end - kLeaseMargin;
  End(*attempt, ResultOf(std::move(done), lease_over, attempt->patterns), now);
}

void WorkerBook::TakeLogs(const WorkerProcess& process, std::vector<WorkerLogLine> lines, Now) {
  std::map<Attempt*, std::vector<LogEntry>> entries;
  for (WorkerLogLine& line : lines) {
    Attempt* attempt = FindOf(process, line.ticket);
    if (attempt == nullptr || attempt->stage == Stage::kDone) continue;
    std::string text = Masked(attempt->patterns, line.text).substr(0, kLogEntryBytesMax - 1);
    entries[attempt].push_back({.time = line.time,
                                .stream = line.error ? LogStream::kStderr : LogStream::kStdout,
                                .text = text + "\n"});
  }
  for (auto& [attempt, of_one] : entries) Emit(*attempt, std::move(of_one), false);
}

void WorkerBook::TakeSaves(const WorkerProcess& process, std::vector<WorkerSave> saves) {
  for (WorkerSave& save : saves) {
    Attempt* attempt = FindOf(process, save.ticket);
    if (attempt == nullptr || attempt->stage == Stage::kDone) continue;
    if (save.progress) save.progress = Masked(attempt->patterns, *save.progress);
    events_.push_back(HandlerSave{.attempt = attempt->start.attempt,
                                  .progress = std::move(save.progress),
                                  .checkpoint = std::move(save.checkpoint)});
  }
}

void WorkerBook::Note(Attempt& attempt, std::string text, Now now) {
  Emit(attempt, {{.time = now.wall, .stream = LogStream::kCarillon, .text = text + "\n"}}, false);
}

// The entries of a chunk are at most kLogChunkBytesMax bytes.
void WorkerBook::Emit(Attempt& attempt, std::vector<LogEntry> entries, bool last) {
  if (std::exchange(attempt.adopted, false)) {
    // The entries that the earlier daemon sent are fewer than these microseconds.
    const WallTime now = entries.empty() ? attempt.started : entries.front().time;
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - attempt.started);
    attempt.next_seq = static_cast<uint64_t>(std::max<int64_t>(passed.count(), 1)) + 1;
  }
  AttemptOutput output{attempt.start.attempt, attempt.start.job_id, {.first_seq = attempt.next_seq}};
  const auto flush = [&](bool is_last) {
    output.chunk.last = is_last;
    attempt.next_seq += output.chunk.count;
    events_.push_back(std::exchange(
        output, AttemptOutput{attempt.start.attempt, attempt.start.job_id, {}}));
    output.chunk.first_seq = attempt.next_seq;
  };
  for (const LogEntry& entry : entries) {
    if (output.chunk.entries.size() > kLogChunkBytesMax - 2 * kLogEntryBytesMax) flush(false);
    AppendEntry(output.chunk.entries, entry);
    ++output.chunk.count;
  }
  if (last || output.chunk.count > 0) flush(last);
}

void WorkerBook::Lose(Attempt& attempt, std::string_view why, std::string error, Now now) {
  End(attempt,
      {.state = RunState::kLost, .reason = std::string(why), .error = std::move(error)}, now);
}

void WorkerBook::End(Attempt& attempt, AttemptResult result, Now now) {
  if (attempt.stage == Stage::kDone) return;
  if (attempt.stage != Stage::kWaiting) {
    const auto worker = workers_.find(attempt.process);
    if (worker != workers_.end()) --worker->second.busy[attempt.start.handler];
    result.started = attempt.started;
  }
  if (attempt.next_seq > 1 || attempt.adopted) Emit(attempt, {}, true);
  deadlines_.erase({attempt.deadline, IdOf(attempt.start.attempt)});
  attempt.stage = Stage::kDone;
  result.ended = std::max(now.wall, attempt.started);
  events_.push_back(AttemptEnded{attempt.start.attempt, std::move(result), attempt.start.job_id});
}

void WorkerBook::Tick(Now now) {
  std::erase_if(waiting_, [&](const AttemptId& id) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.stage != Stage::kWaiting) return true;
    Attempt& attempt = found->second;
    if (Place(attempt, now)) return true;
    if (now.steady < attempt.give_up) return false;
    Lose(attempt, reason::kNotStarted, "no worker had a free slot for it any more", now);
    return true;
  });
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.steady) {
    Attempt& attempt = attempts_.at(deadlines_.begin()->second);
    deadlines_.erase(deadlines_.begin());
    attempt.timeout_asked = true;
    Note(attempt, "its timeout has ended; the function goes on until it checks for that", now);
    if (attempt.stage != Stage::kSent) continue;  // asked when it is sent
    if (Outgoing* out = To(attempt.process)) {
      out->asks.push_back({TicketOf(attempt.start.attempt), WorkerAsk::Why::kTimeout});
    }
  }
}

SteadyTime WorkerBook::NextTick() const {
  SteadyTime next = deadlines_.empty() ? SteadyTime::max() : deadlines_.begin()->first;
  for (const AttemptId& id : waiting_) {
    const auto found = attempts_.find(id);
    if (found != attempts_.end()) next = std::min(next, found->second.give_up);
  }
  return next;
}

void WorkerBook::RebuildOffers() {
  HandlerOffers offers;
  for (const auto& [process, worker] : workers_) {
    if (worker.session == 0 || worker.draining) continue;
    for (const auto& [name, concurrency] : worker.offers) offers[name] += concurrency;
  }
  if (offers != *offers_) offers_ = std::make_shared<HandlerOffers>(std::move(offers));
}

}  // namespace carillon::executor
