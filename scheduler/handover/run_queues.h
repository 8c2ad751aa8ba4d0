// The queues between the rooms of the firing path, and their items. The items are PENDING runs on
// their way through the owner's memory, and events about these runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/loops/bounded_queue.h"
#include "common/base/mutex.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/run/run_state.h"

namespace carillon::scheduler {

// The extra data of a run whose request is stored with it (HasRequest).
struct RunExtras {
  ExecutorId pinned_executor = {};  // empty = any executor
  bool request_loaded = false;      // `request` was read from the store
  RunRequest request = {};          // the caller's overrides of parameters
  std::string rules = {};           // RunRow::rules
};

struct PendingRun {
  RunKey key;
  JobNo job_no;
  SegmentId segment;
  Epoch epoch;  // this copy is valid only while the segment is held under this epoch
  int attempt = 1;
  int64_t def_version = 0;
  WallTime due;
  int priority = 0;
  RunKind kind = RunKind::kCron;
  uint32_t flags = 0;  // run_flag
  uint32_t shard_total = 1;
  // Immutable and shared, so that copies of a run are cheap. Null for almost every run.
  std::shared_ptr<const RunExtras> extras = {};
};

// True for a run whose request, or whose own rules, are not loaded yet. Such a run cannot be
// dispatched.
inline bool NeedsExtras(const PendingRun& run) {
  const bool has_some = HasRequest(run.kind, run.flags) || (run.flags & run_flag::kRules) != 0;
  return has_some && (run.extras == nullptr || !run.extras->request_loaded);
}

// RunRow::rules, as far as they are loaded.
const std::string& RulesOf(const PendingRun& run);

PendingRun ToPendingRun(const RunRow& row, Epoch epoch);

// News about a tracked run, from the claims, results and recovery rooms to the firing loop.
struct RunEvent {
  enum class What {
    kClaimed,  // the claim was accepted, or confirmed again: the executor's slot is taken
    kRefused,  // forget the run: the store has a newer state of the run
    // Forget the run and let the sweep read it again: the run was edited, or is not due.
    kStale,
    kReturned,  // this executor may not run it: dispatch it to another one
    kEnded,     // the attempt ended: the slot is free
    // The store does not have the run as PENDING: forget it unless it was claimed. Its attempt is
    // not known.
    kGone,
    kBegun,     // the parts of the fire that was handed over are due, as far as is known
    kNotBegun,  // it has no parts now, and may have none later
  };
  What what = What::kClaimed;
  RunKey key;
  int attempt = 1;
  std::optional<Duration> ran = {};  // kEnded: time from start to end, if known
};

struct RunEvents {
  ExecutorId executor = {};  // the executor that sent the claim; empty for the last four
  std::vector<RunEvent> events;
};

// Queue of events to the firing loop. A Push into a full queue loses the events and sets a flag. If
// the end of a run is lost and nothing notices that, the run occupies its slot for ever.
class RunEventQueue {
 public:
  RunEventQueue(std::string name, size_t capacity) : queue_(std::move(name), capacity) {}
  void OnPush(std::function<void()> wake) { queue_.OnPush(std::move(wake)); }
  void Push(RunEvents events) {
    if (!events.events.empty() && !queue_.Push(std::move(events)).ok()) lost_ = true;
  }
  std::vector<RunEvents> PopUpTo(size_t max) { return queue_.PopUpTo(max); }
  // Returns true once after events were lost. The firing loop then checks every run that
  // counts as claimed.
  bool TakeLost() { return lost_.exchange(false); }
  const BoundedQueue<RunEvents>& queue() const { return queue_; }

 private:
  BoundedQueue<RunEvents> queue_;
  std::atomic<bool> lost_{false};
};

// Queue of runs on their way into the firing loop's memory. Dropping some of them is safe, because
// the store has them all. A drop sets a flag. The sweep then reads all due runs.
class RunFeed {
 public:
  RunFeed(std::string name, size_t capacity) : queue_(std::move(name), capacity) {}
  void OnPush(std::function<void()> wake) { queue_.OnPush(std::move(wake)); }
  // kExhausted: the queue is full. These runs were dropped, and TakeDropped() returns a time.
  Status Push(std::vector<PendingRun> runs) {
    WallTime last_due = WallTime::min();
    for (const PendingRun& run : runs) last_due = std::max(last_due, run.due);
    const Status pushed = queue_.Push(std::move(runs));
    if (!pushed.ok()) NoteDropped(last_due);
    return pushed;
  }
  // Like Push, but a failure does not count as a drop. For a caller that reads the same rows again
  // if the queue is full.
  Status Offer(std::vector<PendingRun> runs) { return queue_.Push(std::move(runs)); }
  std::vector<std::vector<PendingRun>> PopUpTo(size_t max) { return queue_.PopUpTo(max); }
  // Call it if memory had no room for a run, or for several that are due by `last_due`.
  void NoteDropped(WallTime last_due) {
    MutexLock lock(mu_);
    dropped_ = std::max(dropped_.value_or(last_due), last_due);
  }
  // Returns, once after runs were dropped, a time by which all of them are due.
  std::optional<WallTime> TakeDropped() {
    MutexLock lock(mu_);
    return std::exchange(dropped_, std::nullopt);
  }
  const std::string& name() const { return queue_.name(); }
  const BoundedQueue<std::vector<PendingRun>>& queue() const { return queue_; }

 private:
  BoundedQueue<std::vector<PendingRun>> queue_;
  Mutex mu_;
  std::optional<WallTime> dropped_ GUARDED_BY(mu_);
};
// Runs whose parameters are still to be read. plan/parameter_loader.h reads them and returns
// the runs through the feed.
using LoadQueue = BoundedQueue<PendingRun>;

// A run to be recorded as SKIPPED without going to an executor; plan/skip_writer.h writes it.
struct SkipRequest {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  Epoch epoch;
  int attempt = 1;
  int64_t def_version = 0;
  WallTime due;
  std::string_view reason;  // a constant of namespace `reason` in run.h
  std::string error = {};   // a sentence for users, if the reason needs one
  int priority = 0;
};
using SkipQueue = BoundedQueue<std::vector<SkipRequest>>;

}  // namespace carillon::scheduler
