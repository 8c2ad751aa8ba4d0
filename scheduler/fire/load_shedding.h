// Decides when load is shed: while due runs wait too long for busy executors, those of low priority
// are skipped if their schedule soon fires again. firing_plan decides about each run. Each lane has
// its own level, because what waits for one executor says nothing about the others.
//
// Place    docs/operations.md#overload, a part of firing_loop. lane_dispatch measures the waits.
// Threads  Not thread-safe, except SetLevels, State and Count; the firing loop owns it.
// Always   Nothing is stored: each member decides by what waits in its own memory.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/base/overload_levels.h"
#include "scheduler/fire/ready_lanes.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

// Finds the level in force. Pure.
class OverloadMeter {
 public:
  static constexpr Duration kEnterAfter = 5s;   // above `late` of a level
  static constexpr Duration kLeaveAfter = 30s;  // below kCalm
  static constexpr Duration kCalm = 2s;

  // Begins anew: no level is in force.
  void SetLevels(std::vector<OverloadLevel> levels);
  // `wait` is that of the oldest due run that waits for a busy executor; zero: none does. A level
  // stays in force until a higher one replaces it, or nothing waits for kCalm any more.
  void Observe(Duration wait, SteadyTime now);
  // nullptr: none.
  const OverloadLevel* level() const { return in_force_ == 0 ? nullptr : &levels_[in_force_ - 1]; }
  size_t number() const { return in_force_; }  // of the level; 0: none
  bool on() const { return !levels_.empty(); }
  // No level is in force, nor about to be.
  bool rests() const { return in_force_ == 0 && !above_since_[0]; }

 private:
  std::vector<OverloadLevel> levels_;
  std::array<std::optional<SteadyTime>, kOverloadLevelsMax> above_since_{};
  std::optional<SteadyTime> calm_since_;
  size_t in_force_ = 0;
};

struct ShedRun {
  RunKey key;
  SegmentId segment;
  JobNo job_no;
};

// A storm: the time in which one level or another is in force for a lane or another.
struct Storm {
  uint64_t number = 0;  // of this process, from 1; 0: there was none
  bool over = true;
  Overload what = {};                  // its level is the highest in force, or the last one
  std::optional<ShedRun> newest = {};  // of the runs that were shed
};

class LoadShedding {
 public:
  LoadShedding(Metrics& metrics, std::vector<OverloadLevel> levels);

  // Thread-safe. The levels take effect with the next Follow.
  void SetLevels(std::vector<OverloadLevel> levels);
  // Thread-safe. The storm, or the last one.
  Storm State() const;

  // Takes over changed levels. Returns true if there are levels, so that waits must be measured.
  bool Follow();
  // Runs of the lane of a lower priority may be shed; 0: none.
  int BelowOf(const ReadyLanes::Key& lane) const;
  // For each lane of a look, then EndLook: nothing waits in the others.
  void Observe(const ReadyLanes::Key& lane, Duration wait, SteadyTime now);
  void EndLook(WallTime cluster_now, SteadyTime now);
  // Thread-safe. The run was written as SKIPPED, which another member, or an edit, may prevent.
  void Count(const SkipRequest& shed);

 private:
  struct Metered {
    OverloadMeter meter;
    SteadyTime observed{};
  };
  void Tell(size_t number, WallTime cluster_now);

  Metrics& metrics_;
  Gauge& level_gauge_;
  std::vector<OverloadLevel> in_use_;          // as of the last Follow
  std::map<ReadyLanes::Key, Metered> meters_;  // those that do not rest; a lane may be gone
  size_t told_ = 0;                            // number of the level that Storm has
  std::atomic<bool> changed_ = false;
  mutable Mutex mu_;
  std::vector<OverloadLevel> levels_ GUARDED_BY(mu_);
  Storm storm_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
