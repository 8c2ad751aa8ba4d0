// The port ExecutorStore on MariaDB or MySQL.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/executor_store.h"

namespace carillon::mysql {

class MysqlExecutorStore final : public ExecutorStore {
 public:
  explicit MysqlExecutorStore(MysqlDatabase& db) : db_(db) {}

  Result<std::vector<ExecutorRecord>> RegisterExecutors(
      const std::vector<ExecutorRecord>& records) override;
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override;
  Status UpdateAbilities(const std::vector<ExecutorRecord>& records) override;
  Result<std::vector<ExecutorRecord>> ListExecutors() override;
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override;
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override;
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override;
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
