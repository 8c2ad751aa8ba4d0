// The part of the memory store that belongs to users: accounts, secrets and bulk actions. It uses
// the tables and the mutex of the whole store (memory_store.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/secret_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryPeople : public AuthStore, public SecretStore, public BulkStore {
 public:
  // AuthStore
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

  // SecretStore
  Status CreateSecret(const StoredSecret& secret) override;
  Result<StoredSecret> GetSecret(const std::string& name) override;
  Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) override;
  Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) override;
  Result<BoundedCount> CountSecrets() override;
  Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) override;
  Status DeleteSecret(const std::string& name, int64_t expected_version) override;
  Status RewrapSecret(const std::string& name, const SealedValue& from,
                      const SealedValue& to) override;

  // BulkStore
  Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                const std::optional<KeyedAnswer<BulkAction>>& keyed) override;
  Result<BulkAction> GetBulk(const std::string& bulk_id) override;
  Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) override;
  Result<BoundedCount> CountBulk(const BulkFilter& filter) override;
  Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) override;
  Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                      const BulkItemFilter& filter) override;
  Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) override;
  Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) override;
  Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease, int64_t last_position,
                                               WallTime now, WallTime until) override;
  Result<BulkAction> RecordBulkItems(const BulkLease& lease, const std::vector<BulkItem>& items,
                                     WallTime now, WallTime until) override;
  Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                              const std::string& begun_error_json, WallTime now) override;
  Status ReleaseBulk(const BulkLease& lease) override;

 protected:
  MemoryPeople(const Clock& clock, uint32_t segment_count)
      : clock_(clock), tables_(segment_count) {}

  const Clock& clock_;
  mutable Mutex mu_;
  Tables tables_ GUARDED_BY(mu_);

 private:
  // kNotFound: there is no such user. kConflict: the user has another version.
  Result<UserRecord*> FindUserAt(const std::string& user_id, int64_t version) REQUIRES(mu_);
  Status CheckAdministratorLeft(const std::string& without) REQUIRES(mu_);
  bool HasAdministrator(const std::string& beside) const REQUIRES(mu_);
  Status InsertUser(const UserRecord& user) REQUIRES(mu_);
  std::vector<LaterRefresh> LaterThan(const RefreshRecord& record) const REQUIRES(mu_);
  void EndFamily(const std::string& family) REQUIRES(mu_);
  // Null: there is none.
  BulkEntry* FindBulk(const std::string& bulk_id) REQUIRES(mu_);
  Result<BulkEntry*> FindLeased(const BulkLease& lease) REQUIRES(mu_);
};

}  // namespace carillon::memory
