// The ready runs, in lanes. A lane holds the runs that may go to the same executors. If none of
// these executors has room for one run of a lane, none has room for another run of this lane.
//
// Place    Steps 4 and 5 of docs/life-of-a-run.md. run_places adds runs; lane_dispatch takes them.
// Threads  Not thread-safe; the firing loop owns it.
// Always   An entry whose run has left the lane is stale (ready_heap.h). The place of a lane in the
//          order of lanes is never behind its first entry, so the first place belongs to the best
//          lane, or is corrected before it is used.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "scheduler/fire/ready_heap.h"
#include "scheduler/fire/run_table.h"
#include "scheduler/route/candidates.h"

namespace carillon::scheduler {

class ReadyLanes {
 public:
  struct Key {
    SlotClass slots = SlotClass::kProcess;
    ExecutorId pinned;
    std::string selector;
    Features needs;
    bool begins = false;  // fires that have not begun, each of which needs room for a part

    auto operator<=>(const Key&) const = default;
    bool AnyExecutor() const { return pinned.empty() && selector.empty(); }
  };
  struct Lane {
    explicit Lane(Duration ageing) : heap(ageing) {}
    ReadyHeap heap;
    Candidates candidates;
    size_t look_at = 0;  // the entry with which the next check of waiting runs begins
    // Its place in the order of lanes: its first entry, or one that was first before. Not set: it
    // is blocked, or has no entry.
    std::optional<ReadyHeap::Entry> place;
    // Kept while load may be shed: the run that waits longest, of those looked at; whether an
    // executor could serve it; and the priority below which runs may be shed, 0: none.
    std::optional<ReadyHeap::Entry> oldest;
    bool served = false;
    int shed_below = 0;
    // Of fires that have not begun: since when no executor with room claims what it is sent.
    std::optional<SteadyTime> unclaimed_since;
  };

  ReadyLanes(RunTable& runs, Duration ageing_per_priority)
      : runs_(runs), ageing_per_priority_(ageing_per_priority) {}

  // `stamp` is the stamp with which the run was moved to kReady. The run's definition must be set.
  void Enter(const TrackedRun& tracked, uint32_t stamp);
  // Among the lanes that are not blocked, returns the lane whose first run ranks first. nullptr if
  // none of them has a run. The pointer is valid until the next call.
  std::pair<const Key, Lane>* Best();
  // No executor has room for the lane that Best has returned: leaves it out until Unblock.
  void Block(std::pair<const Key, Lane>& lane);
  void Unblock();
  // Removes the stale entries of the lane when there are many.
  void Prune(Lane& lane);
  std::map<Key, Lane>& all() { return lanes_; }
  // Number of entries in all lanes, including stale ones.
  size_t entries() const;

 private:
  using Placed = std::pair<const Key, Lane>;
  void Place(Placed& lane);
  void Unplace(Placed& lane);

  RunTable& runs_;
  const Duration ageing_per_priority_;
  std::map<Key, Lane> lanes_;
  std::set<std::pair<ReadyHeap::Entry, Placed*>> order_;  // of the lanes with a place
  std::set<Placed*> blocked_;
};

}  // namespace carillon::scheduler
