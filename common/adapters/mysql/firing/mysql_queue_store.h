// The port QueueStore on MariaDB or MySQL: the tables run_waits and run_slots.
//
// Always   Lock order as in mysql_firing_store.h.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/queue_store.h"

namespace carillon::mysql {

class MysqlQueueStore final : public QueueStore {
 public:
  explicit MysqlQueueStore(MysqlDatabase& db) : db_(db) {}

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
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
