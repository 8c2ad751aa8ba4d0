// What workers say about their attempts (WorkerTable).
#include <optional>
#include <utility>

#include "executor/leases/lease_watch.h"
#include "executor/worker/worker_result.h"
#include "executor/worker/worker_table.h"
#include "executor/worker/worker_ticket.h"

namespace carillon::executor {

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
    entries[attempt].push_back(EntryOf(line, attempt->patterns));
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

}  // namespace carillon::executor
