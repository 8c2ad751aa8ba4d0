#include "executor/warden/server/warden_core.h"

#include <algorithm>
#include <utility>

#include "executor/leases/lease_watch.h"
#include "executor/warden/container/container_record.h"

namespace carillon::executor {
namespace {

// Takes over what an earlier warden left in the journal. Returns the starts without an end.
std::vector<OpenStart> Adopt(WardenJournal::Contents contents, WardenJournal& journal,
                             AttemptTable& table) {
  for (const RecordedEnd& end : contents.ends) table.AddEnded(end);
  std::vector<OpenStart> open;
  for (OpenStart& start : contents.open_starts) {
    if (table.AddLeftOver(start)) {
      open.push_back(std::move(start));
    } else {  // the warden died between the two records of one commit
      journal.Remove(start.record);
    }
  }
  return open;
}

}  // namespace

WardenCore::WardenCore(const Clock& clock, std::unique_ptr<WardenJournal> journal,
                       WardenJournal::Contents contents, Options options)
    : clock_(clock),
      journal_(std::move(journal)),
      driver_(*journal_, options.work_directory),
      reporter_(clock, *journal_, table_),
      running_(clock, {.journal = *journal_, .table = table_, .logs = logs_, .reporter = reporter_},
               std::move(options)),
      launcher_(
          clock,
          {.journal = *journal_, .table = table_, .reporter = reporter_, .running = running_}),
      leftovers_(Adopt(std::move(contents), *journal_, table_)) {
  for (const OpenStart& start : leftovers_.waiting()) {
    if (start.container)
      table_.Find(NameOf(start.attempt))->record_file = running_.RecordOf(start.attempt);
  }
}

void WardenCore::Renew(const std::vector<HeldAttempt>& attempts, SteadyTime lease_end) {
  for (const HeldAttempt& held : attempts) {
    AttemptEntry* entry = table_.FindHeld(held);
    if (entry == nullptr) continue;
    if (entry->start) entry->start->lease_end = RenewedEnd(entry->start->lease_end, lease_end);
    if (entry->live) entry->live->Renew(lease_end);
  }
}

void WardenCore::Cancel(const HeldAttempt& attempt, CancelMode mode) {
  AttemptEntry* entry = table_.FindHeld(attempt);
  if (entry == nullptr) return;
  entry->cancelled = true;
  if (!entry->live) return;
  const auto grace = mode == CancelMode::kKill ? LiveRun::Grace::kNone : LiveRun::Grace::kGiven;
  running_.Cancel(NameOf(attempt), *entry, grace);
}

void WardenCore::Note(const HeldAttempt& attempt, const std::string& text) {
  const AttemptEntry* entry = table_.FindHeld(attempt);
  if (entry == nullptr || !entry->live) return;
  entry->live->Note(text, {clock_.Steady(), clock_.Wall()});
}

void WardenCore::Follow(size_t log_bytes_max) {
  logs_.SetLimit(log_bytes_max);
  followed_ = true;
}

void WardenCore::Stop() {
  launcher_.Stop();
  running_.KillAll();
}

void WardenCore::Tick(SteadyTime now) {
  running_.Tick(now);
  for (OpenStart& start : leftovers_.Step(now)) EndLeftOver(std::move(start));
  for (const ContainerCleaner::Removed& removed : running_.TakeRemoved()) EndContained(removed);
  std::vector<std::string> files;
  for (const std::string& record : reporter_.TakeRecordFiles()) {
    files.insert(files.end(), {record, EndFileOf(record)});
  }
  if (!files.empty()) running_.RemoveInBackground(files);
}

// No process of the attempt lives, so nobody starts its container any more.
void WardenCore::EndLeftOver(OpenStart start) {
  if (!start.container) return reporter_.RecordLeftOver(start);
  running_.containers().Remove({.name = ContainerName(start.attempt),
                                .engine = start.container->engine,
                                .warden_id = start.container->warden_id,
                                .record_file = running_.RecordOf(start.attempt)});
  contained_.push_back(std::move(start));
}

void WardenCore::EndContained(const ContainerCleaner::Removed& removed) {
  const auto found = std::find_if(
      contained_.begin(), contained_.end(),
      [&](const OpenStart& start) { return ContainerName(start.attempt) == removed.name; });
  if (found == contained_.end()) {  // a record without an attempt
    const std::string record = running_.RecordOf(removed.name);
    return running_.RemoveInBackground({record, EndFileOf(record)});
  }
  reporter_.RecordLeftOver(*found, removed.end);
  contained_.erase(found);
}

void WardenCore::Commit(SteadyTime now) {
  launcher_.PrepareWaiting();
  driver_.Step(now);
  launcher_.LaunchPrepared();
  reporter_.ReleaseSynced();
  driver_.SyncOverdue(now);
  driver_.Step(now);
}

SteadyTime WardenCore::NextTick() const {
  return std::min({driver_.NextStep(), running_.NextTick(), leftovers_.NextStep()});
}

std::optional<WardenMessage> WardenCore::TakeOutput(SteadyTime now) {
  std::optional<AttemptOutput> output = followed_ ? logs_.Take(now) : std::nullopt;
  if (!output) return std::nullopt;
  return warden_message::Output{std::move(*output)};
}

void WardenCore::DropReports() {
  followed_ = false;
  logs_.ReportAllAgain();
  reporter_.DropEvents();
}

}  // namespace carillon::executor
