// The rows of the memory store and their ordered indexes.
//
// Threads  Not thread-safe; MemoryStore guards it with its one mutex.
// Always   Every write of a run or schedule goes through PutRun, EraseRun or PutSchedule, so that
//          the indexes agree with the rows and the observer sees each change.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/cluster_settings.h"
#include "common/domain/refresh_family.h"
#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/run_store.h"
#include "common/ports/store/secret_store.h"
#include "common/ports/store/segment_store.h"

namespace carillon::memory {

struct RunEntry {
  RunRow row;
  WallTime planned = WallTime{};
  AttemptResult result = {};
  std::string parameters_json = {};
  std::string trace_id = {};
  std::vector<RunAttempt> attempts = {};  // earlier ones, ascending
};

struct ScheduleEntry {
  ScheduleId id;
  JobNo job_no;
  SegmentId segment;
  ScheduleSpec spec = {};
  int64_t version = 1;
  WallTime next_fire = kNever;
  bool active = true;  // false: the job is paused or deleted, or the schedule was removed
  bool readable = true;
};

struct JobEntry {
  JobNo job_no;
  JobId id = {};
  SegmentId segment;
  int64_t version = 1;
  JobDefinition definition = {};
  bool deleted = false;
  std::string pause_reason = {};
  WallTime created = WallTime{};
  WallTime updated = WallTime{};
  std::vector<ScheduleId> schedules = {};  // in the definition's order
  std::optional<ScheduleId> manual = {};   // the pseudo schedule of manual runs
  std::map<int64_t, JobDefinition> versions = {};
  std::map<int64_t, WallTime> made = {};       // creation time, by version
  std::map<int64_t, std::string> actors = {};  // who created it, by version
  std::set<int64_t> unreadable = {};           // versions that a test has damaged
  std::set<RunKey> open = {};                  // PENDING, RUNNING, HELD
  std::set<RunKey> active = {};  // claimed and not final since; overlap_policy skip checks this
};

std::string Lower(std::string_view text);  // ASCII letters only
// True if the name or the id of the job contains `text`, ignoring case.
bool NameContains(const JobEntry& job, std::string_view text);

struct GapEntry {
  ScheduleId schedule_id;
  JobNo job_no;
  GapRange range;
};

struct NoticeEntry {
  Notice notice;
  bool open = true;  // no decision about it yet
};

struct NoticeMemoryEntry {
  NoticeMemory memory;
  SegmentId segment;
  bool watched = false;  // a failure was notified, and no success was since
  WallTime failed_fire = WallTime{};
  WallTime failed = WallTime{};
};

struct DeliveryEntry {
  Delivery delivery;
  JobNo job_no;
};

struct RequestEntry {
  std::string fingerprint;
  WallTime begun;
  std::optional<StoredAnswer> answer = {};
};

struct BulkEntry {
  BulkAction action;
  std::vector<BulkItem> items;
  int64_t lease = 0;
  WallTime leased_until = WallTime{};
};

struct RefreshEntry {
  RefreshRecord record;
  RefreshUse use = RefreshUse::kNone;
};

// True if the current version can be read.
inline bool IsReadable(const JobEntry& job) { return !job.unreadable.contains(job.version); }

class Tables {
 public:
  using PendingIndex = std::set<std::pair<WallTime, RunKey>>;
  using DueIndex = std::set<std::pair<WallTime, ScheduleId>>;
  // Called after each change of a run's row. Null: the row did not exist before, or does not after.
  using RunObserver = std::function<void(const RunRow* before, const RunRow* after)>;

  explicit Tables(uint32_t segment_count);

  void Observe(RunObserver observer) { observer_ = std::move(observer); }

  const RunEntry* FindRun(const RunKey& key) const;
  // Replaces the row and re-indexes it.
  void PutRun(RunEntry entry);
  void EraseRun(const RunKey& key);

  const ScheduleEntry* FindSchedule(ScheduleId id) const;
  void PutSchedule(ScheduleEntry entry);

  JobEntry* FindJob(JobNo job_no);
  JobEntry* FindJob(const JobId& id);
  JobEntry& AddJob(JobEntry entry);

  bool HasSegment(SegmentId segment) const { return segment.value() < pending_.size(); }
  SegmentId SegmentOf(JobNo job_no) const {
    return SegmentId(static_cast<uint32_t>(job_no.value() % pending_.size()));
  }
  const PendingIndex& pending(SegmentId segment) const { return pending_[segment.value()]; }
  const DueIndex& due(SegmentId segment) const { return due_[segment.value()]; }
  const std::set<RunKey>& running(SegmentId segment) const { return running_[segment.value()]; }
  const std::set<RunKey>& cancels(SegmentId segment) const { return cancels_[segment.value()]; }
  const std::map<RunKey, RunEntry>& runs() const { return runs_; }
  const std::map<JobId, JobNo>& job_ids() const { return job_ids_; }
  size_t held() const { return held_; }

  // Checks the request of a KeyedAnswer. kConflict: it was already finished.
  Status CheckUnsettled(const std::string& scope, const std::string& key) const;
  template <typename Written>
  void Settle(const KeyedAnswer<Written>& keyed, const Written& written) {
    requests.at({keyed.scope, keyed.key}).answer = keyed.answer(written);
  }

  // ---- tables without an index ----
  std::vector<SegmentRecord> segments;
  std::map<uint64_t, GapEntry> gaps;
  std::map<uint64_t, DeadLetter> dead_letters;
  std::map<ExecutorId, ExecutorRecord> executors;
  std::map<std::pair<std::string, std::string>, RequestEntry> requests;
  std::map<std::string, TokenRecord> tokens;      // by hash
  std::map<std::string, UserRecord> users;        // by id
  std::map<std::string, RefreshEntry> refreshes;  // by hash
  std::optional<std::pair<std::string, WallTime>> setup_link;
  std::string signing_key;
  std::map<std::string, StoredSecret> secrets;  // by name
  std::map<uint64_t, BulkEntry> bulk_actions;   // by number
  uint64_t last_bulk_number = 0;
  ClusterSettings settings;
  std::map<uint64_t, AuditRecord> audit;
  std::map<std::pair<RunKey, int>, std::map<uint64_t, LogChunk>> logs;  // by attempt, first seq
  uint64_t last_job_no = 0;
  uint64_t last_schedule_id = 0;
  uint64_t last_gap_id = 0;
  uint64_t last_dead_letter_id = 0;
  uint64_t last_audit_id = 0;
  std::map<uint64_t, NoticeEntry> notices;
  std::map<std::pair<JobNo, NoticeKind>, NoticeMemoryEntry> notice_memories;
  std::map<uint64_t, DeliveryEntry> deliveries;
  std::set<std::tuple<RunKey, int, NoticeKind>> notice_keys;  // of `notices`
  uint64_t last_notice_id = 0;
  uint64_t last_delivery_id = 0;

 private:
  void Unindex(const RunRow& row);
  void Index(const RunRow& row);

  RunObserver observer_;
  std::map<RunKey, RunEntry> runs_;
  std::map<ScheduleId, ScheduleEntry> schedules_;
  std::map<JobNo, JobEntry> jobs_;
  std::map<JobId, JobNo> job_ids_;
  // By segment number.
  std::vector<PendingIndex> pending_;  // PENDING runs by (due, key)
  std::vector<DueIndex> due_;          // active schedules by (next_fire, id)
  std::vector<std::set<RunKey>> running_;
  std::vector<std::set<RunKey>> cancels_;  // RUNNING or HELD, cancel requested
  size_t held_ = 0;
};

// Applies a RunChange (run_state.h) to a row: its columns and earlier attempts. The state implies
// whether the overlap slot is free. `result` is the result of the attempt that ended.
void ApplyChange(RunEntry& entry, const RunChange& change, const AttemptResult& result);
// Records the report of a superseded attempt. The first report stays, except that a real end
// replaces LOST.
void RecordAttempt(RunEntry& entry, RunAttempt attempt);

}  // namespace carillon::memory
