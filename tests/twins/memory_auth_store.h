// The port AuthStore in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/ports/store/auth_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryAuthStore final : public AuthStore {
 public:
  explicit MemoryAuthStore(MemoryTables& tables) : tables_(tables) {}

  Result<bool> NeedsSetup() override;
  Status PutSetupLink(const std::string& token_hash, WallTime expires) override;
  Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) override;
  Status CreateUser(const UserRecord& user) override;
  Result<UserRecord> GetUser(const std::string& user_id) override;
  Result<std::optional<UserRecord>> FindUser(const std::string& name) override;
  Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) override;
  Result<BoundedCount> CountUsers() override;
  Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) override;
  Result<Preferences> ChangePreferences(const PreferenceChange& change) override;
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
  Result<BoundedCount> CountTokens(const TokenFilter& filter) override;
  Result<TokenRecord> GetToken(const std::string& token_id) override;
  Status DeleteToken(const std::string& token_id) override;
  Status TouchToken(const std::string& token_id, WallTime used) override;
  Result<std::string> EnsureSigningKey(const std::string& fresh) override;

 private:
  // kNotFound: there is no such user. kConflict: the user has another version.
  Result<UserRecord*> FindUserAt(const std::string& user_id, int64_t version) REQUIRES(tables_.mu);
  Status CheckAdministratorLeft(const std::string& without) REQUIRES(tables_.mu);
  bool HasAdministrator(const std::string& beside) const REQUIRES(tables_.mu);
  Status InsertUser(const UserRecord& user) REQUIRES(tables_.mu);
  std::vector<LaterRefresh> LaterThan(const RefreshRecord& record) const REQUIRES(tables_.mu);
  void EndFamily(const std::string& family) REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

}  // namespace carillon::memory
