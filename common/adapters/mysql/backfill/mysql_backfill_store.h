// The port BackfillStore on MariaDB or MySQL: the table backfills.
//
// Always   Lock order as in sql/README.md: job, schedules, backfill, runs.
#pragma once

#include <optional>
#include <vector>

#include "common/adapters/mysql/client/pool.h"
#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/backfill_store.h"

namespace carillon::mysql {

class MysqlBackfillStore final : public BackfillStore {
 public:
  explicit MysqlBackfillStore(MysqlDatabase& db) : db_(db) {}

  Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) override;
  Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                  const std::optional<KeyedAnswer<Backfill>>& keyed,
                                  const WriteContext& context) override;
  Result<Backfill> GetBackfill(uint64_t number) override;
  Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) override;
  Result<BoundedCount> CountBackfills(const BackfillFilter& filter) override;
  Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) override;
  Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) override;
  Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) override;
  Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                  uint64_t after, size_t limit) override;
  Result<BackfillEffect> StepBackfill(const OpenBackfill& backfill, const Fence& fence,
                                      WallTime now, Duration retention) override;

 private:
  Result<Backfill> SetState(uint64_t number, BackfillState state);

  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
