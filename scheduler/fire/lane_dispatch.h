// Takes ready runs from their lanes. Skips the runs that must not start any more. Publishes
// the other runs, each to an executor with room. A run that is not claimed in time goes back
// to its lane.
//
// Place    Steps 4 to 6 of docs/life-of-a-run.md, a part of firing_loop.
// Threads  Not thread-safe, except for the two setters; the firing loop owns it.
// Always   Publishes nothing while cluster time is unknown or the cluster is paused.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "scheduler/fire/dispatcher.h"
#include "scheduler/fire/firing_ports.h"
#include "scheduler/fire/load_shedding.h"
#include "scheduler/fire/run_places.h"
#include "scheduler/fire/run_skips.h"
#include "scheduler/handover/batch_pace.h"
#include "scheduler/route/candidates.h"
#include "scheduler/route/router.h"

namespace carillon::scheduler {

class LaneDispatch {
 public:
  LaneDispatch(const FiringPorts& ports, const FiringOptions& options, RunPlaces& places,
               RunSkips& skips, LoadShedding& shedding);

  // Returns to their lanes the runs that were not claimed in time. True if an executor is
  // suspected, and so has become unusable.
  bool ReturnTimedOut(SteadyTime now);
  // Returns to their lanes all runs that were published to this executor and that the executor has
  // not claimed. Another executor is then preferred for them.
  void ReturnFrom(ExecutorCredits::Index executor, SteadyTime now);
  // Skips waiting runs that have become too old or are shed, and moves runs from executors that
  // have no slot for them.
  void LookAtWaiting(SteadyTime now);
  void Dispatch(SteadyTime now);
  // The time of the next work; SteadyTime::max() if nothing waits.
  SteadyTime NextStep(SteadyTime now) const;
  // Before this time nothing is dispatched, so that bundles fill.
  SteadyTime next_allowed() const { return pace_.next(); }

  // Thread-safe. They take effect with the next step.
  void SetDispatchTimeout(Duration timeout) { dispatch_timeout_ = timeout; }
  void SetBusFormat(BusFormat format) { bus_format_ = format; }

 private:
  void LookAtLane(ReadyLanes::Lane& lane, WallTime cluster_now, SteadyTime now);
  bool IsServed(const ReadyLanes::Key& key, const ReadyLanes::Lane& lane) const;
  Duration OldestWait(const ReadyLanes::Lane& lane, WallTime cluster_now) const;
  void MoveFromFull(SteadyTime now);
  void GiveUpTurn(TrackedRun& tracked, ExecutorCredits::Index silent);
  bool HasOtherRoom(const TrackedRun& tracked);
  std::string_view Judge(const TrackedRun& tracked, const ReadyLanes::Lane& lane,
                         WallTime cluster_now) const;
  bool DispatchTop(std::pair<const ReadyLanes::Key, ReadyLanes::Lane>& best, WallTime cluster_now,
                   SteadyTime now);
  bool BeginTop(std::pair<const ReadyLanes::Key, ReadyLanes::Lane>& best, TrackedRun& tracked,
                ExecutorCredits::Index executor, SteadyTime now);
  bool MayBegin(std::pair<const ReadyLanes::Key, ReadyLanes::Lane>& best,
                ExecutorCredits::Index picked, SteadyTime now);
  bool AwaitsClaims(const ReadyLanes::Key& key, const ReadyLanes::Lane& lane) const;
  void TakeBack(const std::vector<RunKey>& refused, SteadyTime now);

  const FiringPorts& ports_;
  const FiringOptions& options_;
  RunPlaces& places_;
  RunSkips& skips_;
  LoadShedding& shedding_;
  Histogram& dispatch_delay_;
  std::atomic<Duration> dispatch_timeout_;
  std::atomic<BusFormat> bus_format_;
  Router router_;
  Dispatcher dispatcher_;
  std::deque<PlaceNote> in_flight_;
  // The executors for runs that wait at a full one, by selector and needs. Kept here, because the
  // lane of such a run may be gone.
  std::map<std::pair<std::string, Features>, Candidates> elsewhere_;
  BatchPace pace_;
  SteadyTime dispatch_pause_{};  // no dispatch before this time, because the bus refused a bundle
  SteadyTime next_look_{};
  uint64_t openings_ = 0;    // of the credits, at the last step
  bool skips_full_ = false;  // dispatching stopped, because no more skips can be held
  bool more_ready_ = false;
};

}  // namespace carillon::scheduler
