#include "tests/twins/memory_pending.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/domain/run/returns.h"
#include "common/domain/upstream/wait_end.h"
#include "common/domain/workflow/node_key.h"
#include "tests/twins/memory_node_jobs.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {
namespace {

// True if the run's schedule still belongs to the job. A removed schedule is not in job.schedules.
bool IsKept(const JobEntry& job, const RunKey& key) {
  return job.manual == key.schedule_id || std::find(job.schedules.begin(), job.schedules.end(),
                                                    key.schedule_id) != job.schedules.end();
}

bool Unplan(MemoryTables& tables, const RunRow& row, WallTime now) REQUIRES(tables.mu) {
  // A later run of this schedule stays if a user has cancelled it early, or cancelled and retried
  // it, or if a backfill runs it. If the schedule moved back to before such a run, its key would be
  // planned twice.
  const auto& runs = tables.runs();
  for (auto later = runs.upper_bound(row.key); later != runs.end(); ++later) {
    const RunRow& other = later->second.row;
    if (other.key.schedule_id == row.key.schedule_id && other.key.fire > now &&
        (other.state != RunState::kPending || other.attempt > 1 || !IsPlannedAhead(other.kind))) {
      return false;
    }
  }
  ScheduleEntry schedule = *tables.FindSchedule(row.key.schedule_id);
  schedule.next_fire = std::min(schedule.next_fire, row.key.fire);
  if (schedule.awaited == row.key.fire) schedule.awaited = WallTime{};
  tables.PutSchedule(std::move(schedule));
  tables.EraseRun(row.key);
  return true;
}

void ChangeOnePending(MemoryTables& tables, JobEntry& job, const RunEntry& entry, JobChange change,
                      std::string_view why, WallTime now) REQUIRES(tables.mu) {
  PendingEffect effect = DecidePendingEffect(entry.row, change, IsKept(job, entry.row.key), now);
  if (effect == PendingEffect::kUnplan) {
    if (change != JobChange::kPaused) return tables.EraseRun(entry.row.key);
    if (Unplan(tables, entry.row, now)) return;
    effect = PendingEffect::kSkip;
  }
  RunEntry changed = entry;
  switch (effect) {
    case PendingEffect::kKeep: break;
    case PendingEffect::kHoldBack:
      changed.row.due = kNever;
      changed.row.group = {};
      // A run keeps its slot between two tries. One that never started may wait for weeks.
      if (IsFirstTry(changed.row)) job.FreeSlot(changed.row.key);
      break;
    case PendingEffect::kSkip:
    case PendingEffect::kCancel:
      changed.row.state =
          effect == PendingEffect::kSkip ? RunState::kSkipped : RunState::kCancelled;
      changed.result.reason = std::string(why);
      changed.result.ended = now;
      break;
    case PendingEffect::kUnplan: break;
  }
  if (IsFinal(changed.row.state)) return PutEnded(tables, std::move(changed));
  tables.PutRun(std::move(changed));
}

}  // namespace

void ChangePending(MemoryTables& tables, JobEntry& job, JobChange change, std::string_view why,
                   WallTime now) {
  const std::set<RunKey> open = job.open;
  for (const RunKey& key : open) {
    const RunEntry entry = *tables.FindRun(key);
    if (entry.row.state != RunState::kPending) continue;
    ChangeOnePending(tables, job, entry, change, why, now);
  }
}

void StampPending(MemoryTables& tables, const JobEntry& job) {
  for (const RunKey& key : std::set<RunKey>(job.open)) {
    RunEntry entry = *tables.FindRun(key);
    if (entry.row.state != RunState::kPending) continue;
    entry.row.def_version = job.version;
    entry.row.priority = NextPriority(entry.row, JobOf(tables, entry.row).priority);
    tables.PutRun(std::move(entry));
  }
}

void ChangeWaits(MemoryTables& tables, const JobEntry& job, WallTime now) {
  for (const RunKey& key : std::set<RunKey>(job.open)) {
    RunEntry entry = *tables.FindRun(key);
    const auto due = DueAfterEdit(entry.row, WaitsForOthers(job.definition), now);
    if (!due) continue;
    entry.row.due = *due;
    tables.PutRun(std::move(entry));
  }
}

}  // namespace carillon::memory
