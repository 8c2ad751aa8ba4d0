// The store in memory with injected faults: an operation can fail before it takes effect, or take
// effect and lose its reply.
#pragma once

#include "scheduler/api/logs/log_reads.h"
#include "tests/twins/memory_stores.h"
#include "tests/unit/scheduler/api/fault_plan.h"
#include "tests/unit/scheduler/api/faulty_backfills.h"
#include "tests/unit/scheduler/api/faulty_groups.h"

namespace carillon::test {

// The name for faults of every count of a list is "Count".
class FaultyJobs : public JobStore {
 public:
  FaultyJobs(JobStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override {
    return plan_.Run("CreateJob", [&] { return store_.CreateJob(id, definition, context); });
  }
  Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) override {
    return plan_.Run("CreateJobs", [&] { return store_.CreateJobs(jobs, context); });
  }
  Result<FoundJobs> FindJobs(const JobKeys& keys) override {
    return plan_.Run("FindJobs", [&] { return store_.FindJobs(keys); });
  }
  Result<StoredJob> GetJob(const JobId& id) override {
    return plan_.Run("GetJob", [&] { return store_.GetJob(id); });
  }
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override {
    return plan_.Run("ListVersions", [&] { return store_.ListVersions(id, before, limit); });
  }
  Result<BoundedCount> CountVersions(const JobId& id) override {
    return plan_.Run("Count", [&] { return store_.CountVersions(id); });
  }
  Result<JobHead> GetJobHead(const JobId& id) override {
    return plan_.Run("GetJobHead", [&] { return store_.GetJobHead(id); });
  }
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override {
    return plan_.Run("ListNamespaces", [&] { return store_.ListNamespaces(after, limit); });
  }
  Result<BoundedCount> CountNamespaces() override {
    return plan_.Run("Count", [&] { return store_.CountNamespaces(); });
  }
  Result<JobPage> ListJobs(const JobFilter& filter) override {
    return plan_.Run("ListJobs", [&] { return store_.ListJobs(filter); });
  }
  Result<BoundedCount> CountJobs(const JobFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountJobs(filter); });
  }
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t version, const JobDefinition& definition,
                               const WriteContext& context) override {
    return plan_.Run("ReplaceJob",
                     [&] { return store_.ReplaceJob(id, version, definition, context); });
  }
  Result<StoredJob> PauseJob(const JobId& id, const std::string& why,
                             const WriteContext& context) override {
    return plan_.Run("PauseJob", [&] { return store_.PauseJob(id, why, context); });
  }
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& why,
                              const WriteContext& context) override {
    return plan_.Run("ResumeJob", [&] { return store_.ResumeJob(id, why, context); });
  }
  Result<JobDependencies> ListDependencies(const JobId& id) override {
    return plan_.Run("ListDependencies", [&] { return store_.ListDependencies(id); });
  }
  Status DeleteJob(const JobId& id, int64_t version, const WriteContext& context) override {
    return plan_.Run("DeleteJob", [&] { return store_.DeleteJob(id, version, context); });
  }

 private:
  JobStore& store_;
  FaultPlan& plan_;
};

class FaultyRuns : public RunStore {
 public:
  FaultyRuns(RunStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override {
    return plan_.Run("ExecuteJob", [&] { return store_.ExecuteJob(request, context); });
  }
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override {
    return plan_.Run("CancelRun", [&] { return store_.CancelRun(key, context); });
  }
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override {
    return plan_.Run("CancelJobRuns", [&] { return store_.CancelJobRuns(id, context); });
  }
  Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) override {
    return plan_.Run("RetryRun", [&] { return store_.RetryRun(request, context); });
  }
  Result<RunDetail> GetRun(const RunKey& key) override {
    return plan_.Run("GetRun", [&] { return store_.GetRun(key); });
  }
  Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) override {
    return plan_.Run("ListRuns", [&] { return store_.ListRuns(filter, now); });
  }
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override {
    return plan_.Run("Count", [&] { return store_.CountRuns(filter, now); });
  }
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override {
    return plan_.Run("ListRecentRuns", [&] { return store_.ListRecentRuns(filter); });
  }
  Result<uint64_t> RunsFingerprint(WallTime now) override {
    return plan_.Run("RunsFingerprint", [&] { return store_.RunsFingerprint(now); });
  }
  Result<GapPage> ListGaps(const GapFilter& filter) override {
    return plan_.Run("ListGaps", [&] { return store_.ListGaps(filter); });
  }
  Result<BoundedCount> CountGaps(const GapFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountGaps(filter); });
  }
  Result<RunCounts> CountOpenRuns() override {
    return plan_.Run("CountOpenRuns", [&] { return store_.CountOpenRuns(); });
  }
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override {
    return plan_.Run("ListDeadLetters", [&] { return store_.ListDeadLetters(filter); });
  }
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountDeadLetters(filter); });
  }
  Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) override {
    return plan_.Run("ListDeadLetterJobs", [&] { return store_.ListDeadLetterJobs(filter); });
  }
  Result<DeadLetter> GetDeadLetter(uint64_t id) override {
    return plan_.Run("GetDeadLetter", [&] { return store_.GetDeadLetter(id); });
  }
  Status DiscardDeadLetter(uint64_t id) override {
    return plan_.Run("DiscardDeadLetter", [&] { return store_.DiscardDeadLetter(id); });
  }

 private:
  RunStore& store_;
  FaultPlan& plan_;
};

class FaultyIdempotency : public IdempotencyStore {
 public:
  FaultyIdempotency(IdempotencyStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override {
    return plan_.Run("BeginRequest",
                     [&] { return store_.BeginRequest(scope, key, fingerprint, now); });
  }
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override {
    return plan_.Run("FinishRequest", [&] { return store_.FinishRequest(scope, key, answer); });
  }
  Status AbandonRequest(const std::string& scope, const std::string& key) override {
    return plan_.Run("AbandonRequest", [&] { return store_.AbandonRequest(scope, key); });
  }

 private:
  IdempotencyStore& store_;
  FaultPlan& plan_;
};

class FaultySettings : public SettingsStore {
 public:
  FaultySettings(SettingsStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<ClusterSettings> ReadSettings() override {
    return plan_.Run("ReadSettings", [&] { return store_.ReadSettings(); });
  }
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                        Duration paused) override {
    return plan_.Run("WriteSettings", [&] { return store_.WriteSettings(expected, next, paused); });
  }

 private:
  SettingsStore& store_;
  FaultPlan& plan_;
};

class FaultyAudit : public AuditStore {
 public:
  FaultyAudit(AuditStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Status RecordAudit(const AuditRecord& record) override {
    return plan_.Run("RecordAudit", [&] { return store_.RecordAudit(record); });
  }
  Status RecordAudits(const std::vector<AuditRecord>& records) override {
    return plan_.Run("RecordAudits", [&] { return store_.RecordAudits(records); });
  }
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override {
    return plan_.Run("ListAudit", [&] { return store_.ListAudit(filter); });
  }
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountAudit(filter); });
  }

 private:
  AuditStore& store_;
  FaultPlan& plan_;
};

class FaultyAuth : public AuthStore {
 public:
  FaultyAuth(AuthStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<bool> NeedsSetup() override {
    return plan_.Run("NeedsSetup", [&] { return store_.NeedsSetup(); });
  }
  Status PutSetupLink(const std::string& token_hash, WallTime expires) override {
    return plan_.Run("PutSetupLink", [&] { return store_.PutSetupLink(token_hash, expires); });
  }
  Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) override {
    return plan_.Run("Setup", [&] { return store_.Setup(token_hash, user, now); });
  }
  Status CreateUser(const UserRecord& user) override {
    return plan_.Run("CreateUser", [&] { return store_.CreateUser(user); });
  }
  Result<UserRecord> GetUser(const std::string& user_id) override {
    return plan_.Run("GetUser", [&] { return store_.GetUser(user_id); });
  }
  Result<std::optional<UserRecord>> FindUser(const std::string& name) override {
    return plan_.Run("FindUser", [&] { return store_.FindUser(name); });
  }
  Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) override {
    return plan_.Run("ListUsers", [&] { return store_.ListUsers(listing); });
  }
  Result<BoundedCount> CountUsers() override {
    return plan_.Run("Count", [&] { return store_.CountUsers(); });
  }
  Result<UserRecord> UpdateUser(const UserRecord& wanted, WallTime now) override {
    return plan_.Run("UpdateUser", [&] { return store_.UpdateUser(wanted, now); });
  }
  Result<Preferences> ChangePreferences(const PreferenceChange& change) override {
    return plan_.Run("ChangePreferences", [&] { return store_.ChangePreferences(change); });
  }
  Status DeleteUser(const std::string& user_id, int64_t expected_version) override {
    return plan_.Run("DeleteUser", [&] { return store_.DeleteUser(user_id, expected_version); });
  }
  Status CreateSession(const RefreshRecord& first) override {
    return plan_.Run("CreateSession", [&] { return store_.CreateSession(first); });
  }
  Result<Rotation> RotateSession(const std::string& used_hash, const std::string& new_hash,
                                 WallTime now, WallTime expires) override {
    return plan_.Run("RotateSession",
                     [&] { return store_.RotateSession(used_hash, new_hash, now, expires); });
  }
  Result<std::optional<EndedSession>> EndSession(const std::string& token_hash) override {
    return plan_.Run("EndSession", [&] { return store_.EndSession(token_hash); });
  }
  Result<std::optional<UserRecord>> FindSession(const std::string& family, WallTime now) override {
    return plan_.Run("FindSession", [&] { return store_.FindSession(family, now); });
  }
  Status CreateFirstToken(const TokenRecord& token) override {
    return plan_.Run("CreateFirstToken", [&] { return store_.CreateFirstToken(token); });
  }
  Status CreateToken(const TokenRecord& token) override {
    return plan_.Run("CreateToken", [&] { return store_.CreateToken(token); });
  }
  Result<std::optional<FoundToken>> FindToken(const std::string& token_hash) override {
    return plan_.Run("FindToken", [&] { return store_.FindToken(token_hash); });
  }
  Result<std::vector<TokenRecord>> ListTokens(const TokenFilter& filter) override {
    return plan_.Run("ListTokens", [&] { return store_.ListTokens(filter); });
  }
  Result<BoundedCount> CountTokens(const TokenFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountTokens(filter); });
  }
  Result<TokenRecord> GetToken(const std::string& token_id) override {
    return plan_.Run("GetToken", [&] { return store_.GetToken(token_id); });
  }
  Status DeleteToken(const std::string& token_id) override {
    return plan_.Run("DeleteToken", [&] { return store_.DeleteToken(token_id); });
  }
  Status TouchToken(const std::string& token_id, WallTime used) override {
    return plan_.Run("TouchToken", [&] { return store_.TouchToken(token_id, used); });
  }
  Result<std::string> EnsureSigningKey(const std::string& fresh) override {
    return plan_.Run("EnsureSigningKey", [&] { return store_.EnsureSigningKey(fresh); });
  }

 private:
  AuthStore& store_;
  FaultPlan& plan_;
};

class FaultyBulk : public BulkStore {
 public:
  FaultyBulk(BulkStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Result<BulkAction> CreateBulk(const BulkOrder& order, const std::vector<std::string>& ids,
                                const std::optional<KeyedAnswer<BulkAction>>& keyed) override {
    return plan_.Run("CreateBulk", [&] { return store_.CreateBulk(order, ids, keyed); });
  }
  Result<BulkAction> GetBulk(const std::string& bulk_id) override {
    return plan_.Run("GetBulk", [&] { return store_.GetBulk(bulk_id); });
  }
  Result<std::vector<BulkAction>> ListBulk(const BulkFilter& filter) override {
    return plan_.Run("ListBulk", [&] { return store_.ListBulk(filter); });
  }
  Result<BoundedCount> CountBulk(const BulkFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountBulk(filter); });
  }
  Result<std::vector<BulkItem>> ListBulkItems(const std::string& bulk_id,
                                              const BulkItemFilter& filter) override {
    return plan_.Run("ListBulkItems", [&] { return store_.ListBulkItems(bulk_id, filter); });
  }
  Result<BoundedCount> CountBulkItems(const std::string& bulk_id,
                                      const BulkItemFilter& filter) override {
    return plan_.Run("Count", [&] { return store_.CountBulkItems(bulk_id, filter); });
  }
  Result<BulkAction> CancelBulk(const std::string& bulk_id, WallTime now) override {
    return plan_.Run("CancelBulk", [&] { return store_.CancelBulk(bulk_id, now); });
  }
  Result<std::optional<LeasedBulk>> TakeBulk(WallTime now, WallTime until) override {
    return plan_.Run("TakeBulk", [&] { return store_.TakeBulk(now, until); });
  }
  Result<std::vector<BulkItem>> BeginBulkItems(const BulkLease& lease, int64_t last_position,
                                               WallTime now, WallTime until) override {
    return plan_.Run("BeginBulkItems",
                     [&] { return store_.BeginBulkItems(lease, last_position, now, until); });
  }
  Result<BulkAction> RecordBulkItems(const BulkLease& lease, const std::vector<BulkItem>& items,
                                     WallTime now, WallTime until) override {
    return plan_.Run("RecordBulkItems",
                     [&] { return store_.RecordBulkItems(lease, items, now, until); });
  }
  Result<BulkAction> StopBulk(const BulkLease& lease, const std::string& error,
                              const std::string& begun_error_json, WallTime now) override {
    return plan_.Run("StopBulk",
                     [&] { return store_.StopBulk(lease, error, begun_error_json, now); });
  }
  Status ReleaseBulk(const BulkLease& lease) override {
    return plan_.Run("ReleaseBulk", [&] { return store_.ReleaseBulk(lease); });
  }

 private:
  BulkStore& store_;
  FaultPlan& plan_;
};

class FaultyLogs : public LogStore {
 public:
  FaultyLogs(LogStore& store, FaultPlan& plan) : store_(store), plan_(plan) {}
  Status AppendLogs(const std::vector<LogRecord>& records) override {
    return plan_.Run("AppendLogs", [&] { return store_.AppendLogs(records); });
  }
  Result<std::vector<size_t>> FindForeign(const std::vector<LogOrigin>& origins) override {
    return store_.FindForeign(origins);
  }
  Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                        size_t bytes_max) override {
    const bool is_long = bytes_max > scheduler::LogReads::kShortLogBytes;
    return plan_.Run(is_long ? "ReadLongLog" : "ReadLog",
                     [&] { return store_.ReadLog(key, attempt, from_seq, bytes_max); });
  }
  Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) override {
    return plan_.Run("GetLogExtent", [&] { return store_.GetLogExtent(key, attempt); });
  }

 private:
  LogStore& store_;
  FaultPlan& plan_;
};

struct FaultyStores {
  explicit FaultyStores(memory::MemoryStores& stores)
      : jobs(stores.jobs, plan),
        runs(stores.runs, plan),
        idempotency(stores.idempotency, plan),
        settings(stores.settings, plan),
        audit(stores.audit, plan),
        auth(stores.auth, plan),
        bulk(stores.bulk, plan),
        backfills(stores.backfills, plan),
        groups(stores.groups, plan),
        logs(stores.logs, plan) {}
  FaultPlan plan;
  FaultyJobs jobs;
  FaultyRuns runs;
  FaultyIdempotency idempotency;
  FaultySettings settings;
  FaultyAudit audit;
  FaultyAuth auth;
  FaultyBulk bulk;
  FaultyBackfills backfills;
  FaultyGroups groups;
  FaultyLogs logs;
};

}  // namespace carillon::test
