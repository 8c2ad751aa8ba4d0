#include "scheduler/liveness/executor_registry.h"

#include <algorithm>
#include <set>
#include <span>

#include "common/base/log.h"
#include "scheduler/assign/bisect.h"
#include "scheduler/liveness/standing.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kRegistersPerWrite = 256;
constexpr Duration kRegisterAgain = 500ms;
constexpr size_t kHealthRowsPerWrite = 1000;
constexpr size_t kHandlersPerWrite = 20'000;
// Up to so many rows are written every time. Of more, a part, so that all are in half a minute.
constexpr size_t kHealthRowsLeast = 1000;
constexpr size_t kHealthParts = 6;
constexpr Duration kReadEach = 1ms;  // a thousand rows a second, however many there are
// A stored heartbeat may be 45 s old; what is left is for the other members, and for this one.
constexpr Duration kSilentLeast = 90s;
// While all members were away nobody wrote heartbeats, and it takes a large fleet so long to come.
constexpr Duration kLinksWithin = 30s;

bool SameProcess(const ExecutorRecord& a, const ExecutorRecord& b) {
  return a.incarnation == b.incarnation && a.host == b.host && a.ops_port == b.ops_port &&
         a.slots == b.slots && a.version == b.version;
}

// As of the last heartbeat, which `record.features` must be from.
ExecutorAbilities AbilitiesOf(const ExecutorRecord& record) {
  ExecutorAbilities abilities{.features = *record.features};
  for (const auto& [name, slots] : record.handlers) abilities.handlers.insert(name);
  return abilities;
}

}  // namespace

ExecutorRegistry::ExecutorRegistry(const Ports& ports, Options options)
    : ports_(ports), options_(std::move(options)) {}

SteadyTime ExecutorRegistry::Step(SteadyTime now) {
  if (!first_step_) first_step_ = now;
  // First, because registrations are compared with what the store has.
  if (nudged_.exchange(false) || now >= next_refresh_) Refresh(now);
  const bool takes = RegisterWaiting(now);
  // State changes are written at once. Heartbeats and load are written only every `write_every`.
  WriteStates();
  if (now >= next_write_) WriteHealth(now);
  if (!takes) return std::min(now + kRegisterAgain, next_write_);
  // Nothing wakes the loop for what is left.
  if (!waiting_.empty() || ports_.registers.size() > 0) return now;
  return std::min(next_refresh_, next_write_);
}

bool ExecutorRegistry::RegisterWaiting(SteadyTime now) {
  for (RegisterArrival& arrival : ports_.registers.PopUpTo(kRegistersPerWrite)) {
    if (AcceptAsStored(arrival, now)) {
      waiting_.erase(arrival.from.executor);
    } else {
      waiting_.insert_or_assign(arrival.from.executor, std::move(arrival));
    }
  }
  if (waiting_.empty()) return true;
  const Status written = WriteRegistrations(now);
  if (written.ok()) return true;
  log::Warn("liveness", "register: {}", written.error().message);
  // Executors that were not accepted yet are dropped. They get no answer, so they
  // register again.
  std::erase_if(waiting_, [this](const auto& entry) { return !IsAccepted(entry.second.from); });
  return waiting_.empty();
}

bool ExecutorRegistry::AcceptAsStored(const RegisterArrival& arrival, SteadyTime now) {
  const auto stored = stored_.find(arrival.from.executor);
  if (stored == stored_.end() || !SameProcess(stored->second, arrival.record)) return false;
  if (IsAccepted(arrival.from)) return true;
  ExecutorRecord known = stored->second;
  known.checks = arrival.record.checks;  // not stored
  known.last_heartbeat = arrival.record.last_heartbeat;
  Accept(arrival.from, known, now);
  log::Info("liveness", "executor registered, as before executor_id={} slots={}",
            arrival.from.executor.value(), known.slots);
  return true;
}

Status ExecutorRegistry::WriteRegistrations(SteadyTime now) {
  std::vector<ExecutorRecord> batch;
  for (const auto& [id, arrival] : waiting_) {
    if (batch.size() < kRegistersPerWrite) batch.push_back(arrival.record);
  }
  const auto count = [this](ErrorCode code) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(code)).Add();
  };
  return Bisect(
      std::span<ExecutorRecord>(batch),
      [&](std::span<ExecutorRecord> some) -> Status {
        const auto stored = ports_.store.RegisterExecutors({some.begin(), some.end()});
        if (!stored.ok()) {
          count(stored.code());
          return stored.error();
        }
        for (const ExecutorRecord& record : *stored) NoteRegistered(record, now);
        return {};
      },
      [&](const ExecutorRecord& refused, const Error& error) {
        log::Warn("liveness", "register: {}", error.message);
        const LeaseHolder from{refused.id, refused.incarnation};
        if (!IsAccepted(from)) Refuse(from, error);
        waiting_.erase(refused.id);
      });
}

void ExecutorRegistry::NoteRegistered(const ExecutorRecord& stored, SteadyTime now) {
  const auto arrival = waiting_.find(stored.id);
  if (arrival == waiting_.end()) return;
  if (!IsAccepted(arrival->second.from)) {
    ExecutorRecord known = stored;
    known.checks = arrival->second.record.checks;  // not stored
    Accept(arrival->second.from, known, now);
  }
  log::Info("liveness", "executor registered executor_id={} slots={}", stored.id.value(),
            stored.slots);
  stored_.insert_or_assign(stored.id, stored);
  waiting_.erase(arrival);
}

bool ExecutorRegistry::IsAccepted(const LeaseHolder& executor) const {
  return ports_.executors.IncarnationOf(executor.executor) == executor.incarnation;
}

void ExecutorRegistry::Accept(const LeaseHolder& executor, const ExecutorRecord& stored,
                              SteadyTime now) {
  ports_.executors.Accept(stored, now);
  const HeartbeatPace pace{.usual = options_.heartbeat,
                           .quiet = ports_.executors.quiet_heartbeat()};
  const Status sent = ports_.hub.Send(executor.executor, executor.incarnation,
                                      StandingOf(stored, ports_.settings, ports_.cluster, pace));
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
  const auto stored = ports_.store.ListExecutors();
  if (!stored.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(stored.code())).Add();
    return;
  }
  next_refresh_ =
      now + std::max(options_.refresh_every, kReadEach * static_cast<int64_t>(stored->size()));
  ports_.executors.Refresh(*stored);
  stored_hosts_.Publish(*stored, now, now + 2 * (next_refresh_ - now));
  stored_.clear();
  for (const ExecutorRecord& record : *stored) stored_.emplace(record.id, record);
  if (ports_.executors_changed) ports_.executors_changed();
}

void ExecutorRegistry::WriteHealth(SteadyTime now) {
  next_write_ = now + options_.write_every;
  if (!ports_.writes_health()) return;
  std::vector<ExecutorRecord> rows = ports_.executors.Records();
  std::vector<ExecutorRecord> silent;
  if (now - *first_step_ >= kLinksWithin) AddSilent(rows, silent);
  WriteAbilities(rows);
  KeepPart(rows);
  rows.insert(rows.end(), silent.begin(), silent.end());
  Write(rows);
}

// Executors that are only in the store: they have had no link to this member after its start.
void ExecutorRegistry::AddSilent(const std::vector<ExecutorRecord>& linked,
                                 std::vector<ExecutorRecord>& silent) {
  const auto cluster_now = ports_.cluster.Now();
  if (!cluster_now) return;
  std::set<ExecutorId> known;
  for (const ExecutorRecord& record : linked) known.insert(record.id);
  for (auto& [id, record] : stored_) {
    const Duration silence = *cluster_now - record.last_heartbeat;
    const bool counts =
        record.state == ExecutorState::kOnline || record.state == ExecutorState::kUnhealthy;
    if (!counts || silence < std::max(options_.lost_after, kSilentLeast) || known.contains(id)) {
      continue;
    }
    record.state = ExecutorState::kLost;
    silent.push_back(record);
  }
}

// Keeps those after the part of the last time, in the order of their ids.
void ExecutorRegistry::KeepPart(std::vector<ExecutorRecord>& rows) {
  const size_t part = std::max(kHealthRowsLeast, (rows.size() + kHealthParts - 1) / kHealthParts);
  if (rows.size() <= part) return;
  const auto next = std::find_if(rows.begin(), rows.end(), [this](const ExecutorRecord& record) {
    return written_to_ < record.id;
  });
  std::rotate(rows.begin(), next, rows.end());
  rows.resize(part);
  written_to_ = rows.back().id;
}

void ExecutorRegistry::WriteStates() {
  const std::vector<ExecutorRecord> changed = ports_.executors.TakeStateChanges();
  if (ports_.writes_health()) Write(changed);
}

// Those that differ from the stored ones. What could not be written still differs at the next look.
void ExecutorRegistry::WriteAbilities(const std::vector<ExecutorRecord>& linked) {
  std::vector<ExecutorRecord> changed;
  size_t handlers = 0;
  for (const ExecutorRecord& record : linked) {
    if (changed.size() == kHealthRowsPerWrite || handlers >= kHandlersPerWrite) break;
    const auto stored = stored_.find(record.id);
    const bool comparable = record.features && stored != stored_.end() &&
                            stored->second.incarnation == record.incarnation;
    if (!comparable) continue;
    ExecutorAbilities abilities = AbilitiesOf(record);
    if (abilities == stored->second.abilities) continue;
    changed.push_back(record);
    handlers += abilities.handlers.size();
    changed.back().abilities = std::move(abilities);
  }
  if (changed.empty()) return;
  const Status written = ports_.store.UpdateAbilities(changed);
  if (!written.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(written.code())).Add();
    return;
  }
  for (ExecutorRecord& record : changed) {
    stored_.at(record.id).abilities = std::move(record.abilities);
  }
}

// After an error the remaining rows are not written; the following WriteHealths write them.
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
