// The tables that the stores in memory share, their ordered indexes and their lock.
//
// Threads  Each call of a store holds the lock, which replaces the row locks of a database.
// Owns     All rows, in memory only. The number of rows is limited only by the retention of
//          Maintain.
// Always   Every write of a run or schedule goes through PutRun, EraseRun or PutSchedule, so that
//          the indexes agree with the rows and the observer sees each change.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/base/mutex.h"
#include "common/domain/store_trust.h"
#include "common/ports/events/event_store.h"
#include "common/ports/fence.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/schema_store.h"
#include "tests/twins/memory_entries.h"

namespace carillon::memory {

inline constexpr Duration kRequestKeyKept = 24h;
inline constexpr int64_t kCountedMax = 100'000;

// A job that an entry of `waits_for` names. A workflow comes after the job of its entry.
struct WaitedJob {
  JobNo job_no;
  AfterOutcome on = AfterOutcome::kSuccess;
  bool is_workflow = false;
};

class MemoryTables {
 public:
  using PendingIndex = std::set<std::pair<WallTime, RunKey>>;
  using DueIndex = std::set<std::pair<WallTime, ScheduleId>>;
  // Called after each change of a run's row. `before` is null for a new row, `after` for
  // an erased one.
  using RunObserver = std::function<void(const RunRow* before, const RunRow* after)>;

  // Called for each new completion.
  using EndObserver = std::function<void(const RunCompletion& end)>;

  MemoryTables(StoreIdentity id, bool numbers_in_blocks);

  mutable Mutex mu;

  void Observe(RunObserver observer) REQUIRES(mu) { observer_ = std::move(observer); }

  void ObserveEnds(EndObserver observer) REQUIRES(mu) { end_observer_ = std::move(observer); }

  const RunEntry* FindRun(const RunKey& key) const REQUIRES(mu);
  // Adds or replaces the row and updates the indexes. If the run has ended and something waits for
  // that, adds its completion.
  void PutRun(RunEntry entry) REQUIRES(mu);
  void EraseRun(const RunKey& key) REQUIRES(mu);

  const ScheduleEntry* FindSchedule(ScheduleId id) const REQUIRES(mu);
  void PutSchedule(ScheduleEntry entry) REQUIRES(mu);
  const std::map<ScheduleId, ScheduleEntry>& schedules() const REQUIRES(mu) { return schedules_; }

  JobEntry* FindJob(JobNo job_no) REQUIRES(mu);
  JobEntry* FindJob(const JobId& id) REQUIRES(mu);
  // A hidden one is found by its number only.
  JobEntry& AddJob(JobEntry entry) REQUIRES(mu);
  // The job to which runs of `job_no` belong in the eyes of people (task_jobs.h).
  const JobEntry& OwnerOf(JobNo job_no) REQUIRES(mu);

  // kNotFound: there is no such job, or it was deleted. kCorrupt: its current version
  // cannot be read.
  Result<JobEntry*> FindLiveJob(const JobId& id) REQUIRES(mu);
  Result<JobEntry*> FindReadableJob(const JobId& id) REQUIRES(mu);

  // kFenced: a segment is owned by another epoch.
  Status CheckFence(const Fence& fence) const REQUIRES(mu);
  bool HasSegment(SegmentId segment) const REQUIRES(mu) {
    return segment.value() < segments.size();
  }
  SegmentId SegmentOf(JobNo job_no) const REQUIRES(mu) {
    return SegmentId(static_cast<uint32_t>(job_no.value() % segments.size()));
  }
  const PendingIndex& pending(SegmentId segment) const REQUIRES(mu) {
    return pending_[segment.value()];
  }
  const DueIndex& due(SegmentId segment) const REQUIRES(mu) { return due_[segment.value()]; }
  const std::set<RunKey>& running(SegmentId segment) const REQUIRES(mu) {
    return running_[segment.value()];
  }
  const std::set<RunKey>& cancels(SegmentId segment) const REQUIRES(mu) {
    return cancels_[segment.value()];
  }
  const std::set<RunKey>& presumed(SegmentId segment) const REQUIRES(mu) {
    return presumed_[segment.value()];
  }
  const std::map<RunKey, RunEntry>& runs() const REQUIRES(mu) { return runs_; }
  const std::map<JobNo, JobEntry>& jobs() const REQUIRES(mu) { return jobs_; }
  const std::map<JobId, JobNo>& job_ids() const REQUIRES(mu) { return job_ids_; }
  size_t held() const REQUIRES(mu) { return held_; }

  // Returns null for an unknown group.
  GroupEntry* FindGroup(GroupNo group_no) REQUIRES(mu);
  // Puts a run, whose row is written with `due` kQueued, into the queue of the group.
  void QueueForGroup(GroupEntry& group, const RunRow& row, const QueueEntry& entry) REQUIRES(mu);
  // The group for which the run is queued; null = none.
  GroupEntry* WaitsForGroup(const RunKey& key) REQUIRES(mu);
  size_t group_waits() const REQUIRES(mu) { return group_waits_.size(); }

  // Checks the request with this idempotency key. kConflict: the request was already finished.
  Status CheckUnsettled(const std::string& scope, const std::string& key) const REQUIRES(mu);
  template <typename Written>
  void Settle(const KeyedAnswer<Written>& keyed, const Written& written) REQUIRES(mu) {
    requests.at({keyed.scope, keyed.key}).answer = keyed.answer(written);
  }

  // Null: the run is not of a workflow, or has never begun.
  WorkflowEntry* FindWorkflow(const RunKey& own) REQUIRES(mu);
  // The workflow run of which the run is a node; null = none.
  WorkflowEntry* WorkflowOfNode(const RunKey& node) REQUIRES(mu);
  // Adds a wake-up for a request. Ends of nodes add theirs in PutRun.
  void WakeUpWorkflow(const WorkflowEntry& workflow, WallTime now) REQUIRES(mu);

  // The present calendars; valid until one is changed.
  const CalendarSet& Calendars() REQUIRES(mu);

  // ---- tables without an index ----
  StoreIdentity identity GUARDED_BY(mu);
  EndedRuns ended GUARDED_BY(mu);  // the runs that the call in progress ended
  std::vector<SegmentRecord> segments GUARDED_BY(mu);
  std::map<uint64_t, GapEntry> gaps GUARDED_BY(mu);
  std::map<uint64_t, DeadLetter> dead_letters GUARDED_BY(mu);
  std::set<uint64_t> published_letters GUARDED_BY(mu);
  std::optional<uint64_t> first_published_letter GUARDED_BY(mu);  // nullopt: none ever was
  std::map<ExecutorId, ExecutorRecord> executors GUARDED_BY(mu);
  std::map<std::pair<std::string, std::string>, RequestEntry> requests GUARDED_BY(mu);
  std::map<std::string, TokenRecord> tokens GUARDED_BY(mu);      // by hash
  std::map<std::string, UserRecord> users GUARDED_BY(mu);        // by id
  std::map<std::string, RefreshEntry> refreshes GUARDED_BY(mu);  // by hash
  std::optional<std::pair<std::string, WallTime>> setup_link GUARDED_BY(mu);
  std::string signing_key GUARDED_BY(mu);
  std::map<std::string, StoredSecret> secrets GUARDED_BY(mu);  // by name
  std::map<uint64_t, BulkEntry> bulk_actions GUARDED_BY(mu);   // by number
  std::map<int64_t, CalendarEntry> calendars GUARDED_BY(mu);   // by version
  uint64_t last_bulk_number GUARDED_BY(mu) = 0;
  std::map<uint64_t, Backfill> backfills GUARDED_BY(mu);  // by number
  uint64_t last_backfill_number GUARDED_BY(mu) = 0;
  ClusterSettings settings GUARDED_BY(mu);
  SchemaLevels schema GUARDED_BY(mu) = {
      .known = kFirstSchema, .applied = kFirstSchema, .finished = kFirstSchema};
  bool schema_held GUARDED_BY(mu) = false;
  std::map<std::string, GroupEntry> groups GUARDED_BY(mu);  // by name
  std::map<uint64_t, AuditRecord> audit GUARDED_BY(mu);
  // By attempt, then by the first sequence number.
  std::map<std::pair<RunKey, int>, std::map<uint64_t, LogChunk>> logs GUARDED_BY(mu);
  std::map<RunKey, SavedEntry> saved GUARDED_BY(mu);
  // Runs that outlived their day. They are not in `runs`.
  std::map<RunKey, RunEntry> kept GUARDED_BY(mu);
  // By id. Those of the target kWorkflow are the wake-ups; the key is that of any node.
  std::map<uint64_t, RunCompletion> completions GUARDED_BY(mu);
  uint64_t last_completion_id GUARDED_BY(mu) = 0;
  std::map<ScheduleId, DependencyEntry> dependencies GUARDED_BY(mu);
  std::map<JobNo, std::set<JobNo>> node_jobs GUARDED_BY(mu);           // of workflows
  std::map<JobNo, std::vector<WaitedJob>> waited_jobs GUARDED_BY(mu);  // of `waits_for`, in order
  std::map<uint64_t, WorkflowEntry> workflow_runs GUARDED_BY(mu);      // by number
  std::map<RunKey, uint64_t> workflow_numbers GUARDED_BY(mu);          // by the own run
  NumberSequence job_numbers GUARDED_BY(mu);
  NumberSequence schedule_numbers GUARDED_BY(mu);
  NumberSequence group_numbers GUARDED_BY(mu);
  NumberSequence workflow_run_numbers GUARDED_BY(mu);
  uint64_t last_gap_id GUARDED_BY(mu) = 0;
  uint64_t last_dead_letter_id GUARDED_BY(mu) = 0;
  uint64_t last_audit_id GUARDED_BY(mu) = 0;
  std::map<uint64_t, NoticeEntry> notices GUARDED_BY(mu);
  std::map<std::pair<JobNo, NoticeKind>, NoticeMemoryEntry> notice_memories GUARDED_BY(mu);
  std::map<uint64_t, DeliveryEntry> deliveries GUARDED_BY(mu);
  std::set<NoticeKey> notice_keys GUARDED_BY(mu);               // of `notices`
  std::map<std::string, EventRecord> events GUARDED_BY(mu);     // by EventKeyOf
  std::map<std::string, WallTime> event_topics GUARDED_BY(mu);  // when reading began
  uint64_t last_notice_id GUARDED_BY(mu) = 0;
  uint64_t last_delivery_id GUARDED_BY(mu) = 0;

 private:
  void Unindex(const RunRow& row) REQUIRES(mu);
  void Index(const RunRow& row) REQUIRES(mu);
  void LeaveGroupSlot(const RunRow& row) REQUIRES(mu);
  void LeaveGroupQueue(const RunKey& key) REQUIRES(mu);
  void AddCompletion(const RunEntry& entry) REQUIRES(mu);

  RunObserver observer_ GUARDED_BY(mu);
  EndObserver end_observer_ GUARDED_BY(mu);
  CalendarSet calendar_set_ GUARDED_BY(mu);
  std::map<RunKey, RunEntry> runs_ GUARDED_BY(mu);
  std::map<ScheduleId, ScheduleEntry> schedules_ GUARDED_BY(mu);
  std::map<JobNo, JobEntry> jobs_ GUARDED_BY(mu);
  std::map<JobId, JobNo> job_ids_ GUARDED_BY(mu);
  // The indexes of each segment, by segment number.
  std::vector<PendingIndex> pending_ GUARDED_BY(mu);  // PENDING runs by (due, key)
  std::vector<DueIndex> due_ GUARDED_BY(mu);          // active schedules by (next_fire, id)
  std::vector<std::set<RunKey>> running_ GUARDED_BY(mu);
  std::vector<std::set<RunKey>> cancels_ GUARDED_BY(mu);   // RUNNING or HELD, cancel requested
  std::vector<std::set<RunKey>> presumed_ GUARDED_BY(mu);  // those with a PresumedDeadAt
  // The places of runs that are queued for a group.
  std::map<RunKey, std::pair<GroupNo, GroupPlace>> group_waits_ GUARDED_BY(mu);
  size_t held_ GUARDED_BY(mu) = 0;
};

}  // namespace carillon::memory
