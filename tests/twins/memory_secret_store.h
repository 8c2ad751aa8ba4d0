// The port SecretStore in memory.
#pragma once

#include <string>
#include <vector>

#include "common/ports/store/secret_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemorySecretStore final : public SecretStore {
 public:
  explicit MemorySecretStore(MemoryTables& tables) : tables_(tables) {}

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
  MemoryTables& tables_;
};

}  // namespace carillon::memory
