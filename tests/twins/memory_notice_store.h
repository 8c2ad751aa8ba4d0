// The port NoticeStore in memory: notices and their deliveries.
#pragma once

#include <optional>
#include <vector>

#include "common/ports/store/notice_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryNoticeStore final : public NoticeStore {
 public:
  explicit MemoryNoticeStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                              size_t limit) override;
  Result<std::optional<RunDetail>> FindRun(const Notice& notice) override;
  Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                       WallTime now) override;
  Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) override;
  Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                      std::optional<JobNo> after, WallTime now,
                                      size_t limit) override;
  Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                               const std::vector<DeliveryChannel>& channels,
                                               WallTime now, size_t limit) override;
  Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence, WallTime now) override;
  Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) override;
  Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) override;
  Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) override;
  Result<Delivery> ResendDelivery(uint64_t id, WallTime now) override;

 private:
  OpenNotice ToOpen(const Notice& notice) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
