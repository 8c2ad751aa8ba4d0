#include "tests/twins/memory_stores.h"

#include <algorithm>

#include <utility>

#include "common/base/check.h"

namespace carillon::memory {

MemoryStores::MemoryStores(const Clock& clock, const Options& options)
    : tables({.store_id = options.store_id,
              .server_id = options.server_id,
              .segment_count = options.segment_count,
              .software = "memory"},
             options.numbers_in_blocks),
      segments(tables, clock) {}

bool MemoryStores::QueuesAgree() const {
  MutexLock lock(tables.mu);
  size_t queued = 0;
  for (const auto& [job_no, job] : tables.jobs()) {
    for (const auto& [key, entry] : job.queue) {
      const RunEntry* run = tables.FindRun(key);
      if (run == nullptr || run->row.state != RunState::kPending || run->row.due != kQueued) {
        return false;
      }
    }
    queued += job.queue.size();
  }
  size_t grouped = 0;
  for (const auto& [name, group] : tables.groups) {
    for (const auto& [place, entry] : group.queue) {
      const RunEntry* run = tables.FindRun(place.key);
      if (run == nullptr || run->row.state != RunState::kPending || run->row.due != kQueued) {
        return false;
      }
    }
    grouped += group.queue.size();
  }
  if (grouped != tables.group_waits()) return false;
  queued += grouped;
  const auto waits = std::count_if(tables.runs().begin(), tables.runs().end(), [](const auto& run) {
    return run.second.row.state == RunState::kPending && run.second.row.due == kQueued;
  });
  return static_cast<size_t>(waits) == queued;
}

bool MemoryStores::HasFreeSlot(JobNo job_no) {
  MutexLock lock(tables.mu);
  const JobEntry* job = tables.FindJob(job_no);
  if (job == nullptr || job->deleted) return false;
  return static_cast<int64_t>(job->active.size()) < job->definition.max_running;
}

std::string MemoryStores::GroupAwaitedLocked(const RunKey& key) {
  const GroupEntry* group = tables.WaitsForGroup(key);
  if (group == nullptr) return {};
  const auto named =
      std::find_if(tables.groups.begin(), tables.groups.end(),
                   [&](const auto& known) { return known.second.group_no == group->group_no; });
  return named == tables.groups.end() ? std::string() : named->first;
}

bool MemoryStores::DelaysAgree() const {
  MutexLock lock(tables.mu);
  for (const auto& [job_no, job] : tables.jobs()) {
    if (job.deleted) continue;
    for (const ScheduleId id : job.schedules) {
      const ScheduleEntry& schedule = *tables.FindSchedule(id);
      if (schedule.spec.kind != ScheduleKind::kDelay) continue;
      if (schedule.awaited == WallTime{}) {
        if (schedule.next_fire == kNever) return false;
        continue;
      }
      const RunEntry* run = tables.FindRun({schedule.awaited, id, 0});
      const bool open = run != nullptr && !IsFinal(run->row.state);
      const bool told =
          std::any_of(tables.completions.begin(), tables.completions.end(), [&](const auto& entry) {
            return entry.second.target == CompletionTarget::kSchedule &&
                   entry.second.key == RunKey{schedule.awaited, id, 0};
          });
      if (schedule.next_fire != kNever || (!open && !told)) return false;
    }
  }
  return true;
}

bool MemoryStores::ActedOnEnds() const {
  MutexLock lock(tables.mu);
  return tables.completions.empty();
}

void MemoryStores::ObserveEnds(MemoryTables::EndObserver observer) {
  MutexLock lock(tables.mu);
  tables.ObserveEnds(std::move(observer));
}

void MemoryStores::ObserveRuns(MemoryTables::RunObserver observer) {
  MutexLock lock(tables.mu);
  tables.Observe(std::move(observer));
}

void MemoryStores::DamageDefinition(const JobId& id, int64_t version, bool damaged) {
  MutexLock lock(tables.mu);
  JobEntry* job = tables.FindJob(id);
  CARILLON_CHECK(job != nullptr && job->versions.contains(version), id.value());
  if (damaged) {
    job->unreadable.insert(version);
  } else {
    job->unreadable.erase(version);
  }
}

void MemoryStores::DamageSchedule(ScheduleId id, bool damaged) {
  MutexLock lock(tables.mu);
  CARILLON_CHECK(tables.FindSchedule(id) != nullptr, "no such schedule");
  ScheduleEntry schedule = *tables.FindSchedule(id);
  schedule.readable = !damaged;
  tables.PutSchedule(std::move(schedule));
}

void MemoryStores::ChangeIdentity(const StoreIdentity& changed) {
  MutexLock lock(tables.mu);
  CARILLON_CHECK(changed.segment_count == tables.identity.segment_count, "segments are fixed");
  tables.identity = changed;
}

}  // namespace carillon::memory
