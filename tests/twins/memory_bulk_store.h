// The port BulkStore in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/ports/store/bulk_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryBulkStore final : public BulkStore {
 public:
  explicit MemoryBulkStore(MemoryTables& tables) : tables_(tables) {}

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
  // Returns null if there is no such action.
  BulkEntry* FindBulk(const std::string& bulk_id) REQUIRES(tables_.mu);
  Result<BulkEntry*> FindLeased(const BulkLease& lease) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
