// The store ports of one process, with faults: calls that take time, fail before they take effect,
// or take effect, now or later, while their answer is lost.
//
// Place    Between a member of the scheduler and the stores in memory, in the simulator.
// Threads  Not thread-safe; the simulator's one thread.
// Errors   kUnavailable, kBrokenStore: the call had no effect. kTimeout: the outcome is unknown.
//          The call took effect, did not, or will take effect later.
#pragma once

#include <functional>
#include <string_view>

#include "common/ports/store/backfill_store.h"
#include "common/ports/store/calendar_store.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/housekeeping.h"
#include "common/ports/store/identity_store.h"
#include "common/ports/store/queue_store.h"
#include "common/ports/store/segment_store.h"
#include "common/ports/store/settings_store.h"
#include "common/ports/store/stores.h"

namespace carillon::test {

// Fate of one call. kLandsLater is possible for fenced writes only. If the segment is taken
// over in between, such a write is refused, as if its connection had been killed.
enum class CallFate { kGo, kUnavailable, kBroken, kLostBefore, kLostAfter, kLandsLater };

// Decides what happens to the calls of one process. Enter and Leave may let other processes run for
// a while.
class CallGate {
 public:
  virtual ~CallGate() = default;
  virtual CallFate Enter(std::string_view call, bool is_fenced_write) = 0;
  // Returns false if the process was killed while the call waited: it must not get the answer.
  virtual bool Leave() = 0;
  virtual void Later(std::function<void()> write) = 0;
  // A fenced write has just taken effect under `fence`.
  virtual void Wrote(std::string_view call, const Fence& fence) = 0;
  // LosingBegins: a LOST batch of these attempts is about to be written. LosingEnded: that call has
  // ended; `answered` is false if it failed or its outcome is unknown.
  virtual void LosingBegins(const std::vector<LostReport>&) {}
  virtual void LosingEnded(const std::vector<LostReport>&, bool /*answered*/) {}
  // The caller has just become the owner of these segments.
  virtual void Taken(const Fence&) {}
  // Reports the answers to a batch of claims, for the trace.
  virtual void Answered(const std::vector<ClaimRequest>&, const std::vector<ClaimReply>&) {}
};

class FaultIdentityStore final : public IdentityStore {
 public:
  FaultIdentityStore(IdentityStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<StoreIdentity> Identify() override;
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override;
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override;
  void Forget() override { store_.Forget(); }

 private:
  IdentityStore& store_;
  CallGate& gate_;
};

class FaultSegmentStore final : public SegmentStore {
 public:
  FaultSegmentStore(SegmentStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<WallTime> Now() override;
  Result<TakenSegments> Take(const TakeRequest& request) override;
  Status Release(const Fence& fence) override;
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override;
  Result<std::vector<SegmentRecord>> ListSegments() override;

 private:
  SegmentStore& store_;
  CallGate& gate_;
};

class FaultFiringStore final : public FiringStore {
 public:
  FaultFiringStore(FiringStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments, WallTime until,
                                           size_t limit) override;
  Result<std::vector<DueSchedule>> ScanOutdated(const std::vector<SegmentId>& segments,
                                                const std::vector<CalendarAt>& calendars,
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

 private:
  FiringStore& store_;
  CallGate& gate_;
};

class FaultQueueStore final : public QueueStore {
 public:
  FaultQueueStore(QueueStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<std::vector<QueuedJob>> ScanQueues(const std::vector<SegmentId>& segments, JobNo after,
                                            size_t limit) override;
  Result<AdmissionEffect> Admit(const QueuedJob& job, const Fence& fence, WallTime now) override;
  Result<std::vector<QueuedGroup>> ScanGroups(const std::vector<SegmentId>& segments, GroupNo after,
                                              size_t limit) override;
  Result<AdmissionEffect> AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                     WallTime now) override;
  Result<std::vector<UnusedSlot>> ScanUnusedSlots(const std::vector<SegmentId>& segments,
                                                  WallTime now, size_t limit) override;
  Result<size_t> ReclaimSlots(const std::vector<UnusedSlot>& slots, const Fence& fence,
                              WallTime now) override;
  Result<std::vector<SkipItem>> ScanExpired(const std::vector<SegmentId>& segments, WallTime now,
                                            size_t limit) override;
  Result<int64_t> CountQueued() override;
  Result<JobQueue> ReadQueue(const JobId& id, size_t limit) override;
  Result<std::optional<QueuePlace>> PlaceOf(const RunKey& key) override;

 private:
  QueueStore& store_;
  CallGate& gate_;
};

// Its scans have no faults, so that worlds without completions stay as they are. A scan that fails
// is only repeated.
class FaultCompletionStore final : public CompletionStore {
 public:
  FaultCompletionStore(CompletionStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                     size_t limit) override;
  Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                              const Fence& fence, WallTime now) override;
  Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                               size_t limit) override;
  Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) override;

 private:
  CompletionStore& store_;
  CallGate& gate_;
};

// Calls of users have no faults.
class FaultBackfillStore final : public BackfillStore {
 public:
  FaultBackfillStore(BackfillStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<BackfillPreview> PreviewBackfill(const BackfillTerms& terms) override;
  Result<Backfill> CreateBackfill(const BackfillTerms& terms,
                                  const std::optional<KeyedAnswer<Backfill>>& keyed,
                                  const WriteContext& context) override;
  Result<Backfill> GetBackfill(uint64_t number) override;
  Result<std::vector<Backfill>> ListBackfills(const BackfillFilter& filter) override;
  Result<BoundedCount> CountBackfills(const BackfillFilter& filter) override;
  Result<Backfill> PauseBackfill(uint64_t number, const WriteContext& context) override;
  Result<Backfill> ResumeBackfill(uint64_t number, const WriteContext& context) override;
  Result<Backfill> CancelBackfill(uint64_t number, const WriteContext& context) override;
  Result<std::vector<OpenBackfill>> ScanBackfills(const std::vector<SegmentId>& segments,
                                                  uint64_t after, size_t limit) override;
  Result<BackfillEffect> StepBackfill(const OpenBackfill& backfill, const Fence& fence,
                                      WallTime now, Duration retention) override;

 private:
  BackfillStore& store_;
  CallGate& gate_;
};

class FaultExecutorStore final : public ExecutorStore {
 public:
  FaultExecutorStore(ExecutorStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<ExecutorRecord> RegisterExecutor(const ExecutorRecord& record) override;
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override;
  Result<std::vector<ExecutorRecord>> ListExecutors() override;
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override;
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override;
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override;
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override;

 private:
  ExecutorStore& store_;
  CallGate& gate_;
};

class FaultSettingsStore final : public SettingsStore {
 public:
  FaultSettingsStore(SettingsStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<ClusterSettings> ReadSettings() override;
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                        Duration paused) override;

 private:
  SettingsStore& store_;
  CallGate& gate_;
};

// Calls of a store without calendars do not go through the gate, so that they change nothing in the
// worlds that have none.
class FaultCalendarStore final : public CalendarStore {
 public:
  FaultCalendarStore(CalendarStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<StoredCalendar> PutCalendar(const std::string& name, const CalendarDefinition& definition,
                                     WallTime now) override;
  Status DeleteCalendar(const std::string& name, WallTime now) override;
  Result<int64_t> ReadCalendarVersion() override;
  Result<CalendarSet> LoadCalendars() override;
  Result<std::map<CalendarNo, int64_t>> CountCalendarJobs() override;

 private:
  bool IsEmpty() { return store_.ReadCalendarVersion().value_or(1) == 0; }

  CalendarStore& store_;
  CallGate& gate_;
};

// Only the calls of owners go through the gate.
class FaultWorkflowStore final : public WorkflowStore {
 public:
  FaultWorkflowStore(WorkflowStore& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<BeginReply> Begin(const ClaimRequest& request, const Fence& fence, WallTime now) override;
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override;
  Result<std::vector<OpenWorkflowRun>> ScanOpen(const std::vector<SegmentId>& segments,
                                                uint64_t after, size_t limit) override;
  Result<StepEffect> Step(const StepRequest& request, const Fence& fence, WallTime now) override;
  Result<WorkflowRunView> GetWorkflowRun(const RunKey& key) override {
    return store_.GetWorkflowRun(key);
  }
  Result<WorkflowRunView> SkipNode(const SkipNodeRequest& request,
                                   const WriteContext& context) override {
    return store_.SkipNode(request, context);
  }
  Result<RetryPlan> PreviewRetry(const RunKey& key, const WorkflowRetry& retry) override {
    return store_.PreviewRetry(key, retry);
  }

 private:
  WorkflowStore& store_;
  CallGate& gate_;
};

class FaultHousekeeping final : public Housekeeping {
 public:
  FaultHousekeeping(Housekeeping& store, CallGate& gate) : store_(store), gate_(gate) {}

  Result<Upkeep> Maintain(WallTime now, Duration retention) override;

 private:
  Housekeeping& store_;
  CallGate& gate_;
};

// The ports of one process whose calls go through its gate.
struct FaultStores {
  // `stores` names its members as mysql::MysqlStores does.
  template <typename Adapters>
  FaultStores(Adapters& stores, CallGate& gate)
      : identity(stores.identity, gate),
        segments(stores.segments, gate),
        firing(stores.firing, gate),
        queues(stores.queues, gate),
        completions(stores.completions, gate),
        executors(stores.executors, gate),
        settings(stores.settings, gate),
        housekeeping(stores.housekeeping, gate),
        backfills(stores.backfills, gate),
        calendars(stores.calendars, gate),
        workflows(stores.workflows, gate) {}

  // Returns `stores` with the ports that have faults in place of its own.
  Stores Ports(const Stores& stores) {
    return {identity,           segments,          firing,       queues,         stores.groups,
            stores.jobs,        stores.runs,       stores.logs,  stores.notices, executors,
            stores.idempotency, settings,          stores.audit, housekeeping,   stores.auth,
            stores.secrets,     stores.bulk,       completions,  backfills,      calendars,
            workflows,          stores.checkpoints};
  }

  FaultIdentityStore identity;
  FaultSegmentStore segments;
  FaultFiringStore firing;
  FaultQueueStore queues;
  FaultCompletionStore completions;
  FaultExecutorStore executors;
  FaultSettingsStore settings;
  FaultHousekeeping housekeeping;
  FaultBackfillStore backfills;
  FaultCalendarStore calendars;
  FaultWorkflowStore workflows;
};

}  // namespace carillon::test
