// The store on MariaDB or MySQL: every port of the store over one pool of connections.
//
// Place    The only truth of a cluster; sql/README.md explains its tables. Open makes one whose
//          calls all go through, Behind others on its connections that ask a gate first.
// Threads  Thread-safe; calls block for the pool's wait plus the statement time-outs at most.
// Time     Now() is the database's clock; everything else is told `now`.
// Errors   As the ports say. Open also: kDenied for a wrong user, kConflict for a schema that is
//          newer than this program or was changed by hand.
// Always   Lock order: segments, executors, jobs, schedules, runs, slots; keys sorted within each.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/adapters/mysql/id_blocks.h"
#include "common/adapters/mysql/incarnations.h"
#include "common/adapters/mysql/mysql_bulk.h"
#include "common/adapters/mysql/mysql_counts.h"
#include "common/adapters/mysql/plain_writes.h"
#include "common/adapters/mysql/pool.h"
#include "common/ports/admin_store.h"
#include "common/ports/auth_store.h"
#include "common/ports/executor_store.h"
#include "common/ports/firing_store.h"
#include "common/ports/identity_store.h"
#include "common/ports/job_store.h"
#include "common/ports/log_store.h"
#include "common/ports/notice_store.h"
#include "common/ports/run_store.h"
#include "common/ports/secret_store.h"
#include "common/ports/segment_store.h"

namespace carillon::mysql {

struct MysqlOptions {
  SessionOptions session;
  size_t pool_size = 8;
  Duration pool_wait = 5s;
  bool create_database = false;  // make session.database if it is not there
  uint32_t segment_count = 64;   // of a new store; an existing one keeps its own
  bool check_server = true;      // server_checks.h; false: tests that do not look at crashes
  Metrics* metrics = nullptr;    // counts rows that cannot be read; outlives the store
};

inline constexpr int64_t kCountedMax = 100'000;

class MysqlStore final : public IdentityStore,
                         public SegmentStore,
                         public FiringStore,
                         public JobStore,
                         public RunStore,
                         public LogStore,
                         public NoticeStore,
                         public ExecutorStore,
                         public AdminStore,
                         public AuthStore,
                         public SecretStore,
                         public MysqlBulk,
                         public MysqlCounts {
 public:
  // Connects, checks that the server can keep what is promised (kConflict), applies the migrations
  // that are missing (one member at a time), checks the rest.
  static Result<std::unique_ptr<MysqlStore>> Open(const MysqlOptions& options);

  // The same store for callers who must not reach
  // another one than the trusted. The gate outlives it.
  std::unique_ptr<MysqlStore> Behind(StoreGate& gate, Gated gated) const;

  // IdentityStore
  Result<StoreIdentity> Identify() override;
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override;
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override;
  void Forget() override;

  // SegmentStore
  Result<WallTime> Now() override;
  Result<TakenSegments> Take(const TakeRequest& request) override;
  Status Release(const Fence& fence) override;
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override;
  Result<std::vector<SegmentRecord>> ListSegments() override;

  // FiringStore
  Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments, WallTime until,
                                           size_t limit) override;
  Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) override;
  Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                  std::optional<std::pair<WallTime, RunKey>> after,
                                  size_t limit) override;
  Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window, std::optional<RunKey> after,
                                          size_t limit) override;
  Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                  std::optional<RunCursor> after, size_t limit) override;
  Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                         std::optional<RunCursor> after, size_t limit) override;
  Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) override;
  Result<RunRequest> LoadRunRequest(const RunKey& key) override;
  Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                        const Fence& fence, WallTime now) override;
  Result<size_t> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                      WallTime now) override;
  Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                              const Fence& fence, WallTime now) override;
  Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                          const Fence& fence, WallTime now) override;
  Result<OverdueReport> ReadOverdue(WallTime now) override;

  // JobStore
  Result<StoredJob> CreateJob(const JobId& id, const JobDefinition& definition,
                              const WriteContext& context) override;
  Result<StoredJobs> CreateJobs(const NewJobs& jobs, const WriteContext& context) override;
  Result<StoredJob> GetJob(const JobId& id) override;
  Result<FoundJobs> FindJobs(const JobKeys& keys) override;
  Result<JobHead> GetJobHead(const JobId& id) override;
  Result<JobPage> ListJobs(const JobFilter& filter) override;
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override;
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override;
  Result<StoredJob> ReplaceJob(const JobId& id, int64_t expected_version,
                               const JobDefinition& definition,
                               const WriteContext& context) override;
  Result<StoredJob> PauseJob(const JobId& id, const std::string& reason,
                             const WriteContext& context) override;
  Result<StoredJob> ResumeJob(const JobId& id, const std::string& reason,
                              const WriteContext& context) override;
  Status DeleteJob(const JobId& id, int64_t expected_version, const WriteContext& context) override;

  // RunStore
  Result<CreatedRun> ExecuteJob(const ExecuteRequest& request,
                                const WriteContext& context) override;
  Result<bool> CancelRun(const RunKey& key, const WriteContext& context) override;
  Result<int64_t> CancelJobRuns(const JobId& id, const WriteContext& context) override;
  Result<RunDetail> RetryRun(const RetryRequest& request, const WriteContext& context) override;
  Result<RunDetail> GetRun(const RunKey& key) override;
  Result<RunPage> ListRuns(const RunFilter& filter, WallTime now) override;
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override;
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override;
  Result<uint64_t> RunsFingerprint(WallTime now) override;
  Result<GapPage> ListGaps(const GapFilter& filter) override;
  Result<RunCounts> CountOpenRuns() override;
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override;
  Result<DeadLetter> GetDeadLetter(uint64_t id) override;
  Status DiscardDeadLetter(uint64_t id) override;

  // LogStore
  Status AppendLogs(const std::vector<LogRecord>& records) override;
  Result<std::vector<LogChunk>> ReadLog(const RunKey& key, int attempt, uint64_t from_seq,
                                        size_t bytes_max) override;
  Result<LogExtent> GetLogExtent(const RunKey& key, int attempt) override;

  // NoticeStore
  Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                              size_t limit) override;
  Result<std::optional<RunDetail>> FindRun(const Notice& notice) override;
  Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                       WallTime now) override;
  Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) override;
  Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                      std::optional<JobNo> after, WallTime now,
                                      size_t limit) override;
  Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                               const std::vector<DeliveryChannel>& channels,
                                               WallTime now, size_t limit) override;
  Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence, WallTime now) override;
  Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) override;
  Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) override;
  Result<Delivery> ResendDelivery(uint64_t id, WallTime now) override;

  // ExecutorStore
  Result<ExecutorRecord> RegisterExecutor(const ExecutorRecord& record) override;
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override;
  Result<std::vector<ExecutorRecord>> ListExecutors() override;
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override;
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override;
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override;
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override;

  // AdminStore
  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override;
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override;
  Status AbandonRequest(const std::string& scope, const std::string& key) override;
  Result<ClusterSettings> ReadSettings() override;
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next) override;
  Status RecordAudit(const AuditRecord& record) override;
  Status RecordAudits(const std::vector<AuditRecord>& records) override;
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override;
  Result<Upkeep> Maintain(WallTime now, Duration retention) override;

  // AuthStore
  Result<bool> NeedsSetup() override;
  Status PutSetupLink(const std::string& token_hash, WallTime expires) override;
  Status Setup(const std::string& token_hash, const UserRecord& user, WallTime now) override;
  Status CreateUser(const UserRecord& user) override;
  Result<UserRecord> GetUser(const std::string& user_id) override;
  Result<std::optional<UserRecord>> FindUser(const std::string& name) override;
  Result<std::vector<UserRecord>> ListUsers(const UserListing& listing) override;
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

  Pool& pool() { return *pool_; }  // of nearly all of the above; for checks at start and tests

 private:
  // What is remembered of rows, whoever read them.
  struct Kept {
    explicit Kept(Metrics* metrics) : unreadable(metrics) {}
    UnreadableRows unreadable;
    IdBlocks ids;
    Incarnations incarnations;
    PlainMemory plain;
    std::atomic<int64_t> versions_from{0};  // where the walk over old versions goes on
    std::atomic<int> tables_refused{0};     // calls in a row for partitions that found one in use
  };
  MysqlStore(std::shared_ptr<Kept> kept, Pools pools, uint32_t segment_count);
  // shared: with those Behind a gate, in any order of their ends.
  const std::shared_ptr<Kept> kept_;
  const std::unique_ptr<Pool> pool_;
  const std::unique_ptr<Pool> quick_;  // Now, ReadEpochs
  uint32_t segment_count_;             // constant after Open
};

}  // namespace carillon::mysql
