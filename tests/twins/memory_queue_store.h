// The port QueueStore in memory. overlap.h decides who is admitted.
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/queue_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryQueueStore final : public QueueStore {
 public:
  explicit MemoryQueueStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<QueuedJob>> ScanQueues(const std::vector<SegmentId>& segments, JobNo after,
                                            size_t limit) override;
  Result<AdmissionEffect> Admit(const QueuedJob& job, const Fence& fence, WallTime now) override;
  Result<GroupScan> ScanGroups(const std::vector<SegmentId>& segments, GroupNo after, size_t limit,
                               WallTime now) override;
  Result<AdmissionEffect> AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                     WallTime now) override;
  Result<std::vector<UnusedSlot>> ScanUnusedSlots(const std::vector<SegmentId>& segments,
                                                  WallTime now, size_t limit) override;
  Result<size_t> ReclaimSlots(const std::vector<UnusedSlot>& slots, const Fence& fence,
                              WallTime now) override;
  Result<std::vector<SkipItem>> ScanExpired(const std::vector<SegmentId>& segments, WallTime now,
                                            size_t limit) override;
  Result<int64_t> CountQueued() override;
  Result<JobQueue> ReadQueue(const JobId& id, size_t limit) override;
  Result<std::optional<QueuePlace>> PlaceOf(const RunKey& key) override;

 private:
  // True for an admitted run whose claim did not come.
  static bool IsUnused(const RunRow& row, WallTime now);
  // When a slot of the group is cool that cannot be given now (GroupScan::next_cool).
  std::optional<WallTime> NextLook(const GroupEntry& group, WallTime now) REQUIRES(tables_.mu);
  // The queued runs of these segments that get the free slots of the group.
  std::vector<RunKey> FirstOf(const GroupEntry& group, const std::vector<SegmentId>& segments,
                              WallTime now) REQUIRES(tables_.mu);
  void AdmitRuns(JobEntry& job, const Admission& admission, WallTime now, AdmissionEffect* effect)
      REQUIRES(tables_.mu);
  void MakeRoomFor(JobEntry& job, const RunKey& newest, CancelMode mode, WallTime now,
                   AdmissionEffect* effect) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
