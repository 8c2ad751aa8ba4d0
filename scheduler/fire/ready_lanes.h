// The ready runs, in lanes. A lane holds the runs that may go to the same executors. If none of
// these executors has room for one run of a lane, none has room for another run of this lane.
//
// Place    Steps 4 and 5 of docs/life-of-a-run.md. run_places adds runs; lane_dispatch takes them.
// Threads  Not thread-safe; the firing loop owns it.
// Always   An entry whose run has left the lane is stale (ready_heap.h).
#pragma once

#include <map>
#include <string>

#include "scheduler/fire/ready_heap.h"
#include "scheduler/fire/run_table.h"

namespace carillon::scheduler {

class ReadyLanes {
 public:
  struct Key {
    SlotClass slots = SlotClass::kProcess;
    ExecutorId pinned;
    std::string selector;
    bool secrets = false;

    auto operator<=>(const Key&) const = default;
    bool AnyExecutor() const { return pinned.empty() && selector.empty(); }
  };
  struct Lane {
    explicit Lane(Duration ageing) : heap(ageing) {}
    ReadyHeap heap;
    size_t look_at = 0;    // the entry with which the next check of waiting runs begins
    bool blocked = false;  // in this step, no executor has room for this lane
  };

  ReadyLanes(RunTable& runs, Duration ageing_per_priority)
      : runs_(runs), ageing_per_priority_(ageing_per_priority) {}

  // `stamp` is the stamp with which the run was moved to kReady. The run's definition must be set.
  void Enter(const TrackedRun& tracked, uint32_t stamp);
  // Among the lanes that are not blocked, returns the lane whose first run ranks first. nullptr if
  // none of them has a run. The pointer is valid until the next call.
  std::pair<const Key, Lane>* Best();
  void Unblock();
  // Removes the stale entries of the lane when there are many.
  void Prune(Lane& lane);
  std::map<Key, Lane>& all() { return lanes_; }
  // Number of entries in all lanes, including stale ones.
  size_t entries() const;

 private:
  RunTable& runs_;
  const Duration ageing_per_priority_;
  std::map<Key, Lane> lanes_;
};

}  // namespace carillon::scheduler
