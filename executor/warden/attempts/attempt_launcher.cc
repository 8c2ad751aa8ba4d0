#include "executor/warden/attempts/attempt_launcher.h"

#include <algorithm>
#include <utility>

namespace carillon::executor {
namespace {

constexpr size_t kOutputBytesMax = 256u << 10;  // per stream, whatever the daemon asks for

}  // namespace

void AttemptLauncher::Start(StartAttempt start) {
  const AttemptName name = NameOf(start.attempt);
  const auto forgotten = rooms_.table.ForgottenToken(name);
  if (rooms_.table.Find(name) != nullptr || forgotten == start.attempt.token) return;
  start.output_bytes_max = std::min(start.output_bytes_max, kOutputBytesMax);
  AttemptEntry& entry = rooms_.table.Insert(start.attempt, AttemptStage::kPrepared);
  entry.output_bytes_max = start.output_bytes_max;
  entry.start = std::move(start);
  const size_t running = rooms_.running.size() + waiting_.size() + prepared_.size();
  const auto refusal = RefusalAtArrival({.ran_before = forgotten.has_value(), .running = running});
  if (refusal) {
    rooms_.reporter.RecordRefused(name, entry, *refusal);
  } else {
    waiting_.push_back(name);
  }
}

bool AttemptLauncher::Refuse(const AttemptName& name, AttemptEntry& entry) {
  const auto refusal = RefusalWhenDue({.warden_stops = stopping_,
                                       .cancelled = entry.cancelled,
                                       .lease_end = entry.start->lease_end},
                                      clock_.Steady());
  if (refusal) rooms_.reporter.RecordRefused(name, entry, *refusal);
  return refusal.has_value();
}

void AttemptLauncher::PrepareWaiting() {
  while (!waiting_.empty()) {
    const AttemptName name = waiting_.front();
    AttemptEntry& entry = *rooms_.table.Find(name);
    if (!Refuse(name, entry) && !Prepare(name, entry)) return;
    waiting_.pop_front();
    waiting_asked_ = false;
  }
}

// Records one start. Returns false while space for its end is being made.
bool AttemptLauncher::Prepare(const AttemptName& name, AttemptEntry& entry) {
  const auto asked = std::exchange(waiting_asked_, true) ? WardenJournal::Asked::kAgain
                                                         : WardenJournal::Asked::kFirst;
  const auto record = rooms_.journal.PrepareStart(*entry.start, clock_.Wall(), asked);
  if (!record.ok()) {
    rooms_.reporter.RecordRefused(
        name, entry,
        {RunState::kFailed, reason::kHost,
         "not started, because its end could not be recorded: " + record.error().message});
    return true;
  }
  if (!*record) return false;
  entry.start_record = **record;
  entry.reserved = true;
  prepared_.push_back({name, rooms_.journal.last()});
  return true;
}

// A start need not wait for the sync, because written data survives this process. A power cut could
// undo the write, but it would also end the started process.
void AttemptLauncher::LaunchPrepared() {
  while (!prepared_.empty() && prepared_.front().position <= rooms_.journal.written()) {
    const AttemptName name = prepared_.front().name;
    prepared_.pop_front();
    AttemptEntry* entry = rooms_.table.Find(name);
    if (entry == nullptr || entry->stage != AttemptStage::kPrepared) continue;
    if (Refuse(name, *entry)) continue;
    const Status spawned = rooms_.running.Spawn(name, *entry);
    if (spawned.ok()) continue;
    // What the host cannot enforce was asked for by the job.
    const bool host = spawned.code() == ErrorCode::kExhausted;
    rooms_.reporter.RecordRefused(name, *entry,
                                  {RunState::kFailed, host ? reason::kHost : reason::kSpawn,
                                   "could not " + spawned.error().message});
  }
}

}  // namespace carillon::executor
