#include "tests/twins/memory_store.h"

#include <algorithm>
#include <utility>

#include "common/base/failpoint.h"

namespace carillon::memory {

MemoryStore::MemoryStore(const Clock& clock, Options options)
    : MemoryPeople(clock, options.segment_count),
      identity_{.store_id = std::move(options.store_id),
                .server_id = std::move(options.server_id),
                .segment_count = options.segment_count} {
  CARILLON_CHECK(options.segment_count > 0, "a store has at least one segment");
}

void MemoryStore::ObserveRuns(Tables::RunObserver observer) {
  MutexLock lock(mu_);
  tables_.Observe(std::move(observer));
}

void MemoryStore::DamageDefinition(const JobId& id, int64_t version, bool damaged) {
  MutexLock lock(mu_);
  JobEntry* job = tables_.FindJob(id);
  CARILLON_CHECK(job != nullptr && job->versions.contains(version), id.value());
  if (damaged) {
    job->unreadable.insert(version);
  } else {
    job->unreadable.erase(version);
  }
}

void MemoryStore::DamageSchedule(ScheduleId id, bool damaged) {
  MutexLock lock(mu_);
  CARILLON_CHECK(tables_.FindSchedule(id) != nullptr, "no such schedule");
  ScheduleEntry schedule = *tables_.FindSchedule(id);
  schedule.readable = !damaged;
  tables_.PutSchedule(std::move(schedule));
}

void MemoryStore::ChangeIdentity(const StoreIdentity& identity) {
  MutexLock lock(mu_);
  CARILLON_CHECK(identity.segment_count == identity_.segment_count, "segments are fixed");
  identity_ = identity;
}

Result<StoreIdentity> MemoryStore::Identify() {
  MutexLock lock(mu_);
  return identity_;
}

Result<uint64_t> MemoryStore::AdvanceMark(const StoreIdentity& seen) {
  MutexLock lock(mu_);
  if (identity_ != seen) return {ErrorCode::kConflict, "mark: the store is not the one seen"};
  return ++identity_.mark;
}

Result<uint64_t> MemoryStore::Accept(const StoreIdentity& seen, Epoch above) {
  MutexLock lock(mu_);
  if (identity_ != seen) return {ErrorCode::kConflict, "accept: the store is not the one seen"};
  for (SegmentRecord& record : tables_.segments) {
    record.epoch = std::max(Epoch(record.epoch.value() + 1), above);
  }
  return ++identity_.mark;
}

Result<WallTime> MemoryStore::Now() { return clock_.Wall(); }

Result<TakenSegments> MemoryStore::Take(const TakeRequest& request) {
  MutexLock lock(mu_);
  for (const SegmentId segment : request.segments) {
    if (!tables_.HasSegment(segment)) {
      return {ErrorCode::kInvalid, "take: no segment " + std::to_string(segment.value())};
    }
  }
  TakenSegments taken;
  for (const SegmentId segment : request.segments) {
    SegmentRecord& record = tables_.segments[segment.value()];
    const bool newer = record.assign_gen < request.generation;
    const bool mine = record.assign_gen == request.generation && record.owner == request.member &&
                      record.incarnation == request.incarnation;
    if (!newer && !mine) continue;
    record.lease_before = LeaseInForce(record, clock_.Wall());
    record.lease = request.lease;
    record.taken = clock_.Wall();
    record.owner = request.member;
    record.incarnation = request.incarnation;
    record.epoch = Epoch(record.epoch.value() + 1);
    record.assign_gen = request.generation;
    record.released = false;
    taken.fence.push_back({segment, record.epoch});
    taken.lease_before = std::max(taken.lease_before, record.lease_before);
  }
  return taken;
}

Status MemoryStore::Release(const Fence& fence) {
  MutexLock lock(mu_);
  for (const FencedSegment& fenced : fence) {
    if (!tables_.HasSegment(fenced.segment)) continue;
    SegmentRecord& record = tables_.segments[fenced.segment.value()];
    if (record.epoch == fenced.epoch) record.released = true;
  }
  return {};
}

Result<std::vector<SegmentRecord>> MemoryStore::ReadEpochs(const std::vector<SegmentId>& segments) {
  MutexLock lock(mu_);
  std::vector<SegmentRecord> found;
  for (const SegmentId segment : segments) {
    if (tables_.HasSegment(segment)) found.push_back(tables_.segments[segment.value()]);
  }
  return found;
}

Result<std::vector<SegmentRecord>> MemoryStore::ListSegments() {
  MutexLock lock(mu_);
  return tables_.segments;
}

Status MemoryStore::CheckFence(const Fence& fence) const {
  for (const FencedSegment& held : fence) {
    if (!tables_.HasSegment(held.segment)) {
      return {ErrorCode::kBrokenStore, "fence: no segment " + std::to_string(held.segment.value())};
    }
    const SegmentRecord& record = tables_.segments[held.segment.value()];
    if (record.epoch != held.epoch && !failpoint::Broken("fence")) {
      return {ErrorCode::kFenced, "segment " + std::to_string(held.segment.value()) +
                                      ": held by epoch " + std::to_string(record.epoch.value()) +
                                      ", ours was " + std::to_string(held.epoch.value())};
    }
  }
  return {};
}

void MemoryStore::AddGap(ScheduleId schedule_id, JobNo job_no, const GapRange& range) {
  tables_.gaps[++tables_.last_gap_id] = {schedule_id, job_no, range};
}

}  // namespace carillon::memory
