// The port NoticeStore on MariaDB or MySQL.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/notice_store.h"

namespace carillon::mysql {

class MysqlNoticeStore final : public NoticeStore {
 public:
  explicit MysqlNoticeStore(MysqlDatabase& db) : db_(db) {}

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
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
