#include "tests/twins/memory_segment_store.h"

#include <algorithm>

namespace carillon::memory {

Result<WallTime> MemorySegmentStore::Now() { return clock_.Wall(); }

Result<TakenSegments> MemorySegmentStore::Take(const TakeRequest& request) {
  MutexLock lock(tables_.mu);
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

Status MemorySegmentStore::Release(const Fence& fence) {
  MutexLock lock(tables_.mu);
  for (const FencedSegment& fenced : fence) {
    if (!tables_.HasSegment(fenced.segment)) continue;
    SegmentRecord& record = tables_.segments[fenced.segment.value()];
    if (record.epoch == fenced.epoch) record.released = true;
  }
  return {};
}

Result<std::vector<SegmentRecord>> MemorySegmentStore::ReadEpochs(
    const std::vector<SegmentId>& segments) {
  MutexLock lock(tables_.mu);
  std::vector<SegmentRecord> found;
  for (const SegmentId segment : segments) {
    if (tables_.HasSegment(segment)) found.push_back(tables_.segments[segment.value()]);
  }
  return found;
}

Result<std::vector<SegmentRecord>> MemorySegmentStore::ListSegments() {
  MutexLock lock(tables_.mu);
  return tables_.segments;
}

}  // namespace carillon::memory
