// The port IdentityStore on MariaDB or MySQL.
#pragma once

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/identity_store.h"

namespace carillon::mysql {

class MysqlIdentityStore final : public IdentityStore {
 public:
  explicit MysqlIdentityStore(MysqlDatabase& db) : db_(db) {}

  Result<StoreIdentity> Identify() override;
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override;
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override;
  void Forget() override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
