// The port IdempotencyStore on MariaDB or MySQL.
#pragma once

#include <string>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/idempotency_store.h"

namespace carillon::mysql {

class MysqlIdempotencyStore final : public IdempotencyStore {
 public:
  explicit MysqlIdempotencyStore(MysqlDatabase& db) : db_(db) {}

  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override;
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override;
  Status AbandonRequest(const std::string& scope, const std::string& key) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
