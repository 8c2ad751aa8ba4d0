// The runs in memory, and their moves from one place to another. A move also updates the wheel, the
// lanes and the executors' credits.
//
// Place    The state that firing_loop shares with its parts.
// Threads  Not thread-safe; the firing loop owns it.
// Always   A run in kWheel is in the wheel; a run in kReady is in a lane. A run in kInFlight or
//          kClaimed is charged to its executor.
#pragma once

#include <deque>

#include "scheduler/fire/begun_fires.h"
#include "scheduler/fire/firing_ports.h"
#include "scheduler/fire/ready_lanes.h"
#include "scheduler/fire/run_table.h"
#include "scheduler/wheel/wheel_loop.h"

namespace carillon::scheduler {

// Records when a run came to a place. The note is stale once the run has another stamp.
struct PlaceNote {
  SteadyTime at;
  RunKey key;
  uint32_t stamp = 0;
};

class RunPlaces {
 public:
  static constexpr Duration kSettledKept = 2s;  // longer than the result of a scan is in transit

  RunPlaces(const FiringPorts& ports, const FiringOptions& options)
      : runs_(options.capacity),
        wheel_(ports.cluster, ports.clock.Steady(), options.capacity),
        credits_(options.prefetch_max),
        lanes_(runs_, options.ageing_per_priority),
        begun_(credits_) {}

  RunTable& runs() { return runs_; }
  const RunTable& runs() const { return runs_; }
  WheelLoop& wheel() { return wheel_; }
  const WheelLoop& wheel() const { return wheel_; }
  ExecutorCredits& credits() { return credits_; }
  const ExecutorCredits& credits() const { return credits_; }
  ReadyLanes& lanes() { return lanes_; }
  const ReadyLanes& lanes() const { return lanes_; }
  BegunFires& begun() { return begun_; }

  // Moves the run to kReady. Its definition must be set.
  void EnterLane(TrackedRun& tracked, SteadyTime now);
  // Call it for a run that was published and not claimed, after Release: moves it to kReady, or to
  // kSettled if it is gone.
  void PutBack(TrackedRun& tracked, SteadyTime now);
  // Removes the run from the wheel and returns its credit. The caller then moves or erases the run.
  void Release(TrackedRun& tracked);
  // Moves the run to kSettled. Call Release first.
  void Settle(TrackedRun& tracked, SteadyTime now);
  void Forget(const RunKey& key);
  void ForgetSettled(SteadyTime now);

 private:
  RunTable runs_;
  WheelLoop wheel_;
  ExecutorCredits credits_;
  ReadyLanes lanes_;
  BegunFires begun_;
  std::deque<PlaceNote> settled_;
};

}  // namespace carillon::scheduler
