// A PENDING run on its way through the owner's memory, and what happens to it there. These are the
// items of the queues between the rooms of the firing path.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bounded_queue.h"
#include "common/domain/run_state.h"

namespace carillon::scheduler {

// What only runs made by hand carry.
struct RunExtras {
  ExecutorId pinned_executor = {};
  bool request_loaded = false;
  RunRequest request = {};
};

struct PendingRun {
  RunKey key;
  JobNo job_no;
  SegmentId segment;
  Epoch epoch;  // under which this memory is valid
  int attempt = 1;
  int64_t def_version = 0;
  WallTime due;
  int priority = 0;
  RunKind kind = RunKind::kCron;
  std::shared_ptr<const RunExtras> extras = {};  // shared: immutable, null for almost every run
};

// A run of kind manual needs what its request said before it can be dispatched.
inline bool NeedsExtras(const PendingRun& run) {
  return run.kind == RunKind::kManual && (run.extras == nullptr || !run.extras->request_loaded);
}

PendingRun ToPendingRun(const RunRow& row, Epoch epoch);

// What the claims, results and recovery rooms tell the firing loop about a run it tracks.
struct RunEvent {
  enum class What {
    kClaimed,   // accepted (again): the executor's slot is taken
    kRefused,   // forget it; the store knows better
    kStale,     // forget it and look at the store again: it was edited, or is not due
    kReturned,  // not by this executor: give it to another one
    kEnded,     // the attempt is over: the slot is free
  };
  What what = What::kClaimed;
  RunKey key;
  int attempt = 1;
  std::optional<Duration> ran = {};  // kEnded: from its start to its end, where that is known
};

struct RunEvents {
  ExecutorId executor = {};  // who claimed; not set for kEnded
  std::vector<RunEvent> events;
};

// Events must not get lost silently: one that did would hold a slot for ever.
class RunEventQueue {
 public:
  RunEventQueue(std::string name, size_t capacity) : queue_(std::move(name), capacity) {}
  void OnPush(std::function<void()> wake) { queue_.OnPush(std::move(wake)); }
  void Push(RunEvents events) {
    if (!events.events.empty() && !queue_.Push(std::move(events)).ok()) lost_ = true;
  }
  std::vector<RunEvents> PopUpTo(size_t max) { return queue_.PopUpTo(max); }
  // True once after events were lost: the firing loop checks what it believes to be claimed.
  bool TakeLost() { return lost_.exchange(false); }
  const BoundedQueue<RunEvents>& queue() const { return queue_; }

 private:
  BoundedQueue<RunEvents> queue_;
  std::atomic<bool> lost_{false};
};

// Runs on their way into memory. The store has them all, so that one may get lost here, but not
// silently: the sweep looks more closely then.
class RunFeed {
 public:
  RunFeed(std::string name, size_t capacity) : queue_(std::move(name), capacity) {}
  void OnPush(std::function<void()> wake) { queue_.OnPush(std::move(wake)); }
  // kExhausted: these are lost to memory.
  Status Push(std::vector<PendingRun> runs) {
    const Status pushed = queue_.Push(std::move(runs));
    if (!pushed.ok()) dropped_ = true;
    return pushed;
  }
  // For whoever reads the same rows again when there is no room.
  Status Offer(std::vector<PendingRun> runs) { return queue_.Push(std::move(runs)); }
  std::vector<std::vector<PendingRun>> PopUpTo(size_t max) { return queue_.PopUpTo(max); }
  // What was taken out did not fit into memory.
  void NoteDropped() { dropped_ = true; }
  // True once after runs were lost.
  bool TakeDropped() { return dropped_.exchange(false); }
  const std::string& name() const { return queue_.name(); }
  const BoundedQueue<std::vector<PendingRun>>& queue() const { return queue_; }

 private:
  BoundedQueue<std::vector<PendingRun>> queue_;
  std::atomic<bool> dropped_{false};
};
// Runs made by hand whose requests plan/parameter_loader.h reads; they come back over the feed.
using LoadQueue = BoundedQueue<PendingRun>;

// A run that is decided without an executor; plan/skip_writer.h writes it.
struct SkipRequest {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
  Epoch epoch;
  int attempt = 1;
  int64_t def_version = 0;
  std::string_view reason;  // run.h reason::…
};
using SkipQueue = BoundedQueue<std::vector<SkipRequest>>;

}  // namespace carillon::scheduler
