// The timing wheel in cluster time. Takes runs with their due time in wall-clock time, and returns
// each when cluster time has reached this time.
//
// Place    Step 3 of docs/life-of-a-run.md, a part of fire/run_places.h.
// Threads  Not thread-safe; the firing loop owns it.
// Time     On insertion, a due time is mapped to the steady clock. On removal, it is compared with
//          cluster time again, because the mapping may have changed meanwhile. A run that is not
//          due by the new mapping is inserted again.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/handover/cluster_clock.h"
#include "scheduler/wheel/timing_wheel.h"

namespace carillon::scheduler {

class WheelLoop {
 public:
  WheelLoop(const ClusterClock& cluster, SteadyTime start, size_t capacity)
      : cluster_(cluster), wheel_(start, capacity) {}

  // kUnavailable before cluster time is known.
  Status Insert(const RunKey& key, WallTime due);
  bool Erase(const RunKey& key) { return wheel_.Erase(key); }

  // Removes and returns at most `max` runs that are due by cluster time. `due_of` maps a key to its
  // due time. If `due_of` returns kNever for a key, the key is dropped.
  template <typename DueOf>
  std::vector<RunKey> Drain(SteadyTime now, size_t max, DueOf due_of) {
    std::vector<RunKey> ready;
    for (const TimingWheel::Due& entry : wheel_.Advance(now, max)) {
      const WallTime due = due_of(entry.key);
      if (due == kNever) continue;
      if (IsDue(due)) {
        ready.push_back(entry.key);
      } else {
        PutBack(entry.key, due);
      }
    }
    return ready;
  }

  std::optional<SteadyTime> NextDue() const { return wheel_.NextDue(); }
  bool IsDue(WallTime due) const;
  size_t size() const { return wheel_.size(); }

 private:
  void PutBack(const RunKey& key, WallTime due);

  const ClusterClock& cluster_;
  TimingWheel wheel_;
};

}  // namespace carillon::scheduler
