// The port Housekeeping on MariaDB or MySQL.
#pragma once

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/housekeeping.h"

namespace carillon::mysql {

class MysqlHousekeeping final : public Housekeeping {
 public:
  explicit MysqlHousekeeping(MysqlDatabase& db) : db_(db) {}

  Result<Upkeep> Maintain(WallTime now, Duration retention) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
