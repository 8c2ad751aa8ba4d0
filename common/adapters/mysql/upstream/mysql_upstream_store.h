// The port UpstreamStore on MariaDB or MySQL.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/upstream_store.h"

namespace carillon::mysql {

class MysqlUpstreamStore final : public UpstreamStore {
 public:
  explicit MysqlUpstreamStore(MysqlDatabase& db) : db_(db) {}

  Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>& segments, WallTime until,
                                    std::optional<RunKey> after, size_t limit) override;
  Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) override;
  Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& spans) override;
  Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>& items, const Fence& fence,
                                           WallTime now) override;
  Result<RunDetail> ReleaseRun(const RunKey& key, const WriteContext& context) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
