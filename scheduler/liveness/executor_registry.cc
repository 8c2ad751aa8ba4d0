#include "scheduler/liveness/executor_registry.h"

#include <algorithm>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kRegistersPerStep = 64;
constexpr Duration kRegisterAgain = 500ms;
constexpr size_t kHealthRowsPerWrite = 1000;

// True if the error concerns the store as a whole; other errors concern one registration.
bool SpeaksOfStore(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kBrokenStore;
}

}  // namespace

ExecutorRegistry::ExecutorRegistry(const Ports& ports, Options options)
    : ports_(ports), options_(std::move(options)) {}

SteadyTime ExecutorRegistry::Step(SteadyTime now) {
  RegisterWaiting(now);
  if (nudged_.exchange(false) || now >= next_refresh_) Refresh(now);
  // State changes are written at once. Heartbeats and load are written only every `write_every`.
  WriteStates();
  if (now >= next_write_) WriteHealth(now);
  if (!waiting_.empty()) return std::min(now + kRegisterAgain, next_write_);
  if (ports_.registers.size() > 0) return now;  // nothing wakes the loop for items left in it
  return std::min(next_refresh_, next_write_);
}

void ExecutorRegistry::RegisterWaiting(SteadyTime now) {
  for (RegisterArrival& arrival : ports_.registers.PopUpTo(kRegistersPerStep)) {
    waiting_.insert_or_assign(arrival.from.executor, std::move(arrival));
  }
  for (size_t writes = 0; writes < kRegistersPerStep && !waiting_.empty(); ++writes) {
    const RegisterArrival& arrival = waiting_.begin()->second;
    const auto stored = ports_.store.RegisterExecutor(arrival.record);
    if (!stored.ok()) {
      ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(stored.code())).Add();
      log::Warn("liveness", "register: {}", stored.error().message);
      if (!SpeaksOfStore(stored.code())) {
        if (!IsAccepted(arrival.from)) Refuse(arrival.from, stored.error());
        waiting_.erase(waiting_.begin());
        continue;
      }
      // Executors that were not accepted yet are dropped. They get no answer, so they
      // register again.
      std::erase_if(waiting_, [this](const auto& entry) { return !IsAccepted(entry.second.from); });
      return;
    }
    if (!IsAccepted(arrival.from)) {
      ExecutorRecord known = *stored;
      known.checks = arrival.record.checks;  // not stored
      Accept(arrival.from, known, now);
    }
    log::Info("liveness", "executor registered executor_id={} slots={}",
              arrival.from.executor.value(), stored->slots);
    waiting_.erase(waiting_.begin());
  }
}

bool ExecutorRegistry::IsAccepted(const LeaseHolder& executor) const {
  return ports_.executors.IncarnationOf(executor.executor) == executor.incarnation;
}

void ExecutorRegistry::Accept(const LeaseHolder& executor, const ExecutorRecord& stored,
                              SteadyTime now) {
  ports_.executors.Accept(stored, now);
  const Status sent = ports_.hub.Send(executor.executor, executor.incarnation,
                                      Registered{.enabled = stored.enabled,
                                                 .draining = stored.draining,
                                                 .settings = ports_.settings.Current(),
                                                 .cluster_time = ports_.cluster.Now(),
                                                 .heartbeat = options_.heartbeat,
                                                 .takes_saves = true});
  if (!sent.ok()) log::Debug("liveness", "registered: {}", sent.error().message);
  if (ports_.executors_changed) ports_.executors_changed();
}

// Sends the executor the reason for the refusal. Without an answer it would register repeatedly.
void ExecutorRegistry::Refuse(const LeaseHolder& executor, const Error& error) {
  const Status sent = ports_.hub.Send(
      executor.executor, executor.incarnation,
      Registered{.accepted = false,
                 .refusal = "the store rejects this registration: " + error.message});
  if (!sent.ok()) log::Debug("liveness", "refused: {}", sent.error().message);
}

void ExecutorRegistry::Refresh(SteadyTime now) {
  next_refresh_ = now + options_.refresh_every;
  auto stored = ports_.store.ListExecutors();
  if (!stored.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(stored.code())).Add();
    return;
  }
  stored_ = std::move(*stored);
  ports_.executors.Refresh(stored_);
  if (ports_.executors_changed) ports_.executors_changed();
}

void ExecutorRegistry::WriteHealth(SteadyTime now) {
  next_write_ = now + options_.write_every;
  if (!ports_.writes_health()) return;
  std::vector<ExecutorRecord> rows = ports_.executors.Records();
  std::map<ExecutorId, ExecutorState> states;
  for (const ExecutorRecord& record : rows) states[record.id] = record.state;
  // Also marks executors as lost that are only in the store: they have had no link to this member
  // after its start.
  if (const auto cluster_now = ports_.cluster.Now()) {
    for (ExecutorRecord record : stored_) {
      const bool silent = *cluster_now - record.last_heartbeat >= options_.lost_after;
      const bool counts =
          record.state == ExecutorState::kOnline || record.state == ExecutorState::kUnhealthy;
      if (states.count(record.id) > 0 || !silent || !counts) continue;
      record.state = ExecutorState::kLost;
      rows.push_back(std::move(record));
    }
  }
  Write(rows);
}

void ExecutorRegistry::WriteStates() {
  const std::vector<ExecutorRecord> changed = ports_.executors.TakeStateChanges();
  if (ports_.writes_health()) Write(changed);
}

// After an error the remaining rows are not written; the next WriteHealth writes all executors.
void ExecutorRegistry::Write(const std::vector<ExecutorRecord>& rows) {
  for (size_t from = 0; from < rows.size(); from += kHealthRowsPerWrite) {
    const auto end =
        rows.begin() + static_cast<long>(std::min(rows.size(), from + kHealthRowsPerWrite));
    const Status written =
        ports_.store.UpdateExecutors({rows.begin() + static_cast<long>(from), end});
    if (!written.ok()) {
      ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(written.code())).Add();
      return;
    }
  }
}

}  // namespace carillon::scheduler
