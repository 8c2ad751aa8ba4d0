// The port CompletionStore on MariaDB or MySQL: the table run_completions.
//
// Always   Lock order as in mysql_firing_store.h.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/completion_store.h"

namespace carillon::mysql {

class MysqlCompletionStore final : public CompletionStore {
 public:
  explicit MysqlCompletionStore(MysqlDatabase& db) : db_(db) {}

  Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                     size_t limit) override;
  Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                              const Fence& fence, WallTime now) override;
  Result<std::vector<FireEffect>> EndFires(const std::vector<FireLook>& fires, const Fence& fence,
                                           WallTime now) override;
  Result<std::vector<FireLook>> ScanUnended(const std::vector<SegmentId>& segments, WallTime due,
                                            size_t limit) override;
  Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                               size_t limit) override;
  Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
