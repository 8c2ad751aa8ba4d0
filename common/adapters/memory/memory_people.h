// The part of the memory store that is about people: who they are, and what they keep. The tables
// and their mutex are those of the whole store (memory_store.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/adapters/memory/memory_tables.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/auth_store.h"
#include "common/ports/secret_store.h"

namespace carillon::memory {

class MemoryPeople : public AuthStore, public SecretStore {
 public:
  // AuthStore
  Result<bool> NeedsSetup() override;
  Status PutSetupLink(const std::string& token_hash, WallTime expires) override;
  Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) override;
  Status CreateUser(const UserRecord& user) override;
  Result<UserRecord> GetUser(const std::string& user_id) override;
  Result<std::optional<UserRecord>> FindUser(const std::string& name) override;
  Result<std::vector<UserRecord>> ListUsers(const std::string& after_user_id,
                                            size_t limit) override;
  Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) override;
  Status DeleteUser(const std::string& user_id, int64_t expected_version) override;
  Status CreateSession(const RefreshRecord& first) override;
  Result<Rotation> RotateSession(const std::string& used_hash, const std::string& new_hash,
                                 WallTime now, WallTime expires) override;
  Result<std::optional<EndedSession>> EndSession(const std::string& token_hash) override;
  Result<std::optional<UserRecord>> FindSession(const std::string& family, WallTime now) override;
  Status CreateFirstToken(const TokenRecord& token) override;
  Status CreateToken(const TokenRecord& token) override;
  Result<std::optional<FoundToken>> FindToken(const std::string& token_hash) override;
  Result<std::vector<TokenRecord>> ListTokens(const TokenFilter& filter) override;
  Result<TokenRecord> GetToken(const std::string& token_id) override;
  Status DeleteToken(const std::string& token_id) override;
  Status TouchToken(const std::string& token_id, WallTime used) override;
  Result<std::string> EnsureSigningKey(const std::string& fresh) override;

  // SecretStore
  Status CreateSecret(const StoredSecret& secret) override;
  Result<StoredSecret> GetSecret(const std::string& name) override;
  Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) override;
  Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) override;
  Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) override;
  Status DeleteSecret(const std::string& name, int64_t expected_version) override;
  Status RewrapSecret(const std::string& name, const SealedValue& from,
                      const SealedValue& to) override;

 protected:
  MemoryPeople(const Clock& clock, uint32_t segment_count)
      : clock_(clock), tables_(segment_count) {}

  const Clock& clock_;
  mutable Mutex mu_;
  Tables tables_ GUARDED_BY(mu_);

 private:
  // Null: there is none of that version.
  Result<UserRecord*> FindUserAt(const std::string& user_id, int64_t version) REQUIRES(mu_);
  Status CheckAdministratorLeft(const std::string& without) REQUIRES(mu_);
  bool HasAdministrator(const std::string& beside) const REQUIRES(mu_);
  Status InsertUser(const UserRecord& user) REQUIRES(mu_);
};

}  // namespace carillon::memory
