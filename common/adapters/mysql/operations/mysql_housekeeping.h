// The port Housekeeping on MariaDB or MySQL.
#pragma once

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/adapters/mysql/schema/partitions.h"
#include "common/ports/store/housekeeping.h"

namespace carillon::mysql {

class MysqlHousekeeping final : public Housekeeping {
 public:
  explicit MysqlHousekeeping(MysqlDatabase& db) : db_(db) {}

  Result<Upkeep> Maintain(WallTime now, const Retention& retention) override;

 private:
  Result<DroppedDays> MaintainDays(WallTime now, const Retention& retention);

  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
