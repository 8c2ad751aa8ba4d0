// The port AuthStore on MariaDB or MySQL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/auth_store.h"

namespace carillon::mysql {

class MysqlAuthStore final : public AuthStore {
 public:
  explicit MysqlAuthStore(MysqlDatabase& db) : db_(db) {}

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
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
