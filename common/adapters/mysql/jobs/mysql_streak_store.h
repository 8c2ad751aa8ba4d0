// The port StreakStore on MariaDB or MySQL.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/streak_store.h"

namespace carillon::mysql {

class MysqlStreakStore final : public StreakStore {
 public:
  explicit MysqlStreakStore(MysqlDatabase& db) : db_(db) {}

  Result<std::vector<FailingJob>> ScanFailing(const std::vector<SegmentId>& segments,
                                              WallTime since, std::optional<JobNo> after,
                                              size_t limit) override;
  Result<Streak> ReadStreak(const FailingJob& job, WallTime now) override;
  Result<bool> PauseFailing(const FailingJob& job, const Fence& fence,
                            const WriteContext& context) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
