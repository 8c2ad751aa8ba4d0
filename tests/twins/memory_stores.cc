#include "tests/twins/memory_stores.h"

#include <utility>

#include "common/base/check.h"

namespace carillon::memory {

MemoryStores::MemoryStores(const Clock& clock, const Options& options)
    : tables({.store_id = options.store_id,
              .server_id = options.server_id,
              .segment_count = options.segment_count}),
      segments(tables, clock) {}

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
