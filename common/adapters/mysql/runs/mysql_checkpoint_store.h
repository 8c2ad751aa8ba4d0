// The port CheckpointStore on MariaDB or MySQL.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/checkpoint_store.h"

namespace carillon::mysql {

class MysqlCheckpointStore final : public CheckpointStore {
 public:
  explicit MysqlCheckpointStore(MysqlDatabase& db) : db_(db) {}

  Result<std::vector<SaveVerdict>> Save(const std::vector<RunSave>& saves, const Fence& fence,
                                        WallTime now) override;
  Result<std::set<RunKey>> WithCheckpoint(const std::vector<RunKey>& keys) override;
  Result<std::optional<std::string>> ReadCheckpoint(const RunKey& key) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
