// The port LogStore on MariaDB or MySQL.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/log_store.h"

namespace carillon::mysql {

class MysqlLogStore final : public LogStore {
 public:
  explicit MysqlLogStore(MysqlDatabase& db) : db_(db) {}

  Status AppendLogs(const std::vector<LogRecord>& records) override;
  Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& origins) override;
  Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                        size_t bytes_max) override;
  Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
