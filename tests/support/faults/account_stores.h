// The store ports of accounts and requests whose calls go through a CallGate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/secret_store.h"
#include "tests/support/faults/fault_store.h"

namespace carillon::test {

class FaultAuthStore : public FaultStore<AuthStore> {
 public:
  using FaultStore::FaultStore;
  Result<bool> NeedsSetup() override { return Call("NeedsSetup", &AuthStore::NeedsSetup); }
  Status PutSetupLink(const std::string& token_hash, WallTime expires) override {
    return Call("PutSetupLink", &AuthStore::PutSetupLink, token_hash, expires);
  }
  Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) override {
    return Call("Setup", &AuthStore::Setup, token_hash, user, now);
  }
  Status CreateUser(const UserRecord& user) override {
    return Call("CreateUser", &AuthStore::CreateUser, user);
  }
  Result<UserRecord> GetUser(const std::string& user_id) override {
    return Call("GetUser", &AuthStore::GetUser, user_id);
  }
  Result<std::optional<UserRecord>> FindUser(const std::string& name) override {
    return Call("FindUser", &AuthStore::FindUser, name);
  }
  Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) override {
    return Call("ListUsers", &AuthStore::ListUsers, listing);
  }
  Result<BoundedCount> CountUsers() override { return Call("CountUsers", &AuthStore::CountUsers); }
  Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) override {
    return Call("UpdateUser", &AuthStore::UpdateUser, wanted, now);
  }
  Result<Preferences> ChangePreferences(const PreferenceChange& change) override {
    return Call("ChangePreferences", &AuthStore::ChangePreferences, change);
  }
  Status DeleteUser(const std::string& user_id, int64_t expected_version) override {
    return Call("DeleteUser", &AuthStore::DeleteUser, user_id, expected_version);
  }
  Status CreateSession(const RefreshRecord& first) override {
    return Call("CreateSession", &AuthStore::CreateSession, first);
  }
  Result<Rotation> RotateSession(const std::string& used_hash, const std::string& new_hash,
                                 WallTime now, WallTime expires) override {
    return Call("RotateSession", &AuthStore::RotateSession, used_hash, new_hash, now, expires);
  }
  Result<std::optional<EndedSession>> EndSession(const std::string& token_hash) override {
    return Call("EndSession", &AuthStore::EndSession, token_hash);
  }
  Result<std::optional<UserRecord>> FindSession(const std::string& family, WallTime now) override {
    return Call("FindSession", &AuthStore::FindSession, family, now);
  }
  Status CreateFirstToken(const TokenRecord& token) override {
    return Call("CreateFirstToken", &AuthStore::CreateFirstToken, token);
  }
  Status CreateToken(const TokenRecord& token) override {
    return Call("CreateToken", &AuthStore::CreateToken, token);
  }
  Result<std::optional<FoundToken>> FindToken(const std::string& token_hash) override {
    return Call("FindToken", &AuthStore::FindToken, token_hash);
  }
  Result<std::vector<TokenRecord>> ListTokens(const TokenFilter& filter) override {
    return Call("ListTokens", &AuthStore::ListTokens, filter);
  }
  Result<BoundedCount> CountTokens(const TokenFilter& filter) override {
    return Call("CountTokens", &AuthStore::CountTokens, filter);
  }
  Result<TokenRecord> GetToken(const std::string& token_id) override {
    return Call("GetToken", &AuthStore::GetToken, token_id);
  }
  Status DeleteToken(const std::string& token_id) override {
    return Call("DeleteToken", &AuthStore::DeleteToken, token_id);
  }
  Status TouchToken(const std::string& token_id, WallTime used) override {
    return Call("TouchToken", &AuthStore::TouchToken, token_id, used);
  }
  Result<std::string> EnsureSigningKey(const std::string& fresh) override {
    return Call("EnsureSigningKey", &AuthStore::EnsureSigningKey, fresh);
  }
};

class FaultAuditStore : public FaultStore<AuditStore> {
 public:
  using FaultStore::FaultStore;
  Status RecordAudit(const AuditRecord& record) override {
    return Call("RecordAudit", &AuditStore::RecordAudit, record);
  }
  Status RecordAudits(const std::vector<AuditRecord>& records) override {
    return Call("RecordAudits", &AuditStore::RecordAudits, records);
  }
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override {
    return Call("ListAudit", &AuditStore::ListAudit, filter);
  }
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override {
    return Call("CountAudit", &AuditStore::CountAudit, filter);
  }
};

class FaultIdempotencyStore : public FaultStore<IdempotencyStore> {
 public:
  using FaultStore::FaultStore;
  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override {
    return Call("BeginRequest", &IdempotencyStore::BeginRequest, scope, key, fingerprint, now);
  }
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override {
    return Call("FinishRequest", &IdempotencyStore::FinishRequest, scope, key, answer);
  }
  Status AbandonRequest(const std::string& scope, const std::string& key) override {
    return Call("AbandonRequest", &IdempotencyStore::AbandonRequest, scope, key);
  }
};

class FaultBulkStore : public FaultStore<BulkStore> {
 public:
  using FaultStore::FaultStore;
  Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                const std::optional<KeyedAnswer<BulkAction>>& keyed) override {
    return Call("CreateBulk", &BulkStore::CreateBulk, order, ids, keyed);
  }
  Result<BulkAction> GetBulk(const std::string& bulk_id) override {
    return Call("GetBulk", &BulkStore::GetBulk, bulk_id);
  }
  Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) override {
    return Call("ListBulk", &BulkStore::ListBulk, filter);
  }
  Result<BoundedCount> CountBulk(const BulkFilter& filter) override {
    return Call("CountBulk", &BulkStore::CountBulk, filter);
  }
  Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) override {
    return Call("ListBulkItems", &BulkStore::ListBulkItems, bulk_id, filter);
  }
  Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                      const BulkItemFilter& filter) override {
    return Call("CountBulkItems", &BulkStore::CountBulkItems, bulk_id, filter);
  }
  Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) override {
    return Call("CancelBulk", &BulkStore::CancelBulk, bulk_id, now);
  }
  Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) override {
    return Call("TakeBulk", &BulkStore::TakeBulk, now, until);
  }
  Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease, int64_t last_position,
                                               WallTime now, WallTime until) override {
    return Call("BeginBulkItems", &BulkStore::BeginBulkItems, lease, last_position, now, until);
  }
  Result<BulkAction> RecordBulkItems(const BulkLease& lease, const std::vector<BulkItem>& items,
                                     WallTime now, WallTime until) override {
    return Call("RecordBulkItems", &BulkStore::RecordBulkItems, lease, items, now, until);
  }
  Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                              const std::string& begun_error_json, WallTime now) override {
    return Call("StopBulk", &BulkStore::StopBulk, lease, error, begun_error_json, now);
  }
  Status ReleaseBulk(const BulkLease& lease) override {
    return Call("ReleaseBulk", &BulkStore::ReleaseBulk, lease);
  }
};

class FaultSecretStore : public FaultStore<SecretStore> {
 public:
  using FaultStore::FaultStore;
  Status CreateSecret(const StoredSecret& secret) override {
    return Call("CreateSecret", &SecretStore::CreateSecret, secret);
  }
  Result<StoredSecret> GetSecret(const std::string& name) override {
    return Call("GetSecret", &SecretStore::GetSecret, name);
  }
  Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) override {
    return Call("FindSecrets", &SecretStore::FindSecrets, names);
  }
  Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) override {
    return Call("ListSecrets", &SecretStore::ListSecrets, filter);
  }
  Result<BoundedCount> CountSecrets() override {
    return Call("CountSecrets", &SecretStore::CountSecrets);
  }
  Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) override {
    return Call("UpdateSecret", &SecretStore::UpdateSecret, wanted, now);
  }
  Status DeleteSecret(const std::string& name, int64_t expected_version) override {
    return Call("DeleteSecret", &SecretStore::DeleteSecret, name, expected_version);
  }
  Status RewrapSecret(const std::string& name, const SealedValue& from,
                      const SealedValue& to) override {
    return Call("RewrapSecret", &SecretStore::RewrapSecret, name, from, to);
  }
};

}  // namespace carillon::test
