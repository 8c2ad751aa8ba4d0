// The port SchemaStore on MariaDB or MySQL.
#pragma once

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/schema_store.h"

namespace carillon::mysql {

class MysqlSchemaStore final : public SchemaStore {
 public:
  explicit MysqlSchemaStore(MysqlDatabase& db) : db_(db) {}

  Result<SchemaLevels> ReadLevels() override;
  Result<std::unique_ptr<SchemaHold>> Hold() override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
