// The rows of the store in memory.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/domain/queue/group.h"
#include "common/domain/refresh_family.h"
#include "common/domain/run/dependents.h"
#include "common/domain/template/node_template.h"
#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/backfill_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/checkpoint_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/run_store.h"
#include "common/ports/store/secret_store.h"
#include "common/ports/store/segment_store.h"
#include "common/ports/store/workflow_store.h"

namespace carillon::memory {

struct RunEntry {
  RunRow row;
  WallTime planned = WallTime{};
  AttemptResult result = {};
  std::string parameters_json = {};
  std::string trace_id = {};
  std::optional<RunTrigger> trigger = {};
  std::optional<NodeOrigin> node = {};    // of the run of a workflow's node
  WallTime until = WallTime{};            // when it was last opened: its end; zero = never
  std::vector<RunAttempt> attempts = {};  // the earlier attempts, ascending
  int given_up = 0;  // with a cancel request: the attempt that a person has given up
};

// RunDetail::until.
inline WallTime UntilOf(const RunEntry& run) {
  const bool open = run.row.state == RunState::kPending && IsOpenedNode(run.row.due);
  return open ? run.until : WallTime{};
}

struct ScheduleEntry {
  ScheduleId id;
  JobNo job_no;
  SegmentId segment;
  ScheduleSpec spec = {};
  int64_t version = 1;
  WallTime next_fire = kNever;
  WallTime awaited = WallTime{};  // the fire whose run a delay schedule waits for
  bool active = true;  // false: the job is paused or deleted, or the schedule was removed
  bool readable = true;
  CalendarNumbers calendars = {};
  int64_t calendar_version = 0;
};

// One version of a calendar.
struct CalendarEntry {
  CalendarNo number;
  std::string name;
  CalendarDefinition definition;
  WallTime effective;
  bool deleted = false;
};

struct QueueEntry {
  WallTime since;
  WallTime expires = kNever;
};

// Numbers for jobs, schedules, groups or workflow runs. In blocks, it numbers them as a database
// does: a call reserves its numbers before it is known whether it will succeed. Otherwise each
// number is taken when it is used.
class NumberSequence {
 public:
  explicit NumberSequence(bool in_blocks) : in_blocks_(in_blocks) {}

  // Returns the first of `count` consecutive numbers; 0 = they are taken one by one.
  uint64_t Reserve(uint64_t count) {
    if (!in_blocks_) return 0;
    if (end_ - next_ < count) {
      next_ = unused_;
      end_ = unused_ += std::max(count, kBlock);
    }
    return std::exchange(next_, next_ + count);
  }
  // Returns number `place` of the reserved ones, or the next one.
  uint64_t Take(uint64_t first, uint64_t place) { return in_blocks_ ? first + place : unused_++; }
  // Drops the rest of the block.
  void Forget() { next_ = end_; }

 private:
  static constexpr uint64_t kBlock = 64;
  const bool in_blocks_;
  uint64_t next_ = 1;
  uint64_t end_ = 1;
  uint64_t unused_ = 1;
};

struct JobEntry {
  JobNo job_no;
  JobId id = {};
  SegmentId segment;
  int64_t version = 1;
  JobDefinition definition = {};
  bool deleted = false;
  bool hidden = false;  // of the nodes of a workflow that have no job (task_jobs.h)
  std::string pause_reason = {};
  bool paused_by_failures = false;
  WallTime created = WallTime{};
  WallTime updated = WallTime{};
  std::vector<ScheduleId> schedules = {};  // in the definition's order
  ScheduleId manual = {};                  // the pseudo schedule of manual runs; 0 = none yet
  std::map<int64_t, JobDefinition> versions = {};
  std::map<int64_t, WallTime> made = {};       // creation time of each version
  std::map<int64_t, std::string> actors = {};  // who created each version
  std::set<int64_t> unreadable = {};           // versions that a test has damaged
  std::set<RunKey> open = {};                  // PENDING, RUNNING, HELD
  // Claimed, or admitted out of the queue, and not final since: the runs that use slots.
  std::set<RunKey> active = {};
  // Those of them that hold a slot: the job limited its runs when they became active, or later.
  std::set<RunKey> slots = {};

  void FreeSlot(const RunKey& key) {
    active.erase(key);
    slots.erase(key);
  }
  std::map<RunKey, QueueEntry> queue = {};  // the runs that wait for a slot of the job
  bool has_dependents = false;              // others wait for the ends of its runs, or once did
};

// A schedule that waits for the ends of a job.
struct DependencyEntry {
  JobNo upstream;
  Dependent dependent;
};

struct GroupEntry {
  GroupNo group_no;
  int64_t limit = 0;
  Duration per{};
  int64_t limit_before = 0;  // of the last change; only a test that breaks a rule uses it
  WallTime updated = WallTime{};
  std::map<RunKey, size_t> holders = {};  // the slots of runs: claimed or admitted
  std::map<GroupPlace, QueueEntry> queue = {};
  std::vector<WallTime> given = {};  // by slot: when a claim last took it

  // Slots that are taken, or are not given again within `ahead`.
  int64_t Used(WallTime now, Duration ahead) const;
  // The free ones of those.
  std::vector<size_t> Cooling(WallTime now, Duration ahead) const;
  // How long before its time a slot may be reserved.
  Duration Ahead(WallTime now) const;
  Duration Warm(const RunKey& holder, WallTime now) const;
  // Gives a slot to the run, if it has none. Returns when the slot is cool.
  WallTime Reserve(const RunKey& key, WallTime now, Duration ahead);
  // The same, for an attempt that starts now.
  void Give(const RunKey& key, WallTime now);
  // When the next start is possible, if it is because a cooling slot is given again.
  std::optional<WallTime> NextStart(WallTime now) const;
};

std::string Lower(std::string_view text);  // ASCII letters only
// True if the name or the id of the job contains `text`, ignoring case.
bool NameContains(const JobEntry& job, std::string_view text);

// A workflow run that has begun at least once.
struct WorkflowEntry {
  enum class State {
    kWaiting,  // it was retried, and has not begun again
    kRunning,
    kEnded,
  };

  WorkflowRunId run;
  RunKey own;
  JobNo job_no;
  SegmentId segment;
  int64_t def_version = 0;
  State state = State::kRunning;
  WallTime deadline = kNever;
  bool is_late = false;                        // its nodes are ended because of the deadline
  RenderedParameters parameters = {};          // of the own run, with the defaults
  std::optional<WallTime> finally_since = {};  // when only its finally nodes were left
};

struct GapEntry {
  ScheduleId schedule_id;
  JobNo job_no;
  GapRange range;
};

struct NoticeEntry {
  Notice notice;
  bool open = true;  // no decision about the notice was made yet
};

struct NoticeMemoryEntry {
  NoticeMemory memory;
  SegmentId segment;
  bool watched = false;  // a failure was notified, and no success followed yet
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

// The progress and the checkpoint of a run.
struct SavedEntry {
  SavePosition last;
  SavedState state;
  std::string checkpoint = {};
};

struct RefreshEntry {
  RefreshRecord record;
  RefreshUse use = RefreshUse::kNone;
};

// True if the current version can be read.
inline bool IsReadable(const JobEntry& job) { return !job.unreadable.contains(job.version); }

// A notice is stored at most once for each attempt and kind.
using NoticeKey = std::tuple<RunKey, int, NoticeKind>;
inline NoticeKey NoticeKeyOf(const Notice& notice) {
  return {notice.key, notice.attempt, notice.kind};
}

}  // namespace carillon::memory
