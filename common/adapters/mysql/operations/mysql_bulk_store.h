// The port BulkStore on MariaDB or MySQL.
//
// Always   The row of the action is locked before its items. So a cancel and a write of the member
//          that works on the action cannot overlap.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/housekeeping.h"

namespace carillon::mysql {

class MysqlBulkStore final : public BulkStore {
 public:
  explicit MysqlBulkStore(MysqlDatabase& db) : db_(db) {}

  Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                const std::optional<KeyedAnswer<BulkAction>>& keyed) override;
  Result<BulkAction> GetBulk(const std::string& bulk_id) override;
  Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) override;
  Result<BoundedCount> CountBulk(const BulkFilter& filter) override;
  Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) override;
  Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                      const BulkItemFilter& filter) override;
  Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) override;
  Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) override;
  Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease, int64_t last_position,
                                               WallTime now, WallTime until) override;
  Result<BulkAction> RecordBulkItems(const BulkLease& lease, const std::vector<BulkItem>& items,
                                     WallTime now, WallTime until) override;
  Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                              const std::string& begun_error_json, WallTime now) override;
  Status ReleaseBulk(const BulkLease& lease) override;

 private:
  MysqlDatabase& db_;
};

// Deletes actions that ended before `before`. Deletes at most `items_max` of their items. kBehind:
// more items may be left.
Result<Upkeep> DeleteOldBulk(Pool& pool, WallTime before, int64_t items_max);

}  // namespace carillon::mysql
