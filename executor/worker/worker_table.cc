#include "executor/worker/worker_table.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"
#include "executor/leases/lease_watch.h"
#include "executor/worker/worker_result.h"
#include "executor/worker/worker_ticket.h"

namespace carillon::executor {

WorkerTable::Attempt* WorkerTable::Find(const HeldAttempt& held) {
  const auto found = attempts_.find(IdOf(held));
  const bool same = found != attempts_.end() && found->second.start.attempt.token == held.token;
  return same ? &found->second : nullptr;
}

WorkerTable::Attempt* WorkerTable::FindOf(const WorkerId& worker, const WorkerTicket& ticket) {
  const std::optional<HeldAttempt> held = AttemptOf(ticket);
  Attempt* attempt = held ? Find(*held) : nullptr;
  const bool given = attempt != nullptr && attempt->stage != Stage::kWaiting &&
                     (attempt->worker == worker || failpoint::Broken("worker.instance"));
  return given ? attempt : nullptr;
}

WorkerTable::Outgoing* WorkerTable::To(const WorkerId& id) {
  const auto worker = workers_.find(id);
  const bool here = worker != workers_.end() && worker->second.session != 0;
  return here ? &outgoing_[worker->second.session] : nullptr;
}

// The worker, which has no session since then. Each of its adopted records says so anew.
WorkerTable::Worker& WorkerTable::Away(const WorkerId& id, SteadyTime since) {
  Worker& worker = workers_[id];
  away_.erase({std::exchange(worker.away_since, since), id});
  worker.session = 0;
  away_.insert({since, id});
  return worker;
}

// A worker that has no session and no attempts need not be known, even if its process lives on.
void WorkerTable::DropIfOver(const WorkerId& id) {
  const auto worker = workers_.find(id);
  if (worker == workers_.end() || worker->second.session != 0 || worker->second.open > 0) return;
  away_.erase({worker->second.away_since, id});
  workers_.erase(worker);
}

void WorkerTable::Adopt(const StartRecord& record, Now now) {
  const AttemptId id = IdOf(record.attempt);
  if (attempts_.contains(id)) return;
  Attempt& attempt = attempts_[id];
  attempt.start.attempt = record.attempt;
  attempt.start.job_id = record.job_id;
  attempt.start.handler = record.handler;
  attempt.stage = Stage::kSent;  // or never sent: the worker's Hello tells
  attempt.worker = record.worker;
  attempt.started = record.started;
  attempt.deadline = record.deadline;
  deadlines_.insert({attempt.deadline, id});
  attempt.log.Continue(record.begun);
  Worker& worker = Away(record.worker, now.steady);
  worker.image = record.image;
  ++worker.busy[record.handler];
  ++worker.open;
  events_.push_back(AttemptStarted{.attempt = record.attempt, .handler = record.handler});
}

void WorkerTable::Attach(Session session, const WorkerId& id, uint64_t image, WorkerHello hello,
                         Now now) {
  Worker& worker = workers_[id];
  if (worker.session != 0) {
    replaced_.push_back(worker.session);
    sessions_.erase(worker.session);
    outgoing_.erase(worker.session);
  }
  away_.erase({worker.away_since, id});
  worker.session = session;
  worker.image = image;
  worker.app = hello.app;
  worker.draining = false;
  worker.offers.clear();
  for (const auto& [name, concurrency] : hello.handlers) {
    worker.offers[hello.app + "/" + name] = concurrency;
  }
  sessions_[session] = id;
  outgoing_[session].welcome = session;
  for (const auto& [ticket, values] : hello.masked) {
    Attempt* attempt = FindOf(id, ticket);
    if (attempt != nullptr && !attempt->patterns) attempt->patterns = PatternsOf(values);
  }
  worker.unknown = {};
  for (const WorkerDone& done : hello.done) {
    if (IsUnknown(done.ticket)) worker.unknown.Add(done.ticket, hello);
  }
  std::set<const Attempt*> named;
  for (const WorkerTicket& ticket : hello.held) {
    if (IsUnknown(ticket)) worker.unknown.Add(ticket, hello);
    Attempt* attempt = FindOf(id, ticket);
    if (attempt == nullptr || attempt->stage != Stage::kSent) continue;
    named.insert(attempt);
    SetSilent(*attempt, false, now);
    Outgoing& out = outgoing_[session];
    if (attempt->start.lease_end != SteadyTime{}) {
      out.leases[attempt->start.lease_end].push_back(ticket);
    }
    if (attempt->cancel_asked) out.asks.push_back({ticket, WorkerAsk::Why::kCancel});
    if (attempt->timeout_asked) out.asks.push_back({ticket, WorkerAsk::Why::kTimeout});
  }
  if (hello.draining) Drain(id, now);
  for (WorkerDone& done : hello.done) TakeDone(id, std::move(done), now);
  TakeUnnamed(id, named, now);
  RebuildOffers();
  Tick(now);
}

// The instance will never begin an attempt that an earlier session was sent and that it does not
// name: it obeys only Runs of its current session, and nobody else can speak for it.
void WorkerTable::TakeUnnamed(const WorkerId& id, const std::set<const Attempt*>& named, Now now) {
  for (auto& [key, attempt] : attempts_) {
    if (attempt.stage == Stage::kWaiting || named.contains(&attempt)) continue;
    if (attempt.worker != id) {
      const bool same = attempt.worker.process == id.process && attempt.stage == Stage::kSent;
      if (!same || !failpoint::Broken("worker.instance")) continue;
    }
    if (attempt.stage == Stage::kRecorded) {
      SendRun(attempt);
    } else if (attempt.stage == Stage::kSent) {
      Lose(attempt, reason::kNotStarted, "the attempt never reached its worker", now);
    }
  }
}

// Reports that an attempt has lost contact with its worker, whose process lives, or that the worker
// is back.
void WorkerTable::SetSilent(Attempt& attempt, bool silent, Now now) {
  if (attempt.silent == silent) return;
  attempt.silent = silent;
  Note(attempt,
       silent ? "the worker does not reconnect, though its process lives; the run is held when its "
                "lease ends"
              : "the worker has reconnected",
       now);
  events_.push_back(AttemptSilent{.attempt = attempt.start.attempt, .silent = silent});
}

void WorkerTable::Take(Session session, FromWorkerMessage message, Now now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;  // replaced
  const WorkerId id = found->second;
  TakeLogs(id, std::move(message.logs), now);
  TakeSaves(id, std::move(message.saves));
  TakeDropped(id, message.dropped, now);
  for (WorkerDone& done : message.done) TakeDone(id, std::move(done), now);
  if (message.draining) Drain(id, now);
  Tick(now);
}

// Gives back what the worker was not sent yet, and tells it that nothing is on its way any more.
void WorkerTable::Drain(const WorkerId& id, Now now) {
  if (std::exchange(workers_[id].draining, true)) return;
  for (auto& [key, attempt] : attempts_) {
    const bool unsent = attempt.stage == Stage::kRecording || attempt.stage == Stage::kRecorded;
    if (attempt.worker == id && unsent) {
      Lose(attempt, reason::kNotStarted, "its worker stopped before the attempt reached it", now);
    }
  }
  if (Outgoing* out = To(id)) out->drained = true;
  RebuildOffers();
}

void WorkerTable::Detach(Session session, Now now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const WorkerId id = found->second;
  Away(id, now.steady);
  sessions_.erase(found);
  outgoing_.erase(session);
  DropIfOver(id);
  RebuildOffers();
}

void WorkerTable::Died(const WorkerId& id, Now now) {
  const auto worker = workers_.find(id);
  if (worker == workers_.end()) return;
  if (const Session session = worker->second.session; session != 0) {
    replaced_.push_back(session);
    Away(id, now.steady);
    sessions_.erase(session);
    outgoing_.erase(session);
  }
  DropIfOver(id);
  for (auto& [key, attempt] : attempts_) {
    if (attempt.stage == Stage::kWaiting || attempt.stage == Stage::kDone || attempt.worker != id)
      continue;
    if (attempt.stage == Stage::kSent) {
      Lose(attempt, reason::kWorkerDied, "the process of its worker ended", now);
    } else {
      Lose(attempt, reason::kNotStarted, "its worker ended before the attempt reached it", now);
    }
  }
  RebuildOffers();
}

// Gives up what a worker that stays away was not sent, and lets nobody speak for the rest.
void WorkerTable::TakeAbsences(Now now) {
  while (!away_.empty() && away_.begin()->first + kAwayMax <= now.steady) {
    const WorkerId id = away_.begin()->second;
    away_.erase(away_.begin());
    for (auto& [key, attempt] : attempts_) {
      if (attempt.stage == Stage::kWaiting || attempt.stage == Stage::kDone || attempt.worker != id)
        continue;
      if (attempt.stage == Stage::kSent && failpoint::Broken("worker.away")) {
        Lose(attempt, reason::kWorkerDied, "its worker went away", now);
      } else if (attempt.stage == Stage::kSent) {
        SetSilent(attempt, true, now);
      } else {
        Lose(attempt, reason::kNotStarted, "its worker disconnected before the attempt reached it",
             now);
      }
    }
    DropIfOver(id);
  }
}

void WorkerTable::Start(StartHandler start, Now now) {
  const AttemptId id = IdOf(start.attempt);
  if (attempts_.contains(id)) return;  // asked twice
  Attempt& attempt = attempts_[id];
  attempt.start = std::move(start);
  attempt.give_up = now.steady + kPlaceWait;
  attempt.patterns = PatternsOf(attempt.start.masked);
  if (!Place(attempt, now)) waiting_.push_back(id);
}

// The least busy worker with a free slot.
bool WorkerTable::Place(Attempt& attempt, Now now) {
  const std::string& handler = attempt.start.handler;
  std::pair<const WorkerId, Worker>* choice = nullptr;
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
  ++choice->second.open;
  attempt.stage = Stage::kRecording;
  attempt.worker = choice->first;
  attempt.started = now.wall;
  attempt.deadline = now.steady + attempt.start.timeout;
  deadlines_.insert({attempt.deadline, IdOf(attempt.start.attempt)});
  records_.push_back({.attempt = attempt.start.attempt,
                      .job_id = attempt.start.job_id,
                      .handler = handler,
                      .worker = attempt.worker,
                      .image = choice->second.image,
                      .started = attempt.started,
                      .begun = now.steady,
                      .deadline = attempt.deadline});
  if (failpoint::Broken("worker.record")) {
    attempt.stage = Stage::kRecorded;
    SendRun(attempt);
  }
  return true;
}

void WorkerTable::Recorded(const std::vector<AttemptId>& ids) {
  for (const AttemptId& id : ids) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.stage != Stage::kRecording) continue;
    found->second.stage = Stage::kRecorded;
    SendRun(found->second);
  }
}

void WorkerTable::NotRecorded(const std::vector<AttemptId>& ids, const std::string& why, Now now) {
  for (const AttemptId& id : ids) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.stage != Stage::kRecording) continue;
    Lose(found->second, reason::kNotStarted, why, now);
  }
}

void WorkerTable::SendRun(Attempt& attempt) {
  Outgoing* out = To(attempt.worker);
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

void WorkerTable::RenewLeases(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  for (const HeldAttempt& held : attempts) {
    Attempt* attempt = Find(held);
    if (attempt == nullptr || attempt->stage == Stage::kDone) continue;
    attempt->start.lease_end = RenewedEnd(attempt->start.lease_end, lease_end);
    if (attempt->stage != Stage::kSent) continue;
    if (Outgoing* out = To(attempt->worker)) {
      out->leases[attempt->start.lease_end].push_back(TicketOf(held));
    }
  }
}

void WorkerTable::Cancel(const HeldAttempt& held, Now now) {
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
  Note(*attempt, "Cancel requested. The function continues until it calls check().", now);
  if (Outgoing* out = To(attempt->worker)) {
    out->asks.push_back({TicketOf(held), WorkerAsk::Why::kCancel});
  }
}

void WorkerTable::Forget(const std::vector<HeldAttempt>& attempts) {
  for (const HeldAttempt& held : attempts) {
    Attempt* attempt = Find(held);
    if (attempt == nullptr) continue;
    // One that is not over has an end that an earlier daemon knew.
    if (attempt->stage != Stage::kDone) Release(*attempt);
    if (Outgoing* out = To(attempt->worker)) out->done_stored.push_back(TicketOf(held));
    removals_.push_back(IdOf(held));
    attempts_.erase(IdOf(held));
    forgotten_.Add(TicketOf(held));
  }
}

// The attempt has no slot and no timeout any more.
void WorkerTable::Release(Attempt& attempt) {
  deadlines_.erase({attempt.deadline, IdOf(attempt.start.attempt)});
  if (attempt.stage == Stage::kWaiting) return;
  const auto worker = workers_.find(attempt.worker);
  if (worker == workers_.end()) return;
  --worker->second.busy[attempt.start.handler];
  --worker->second.open;
  DropIfOver(attempt.worker);
}

void WorkerTable::TakeDone(const WorkerId& id, WorkerDone done, Now now) {
  const std::optional<HeldAttempt> held = AttemptOf(done.ticket);
  if (!held) return;
  if (!attempts_.contains(IdOf(*held))) return TakeUnknownDone(id, *held, std::move(done), now);
  Attempt* attempt = FindOf(id, done.ticket);
  if (attempt == nullptr || attempt->stage == Stage::kDone) return;
  const SteadyTime end =
      attempt->start.lease_end;  // zero: adopted and not renewed yet, so only its worker knows
  const bool lease_over =
      end == SteadyTime{} ? !workers_[id].draining : now.steady >= end - kLeaseMargin;
  WorkerEnd ended = ResultOf(std::move(done), lease_over, attempt->patterns);
  if (!ended.note.empty()) Note(*attempt, std::move(ended.note), now);
  End(*attempt, std::move(ended.result), now);
}

// The record of the attempt was removed when the database had its result, and only the confirmation
// was lost. If an earlier daemon removed it, to report it again is harmless, and brings the
// confirmation.
void WorkerTable::TakeUnknownDone(const WorkerId& id, const HeldAttempt& held, WorkerDone done,
                                  Now now) {
  if (forgotten_.contains(done.ticket)) {
    if (Outgoing* out = To(id)) out->done_stored.push_back(done.ticket);
    return;
  }
  Worker& worker = workers_[id];
  const auto patterns = worker.unknown.Take(done.ticket);
  if (!patterns) return;
  Attempt& attempt = attempts_[IdOf(held)];
  attempt.start.attempt = held;
  attempt.stage = Stage::kSent;
  attempt.worker = id;
  attempt.started = now.wall;
  ++worker.busy[attempt.start.handler];
  ++worker.open;
  // The earlier daemon has numbered the lines of its log, so no note can be added.
  End(attempt, ResultOf(std::move(done), false, *patterns).result, now);
}

void WorkerTable::TakeLogs(const WorkerId& id, std::vector<WorkerLogLine> lines, Now now) {
  std::map<Attempt*, std::vector<LogEntry>> entries;
  for (WorkerLogLine& line : lines) {
    Attempt* attempt = FindOf(id, line.ticket);
    if (attempt == nullptr || attempt->stage == Stage::kDone || attempt->log.full()) continue;
    AddLine(line, attempt->patterns, entries[attempt]);
  }
  for (auto& [attempt, of_one] : entries) Emit(*attempt, of_one, false, now);
}

void WorkerTable::TakeSaves(const WorkerId& id, std::vector<WorkerSave> saves) {
  for (WorkerSave& save : saves) {
    Attempt* attempt = FindOf(id, save.ticket);
    if (attempt == nullptr || attempt->stage == Stage::kDone) continue;
    if (save.progress) save.progress = Masked(attempt->patterns, *save.progress);
    events_.push_back(AttemptContent{.attempt = attempt->start.attempt,
                                     .progress = std::move(save.progress),
                                     .checkpoint = std::move(save.checkpoint)});
  }
}

// Notes them in the logs of their attempts, once for each kind, of which there are few.
void WorkerTable::TakeDropped(const WorkerId& id, const std::vector<WorkerDropped>& dropped,
                              Now now) {
  for (const WorkerDropped& item : dropped) {
    Attempt* attempt = FindOf(id, item.ticket);
    if (attempt == nullptr || attempt->stage == Stage::kDone) continue;
    if (attempt->dropped.insert(item.what).second)
      Note(*attempt, "dropped " + item.what + " from the worker", now);
  }
}

void WorkerTable::Note(Attempt& attempt, std::string text, Now now) {
  Emit(attempt, {{.time = now.wall, .stream = LogStream::kCarillon, .text = text + "\n"}}, false,
       now);
}

void WorkerTable::Emit(Attempt& attempt, const std::vector<LogEntry>& entries, bool last, Now now) {
  for (LogChunk& chunk : attempt.log.Add(entries, last, now.steady, log_bytes_max_)) {
    events_.push_back(AttemptOutput{attempt.start.attempt, attempt.start.job_id, std::move(chunk)});
  }
}

void WorkerTable::End(Attempt& attempt, AttemptResult result, Now now) {
  if (attempt.stage == Stage::kDone) return;
  if (attempt.stage != Stage::kWaiting) result.started = attempt.started;
  if (!attempt.log.empty()) Emit(attempt, {}, true, now);
  Release(attempt);
  attempt.stage = Stage::kDone;
  result.ended = std::max(now.wall, attempt.started);
  events_.push_back(AttemptEnded{attempt.start.attempt, std::move(result), attempt.start.job_id});
}

void WorkerTable::Tick(Now now) {
  TakeAbsences(now);
  std::erase_if(waiting_, [&](const AttemptId& id) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.stage != Stage::kWaiting) return true;
    Attempt& attempt = found->second;
    if (Place(attempt, now)) return true;
    if (now.steady < attempt.give_up) return false;
    Lose(attempt, reason::kNotStarted, "no worker had a free slot any more", now);
    return true;
  });
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.steady) {
    Attempt& attempt = attempts_.at(deadlines_.begin()->second);
    deadlines_.erase(deadlines_.begin());
    attempt.timeout_asked = true;
    Note(attempt, "Timeout reached. The function continues until it calls check().", now);
    if (attempt.stage != Stage::kSent) continue;  // asked when it is sent
    if (Outgoing* out = To(attempt.worker)) {
      out->asks.push_back({TicketOf(attempt.start.attempt), WorkerAsk::Why::kTimeout});
    }
  }
}

SteadyTime WorkerTable::NextTick() const {
  SteadyTime next = deadlines_.empty() ? SteadyTime::max() : deadlines_.begin()->first;
  if (!away_.empty()) next = std::min(next, away_.begin()->first + kAwayMax);
  for (const AttemptId& id : waiting_) {
    const auto found = attempts_.find(id);
    if (found != attempts_.end()) next = std::min(next, found->second.give_up);
  }
  return next;
}

void WorkerTable::RebuildOffers() {
  HandlerOffers offers;
  for (const auto& [process, worker] : workers_) {
    if (worker.session == 0 || worker.draining) continue;
    for (const auto& [name, concurrency] : worker.offers) offers[name] += concurrency;
  }
  if (offers != *offers_) offers_ = std::make_shared<HandlerOffers>(std::move(offers));
}

}  // namespace carillon::executor
