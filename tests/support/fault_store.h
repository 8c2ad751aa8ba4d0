// The store ports as one process sees them through faults: calls that take time, fail before
// anything was done, or are done while their answer is lost, now or only later.
//
// Place    Between a member of the scheduler and the memory store, in the simulator.
// Threads  Not thread-safe; the simulator's one thread.
// Errors   kUnavailable, kBrokenStore: nothing was done.
//          kTimeout: it was done, was not, or will be.
#pragma once

#include <functional>
#include <string_view>

#include "common/ports/admin_store.h"
#include "common/ports/executor_store.h"
#include "common/ports/firing_store.h"
#include "common/ports/identity_store.h"
#include "common/ports/segment_store.h"

namespace carillon::test {

// What becomes of one call. kLandsLater is only asked for fenced writes: a takeover in between ends
// them, as killing their connection does.
enum class CallFate { kGo, kUnavailable, kBroken, kLostBefore, kLostAfter, kLandsLater };

// Decides about the calls of one process. Both may let other processes go on for a while.
class CallGate {
 public:
  virtual ~CallGate() = default;
  virtual CallFate Enter(std::string_view call, bool is_fenced_write) = 0;
  // False: the process died while it waited; it learns nothing any more.
  virtual bool Leave() = 0;
  virtual void Later(std::function<void()> write) = 0;
  // A fenced write was carried out at this moment under `fence`.
  virtual void Wrote(std::string_view call, const Fence& fence) = 0;
  // A LOST batch of these is on its way; then, what became of the call.
  virtual void LosingBegins(const std::vector<LostReport>&) {}
  virtual void LosingEnded(const std::vector<LostReport>&, bool /*answered*/) {}
  // These segments belong to the caller from this moment.
  virtual void Taken(const Fence&) {}
  // For the trace.
  virtual void Answered(const std::vector<ClaimRequest>&, const std::vector<ClaimReply>&) {}
};

struct FaultStorePorts {
  SegmentStore& segments;
  FiringStore& firing;
  ExecutorStore& executors;
  AdminStore& admin;
  IdentityStore& identity;
  CallGate& gate;
};

class FaultStore final : public IdentityStore,
                         public SegmentStore,
                         public FiringStore,
                         public ExecutorStore,
                         public AdminStore {
 public:
  explicit FaultStore(const FaultStorePorts& ports) : p_(ports) {}

  // IdentityStore
  Result<StoreIdentity> Identify() override;
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override;
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override;
  void Forget() override { p_.identity.Forget(); }

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

 private:
  template <typename Call>
  auto Run(std::string_view name, Call call) -> decltype(call());
  template <typename Call>
  auto RunFenced(std::string_view name, const Fence& fence, Call call) -> decltype(call());

  const FaultStorePorts p_;
};

}  // namespace carillon::test
