// The store ports of records beside jobs and runs, paired: each call goes to both stores
// (pairing.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/secret_store.h"
#include "tests/histories/pairing.h"

namespace carillon::test {

class PairedLogStore final : public Paired<LogStore> {
 public:
  using Paired::Paired;
  Status AppendLogs(const std::vector<LogRecord>& records) override {
    return Both("AppendLogs", &LogStore::AppendLogs, records);
  }
  Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& origins) override {
    return Both("FindForeign", &LogStore::FindForeign, origins);
  }
  Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                        size_t bytes_max) override {
    return Both("ReadLog", &LogStore::ReadLog, key, attempt, from_seq, bytes_max);
  }
  Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) override {
    return Both("GetLogExtent", &LogStore::GetLogExtent, key, attempt);
  }
};

class PairedNoticeStore final : public Paired<NoticeStore> {
 public:
  using Paired::Paired;
  Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                              size_t limit) override {
    return Both("ScanNotices", &NoticeStore::ScanNotices, segments, limit);
  }
  Result<std::optional<RunDetail>> FindRun(const Notice& notice) override {
    return Both("FindRun", &NoticeStore::FindRun, notice);
  }
  Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                       WallTime now) override {
    return Both("DecideNotices", &NoticeStore::DecideNotices, decisions, fence, now);
  }
  Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) override {
    return Both("AddNotices", &NoticeStore::AddNotices, notices, fence);
  }
  Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                      std::optional<JobNo> after, WallTime now,
                                      size_t limit) override {
    return Both("ScanRecoveries", &NoticeStore::ScanRecoveries, segments, after, now, limit);
  }
  Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                               const std::vector<DeliveryChannel>& channels,
                                               WallTime now, size_t limit) override {
    return Both("ScanDeliveries", &NoticeStore::ScanDeliveries, segments, channels, now, limit);
  }
  Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence, WallTime now) override {
    return Both("RecordDelivery", &NoticeStore::RecordDelivery, outcome, fence, now);
  }
  Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) override {
    return Both("ReadBacklog", &NoticeStore::ReadBacklog, segments);
  }
  Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) override {
    return Both("ListDeliveries", &NoticeStore::ListDeliveries, filter);
  }
  Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) override {
    return Both("CountDeliveries", &NoticeStore::CountDeliveries, filter);
  }
  Result<Delivery> ResendDelivery(uint64_t id, WallTime now) override {
    return Both("ResendDelivery", &NoticeStore::ResendDelivery, RowId{IdOf::kDelivery, id}, now);
  }
};

class PairedExecutorStore final : public Paired<ExecutorStore> {
 public:
  using Paired::Paired;
  Result<std::vector<ExecutorRecord>> RegisterExecutors(
      const std::vector<ExecutorRecord>& records) override {
    return Both("RegisterExecutors", &ExecutorStore::RegisterExecutors, records);
  }
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override {
    return Both("UpdateExecutors", &ExecutorStore::UpdateExecutors, records);
  }
  Status UpdateAbilities(const std::vector<ExecutorRecord>& records) override {
    return Both("UpdateAbilities", &ExecutorStore::UpdateAbilities, records);
  }
  Result<std::vector<ExecutorRecord>> ListExecutors() override {
    return Both("ListExecutors", &ExecutorStore::ListExecutors);
  }
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override {
    return Both("GetExecutor", &ExecutorStore::GetExecutor, id);
  }
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override {
    return Both("SetExecutorEnabled", &ExecutorStore::SetExecutorEnabled, id, enabled);
  }
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override {
    return Both("SetExecutorDraining", &ExecutorStore::SetExecutorDraining, id, draining);
  }
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override {
    return Both("SetExecutorLabels", &ExecutorStore::SetExecutorLabels, edit);
  }
};

class PairedIdempotencyStore final : public Paired<IdempotencyStore> {
 public:
  using Paired::Paired;
  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override {
    return Both("BeginRequest", &IdempotencyStore::BeginRequest, scope, key, fingerprint, now);
  }
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override {
    return Both("FinishRequest", &IdempotencyStore::FinishRequest, scope, key, answer);
  }
  Status AbandonRequest(const std::string& scope, const std::string& key) override {
    return Both("AbandonRequest", &IdempotencyStore::AbandonRequest, scope, key);
  }
};

class PairedAuditStore final : public Paired<AuditStore> {
 public:
  using Paired::Paired;
  Status RecordAudit(const AuditRecord& record) override {
    return Both("RecordAudit", &AuditStore::RecordAudit, record);
  }
  Status RecordAudits(const std::vector<AuditRecord>& records) override {
    return Both("RecordAudits", &AuditStore::RecordAudits, records);
  }
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override {
    return Both("ListAudit", &AuditStore::ListAudit, filter);
  }
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override {
    return Both("CountAudit", &AuditStore::CountAudit, filter);
  }
};

class PairedSecretStore final : public Paired<SecretStore> {
 public:
  using Paired::Paired;
  Status CreateSecret(const StoredSecret& secret) override {
    return Both("CreateSecret", &SecretStore::CreateSecret, secret);
  }
  Result<StoredSecret> GetSecret(const std::string& name) override {
    return Both("GetSecret", &SecretStore::GetSecret, name);
  }
  Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) override {
    return Both("FindSecrets", &SecretStore::FindSecrets, names);
  }
  Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) override {
    return Both("ListSecrets", &SecretStore::ListSecrets, filter);
  }
  Result<BoundedCount> CountSecrets() override {
    return Both("CountSecrets", &SecretStore::CountSecrets);
  }
  Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) override {
    return Both("UpdateSecret", &SecretStore::UpdateSecret, wanted, now);
  }
  Status DeleteSecret(const std::string& name, int64_t expected_version) override {
    return Both("DeleteSecret", &SecretStore::DeleteSecret, name, expected_version);
  }
  Status RewrapSecret(const std::string& name, const SealedValue& from,
                      const SealedValue& to) override {
    return Both("RewrapSecret", &SecretStore::RewrapSecret, name, from, to);
  }
};

class PairedAuthStore final : public Paired<AuthStore> {
 public:
  using Paired::Paired;
  Result<bool> NeedsSetup() override { return Both("NeedsSetup", &AuthStore::NeedsSetup); }
  Status PutSetupLink(const std::string& token_hash, WallTime expires) override {
    return Both("PutSetupLink", &AuthStore::PutSetupLink, token_hash, expires);
  }
  Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) override {
    return Both("Setup", &AuthStore::Setup, token_hash, user, now);
  }
  Status CreateUser(const UserRecord& user) override {
    return Both("CreateUser", &AuthStore::CreateUser, user);
  }
  Result<UserRecord> GetUser(const std::string& user_id) override {
    return Both("GetUser", &AuthStore::GetUser, user_id);
  }
  Result<std::optional<UserRecord>> FindUser(const std::string& name) override {
    return Both("FindUser", &AuthStore::FindUser, name);
  }
  Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) override {
    return Both("ListUsers", &AuthStore::ListUsers, listing);
  }
  Result<BoundedCount> CountUsers() override { return Both("CountUsers", &AuthStore::CountUsers); }
  Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) override {
    return Both("UpdateUser", &AuthStore::UpdateUser, wanted, now);
  }
  Result<Preferences> ChangePreferences(const PreferenceChange& change) override {
    return Both("ChangePreferences", &AuthStore::ChangePreferences, change);
  }
  Status DeleteUser(const std::string& user_id, int64_t expected_version) override {
    return Both("DeleteUser", &AuthStore::DeleteUser, user_id, expected_version);
  }
  Status CreateSession(const RefreshRecord& first) override {
    return Both("CreateSession", &AuthStore::CreateSession, first);
  }
  Result<Rotation> RotateSession(const std::string& used_hash, const std::string& new_hash,
                                 WallTime now, WallTime expires) override {
    return Both("RotateSession", &AuthStore::RotateSession, used_hash, new_hash, now, expires);
  }
  Result<std::optional<EndedSession>> EndSession(const std::string& token_hash) override {
    return Both("EndSession", &AuthStore::EndSession, token_hash);
  }
  Result<std::optional<UserRecord>> FindSession(const std::string& family, WallTime now) override {
    return Both("FindSession", &AuthStore::FindSession, family, now);
  }
  Status CreateFirstToken(const TokenRecord& token) override {
    return Both("CreateFirstToken", &AuthStore::CreateFirstToken, token);
  }
  Status CreateToken(const TokenRecord& token) override {
    return Both("CreateToken", &AuthStore::CreateToken, token);
  }
  Result<std::optional<FoundToken>> FindToken(const std::string& token_hash) override {
    return Both("FindToken", &AuthStore::FindToken, token_hash);
  }
  Result<std::vector<TokenRecord>> ListTokens(const TokenFilter& filter) override {
    return Both("ListTokens", &AuthStore::ListTokens, filter);
  }
  Result<BoundedCount> CountTokens(const TokenFilter& filter) override {
    return Both("CountTokens", &AuthStore::CountTokens, filter);
  }
  Result<TokenRecord> GetToken(const std::string& token_id) override {
    return Both("GetToken", &AuthStore::GetToken, token_id);
  }
  Status DeleteToken(const std::string& token_id) override {
    return Both("DeleteToken", &AuthStore::DeleteToken, token_id);
  }
  Status TouchToken(const std::string& token_id, WallTime used) override {
    return Both("TouchToken", &AuthStore::TouchToken, token_id, used);
  }
  Result<std::string> EnsureSigningKey(const std::string& fresh) override {
    return Both("EnsureSigningKey", &AuthStore::EnsureSigningKey, fresh);
  }
};

}  // namespace carillon::test
