// The in-memory twin of the store: implements every port of the store over one shared state.
//
// Place    Unit tests and the simulator. Passes the same contract suite as the MariaDB adapter.
// Threads  Thread-safe: each call holds one mutex, which replaces the database's row locks.
// Time     Now() is the given clock's wall time: the cluster's time.
// Owns     Everything; nothing outlives the object. Bounded by Maintain's retention only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/ports/store/audit_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/housekeeping.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/identity_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/run_store.h"
#include "common/ports/store/segment_store.h"
#include "common/ports/store/settings_store.h"
#include "tests/twins/memory_people.h"

namespace carillon::memory {

inline constexpr Duration kRequestKeyKept = 24h;
inline constexpr Duration kRequestInFlight = 1min;  // after this, its member counts as dead
inline constexpr Duration kAuditKept = 24h * 365;
inline constexpr int64_t kCountedMax = 100'000;

class MemoryStore final : public MemoryPeople,
                          public IdentityStore,
                          public SegmentStore,
                          public FiringStore,
                          public JobStore,
                          public RunStore,
                          public LogStore,
                          public NoticeStore,
                          public ExecutorStore,
                          public IdempotencyStore,
                          public SettingsStore,
                          public AuditStore,
                          public Housekeeping {
 public:
  struct Options {
    uint32_t segment_count = 64;
    std::string store_id = "memory";
    std::string server_id = "memory";
  };
  MemoryStore(const Clock& clock, Options options);

  // Tests: `observer` is called after each change of a run's row, with the store locked.
  void ObserveRuns(Tables::RunObserver observer);

  // Tests: make a stored definition, or the row of a schedule, unreadable (or readable again).
  void DamageDefinition(const JobId& id, int64_t version, bool damaged);
  void DamageSchedule(ScheduleId id, bool damaged);

  // Tests: from now on the store has this id, mark and server, as after a restore or a failover.
  void ChangeIdentity(const StoreIdentity& identity);

  // IdentityStore
  Result<StoreIdentity> Identify() override;
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override;
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override;
  void Forget() override {}

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
  Result<BoundedCount> CountJobs(const JobFilter& filter) override;
  Result<std::vector<std::string>> ListNamespaces(const std::string& after, size_t limit) override;
  Result<BoundedCount> CountNamespaces() override;
  Result<std::vector<JobVersion>> ListVersions(const JobId& id, int64_t before,
                                               size_t limit) override;
  Result<BoundedCount> CountVersions(const JobId& id) override;
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
  Result<BoundedCount> CountRuns(const RunFilter& filter, WallTime now) override;
  Result<std::vector<RecentRuns>> ListRecentRuns(const RecentFilter& filter) override;
  Result<uint64_t> RunsFingerprint(WallTime now) override;
  Result<GapPage> ListGaps(const GapFilter& filter) override;
  Result<BoundedCount> CountGaps(const GapFilter& filter) override;
  Result<RunCounts> CountOpenRuns() override;
  Result<std::vector<DeadLetter>> ListDeadLetters(const DeadLetterFilter& filter) override;
  Result<BoundedCount> CountDeadLetters(const DeadLetterFilter& filter) override;
  Result<DeadLetterJobPage> ListDeadLetterJobs(const DeadLetterJobFilter& filter) override;
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
  Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) override;
  Result<Delivery> ResendDelivery(uint64_t id, WallTime now) override;

  // ExecutorStore
  Result<ExecutorRecord> RegisterExecutor(const ExecutorRecord& record) override;
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override;
  Result<std::vector<ExecutorRecord>> ListExecutors() override;
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override;
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override;
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override;
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override;

  // IdempotencyStore
  Result<RequestLookup> BeginRequest(const std::string& scope, const std::string& key,
                                     const std::string& fingerprint, WallTime now) override;
  Status FinishRequest(const std::string& scope, const std::string& key,
                       const StoredAnswer& answer) override;
  Status AbandonRequest(const std::string& scope, const std::string& key) override;
  // SettingsStore
  Result<ClusterSettings> ReadSettings() override;
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next) override;
  // AuditStore
  Status RecordAudit(const AuditRecord& record) override;
  Status RecordAudits(const std::vector<AuditRecord>& records) override;
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override;
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override;
  // Housekeeping
  Result<Upkeep> Maintain(WallTime now, Duration retention) override;

 private:
  Status CheckFence(const Fence& fence) const REQUIRES(mu_);
  Status CheckAdvances(const PlanBatch& batch) const REQUIRES(mu_);
  Status CheckNewRuns(const PlanBatch& batch) REQUIRES(mu_);
  ClaimReply ClaimOne(const ClaimRequest& request, WallTime now) REQUIRES(mu_);
  RunEffect ApplyOne(const ResultReport& report, WallTime now) REQUIRES(mu_);
  void WriteChange(RunEntry entry, const RunChange& change, const AttemptResult& result,
                   WallTime now) REQUIRES(mu_);
  void WriteSkip(RunEntry entry, std::string_view why, WallTime now) REQUIRES(mu_);
  void AddDeadLetter(const RunEntry& entry, int attempts, WallTime now) REQUIRES(mu_);
  void AddNotice(Notice notice) REQUIRES(mu_);
  OpenNotice ToOpen(const Notice& notice) REQUIRES(mu_);
  void AddGap(ScheduleId schedule_id, JobNo job_no, const GapRange& range) REQUIRES(mu_);

  Result<JobEntry*> FindLiveJob(const JobId& id) REQUIRES(mu_);
  Result<JobEntry*> FindReadableJob(const JobId& id) REQUIRES(mu_);
  Result<JobEntry*> FindAtVersion(const JobId& id, int64_t version) REQUIRES(mu_);
  StoredJob ToStored(const JobEntry& job) const REQUIRES(mu_);
  StoredJob AddJob(const NewJob& wanted, const WriteContext& context) REQUIRES(mu_);
  ScheduleId AddSchedule(const JobEntry& job, const ScheduleSpec& spec, WallTime now) REQUIRES(mu_);
  void NextVersion(JobEntry& job, const WriteContext& context) REQUIRES(mu_);
  void TouchSchedules(const JobEntry& job) REQUIRES(mu_);
  void RemoveSchedule(const JobEntry& job, ScheduleId id, GapReason reason, WallTime now)
      REQUIRES(mu_);
  void ReplaceSchedules(JobEntry& job, const JobDefinition& old, WallTime now) REQUIRES(mu_);
  void ChangePending(JobEntry& job, JobChange change, std::string_view why, WallTime now)
      REQUIRES(mu_);
  void ChangeOnePending(JobEntry& job, const RunEntry& entry, JobChange change,
                        std::string_view why, WallTime now) REQUIRES(mu_);
  void StampPending(const JobEntry& job) REQUIRES(mu_);
  bool Unplan(const RunRow& row, WallTime now) REQUIRES(mu_);
  void Pause(JobEntry& job, const std::string& reason, WallTime now) REQUIRES(mu_);
  void Resume(JobEntry& job, WallTime now) REQUIRES(mu_);

  bool CancelEntry(const RunEntry& entry, const WriteContext& context) REQUIRES(mu_);
  // Writes a run that was ended by a user's request.
  void PutEnded(RunEntry entry) REQUIRES(mu_);
  void ReportEnds(const WriteContext& context) REQUIRES(mu_);
  RunDetail ToDetail(const RunEntry& entry, bool with_attempts) REQUIRES(mu_);
  bool Matches(const RunEntry& entry, const RunFilter& filter, WallTime now) REQUIRES(mu_);
  Result<ExecutorRecord*> FindExecutor(const ExecutorId& id) REQUIRES(mu_);

  StoreIdentity identity_ GUARDED_BY(mu_);
  EndedRuns ended_ GUARDED_BY(mu_);  // ended by the call in progress
};

// Returns the part of a job's row that the decisions of run_state.h use.
JobRow ToJobRow(const JobEntry& job);

}  // namespace carillon::memory
