// The port SecretStore on MariaDB or MySQL.
#pragma once

#include <string>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/secret_store.h"

namespace carillon::mysql {

class MysqlSecretStore final : public SecretStore {
 public:
  explicit MysqlSecretStore(MysqlDatabase& db) : db_(db) {}

  Status CreateSecret(const StoredSecret& secret) override;
  Result<StoredSecret> GetSecret(const std::string& name) override;
  Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) override;
  Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) override;
  Result<BoundedCount> CountSecrets() override;
  Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) override;
  Status DeleteSecret(const std::string& name, int64_t expected_version) override;
  Status RewrapSecret(const std::string& name, const SealedValue& from,
                      const SealedValue& to) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
