// Fires runs: takes planned runs, waits until each is due, chooses an executor, publishes the task,
// and follows the run until its attempt ends.
//
// Place    Steps 2 to 6 of docs/life-of-a-run.md. This class decides which runs it follows and when
//          they are due. Its parts:
//          - run_places holds the runs;
//          - run_preparation reads what a run lacks;
//          - lane_dispatch publishes runs;
//          - run_skips takes the runs that must not start.
// Time     Due times are cluster time; timeouts are steady time.
// Errors   Nothing here is authoritative. A run that is dropped (full queue, lost segment, refused
//          bundle) is PENDING in the store, and the sweep offers it again. Definitions that are not
//          cached are read from the store. Nothing is written on this path.
// Always   Never publishes a run before its due time by cluster time. Never publishes a run if its
//          segment is no longer held under the epoch with which the run was admitted.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "scheduler/fire/firing_ports.h"
#include "scheduler/fire/lane_dispatch.h"
#include "scheduler/fire/load_shedding.h"
#include "scheduler/fire/run_places.h"
#include "scheduler/fire/run_preparation.h"
#include "scheduler/fire/run_skips.h"

namespace carillon::scheduler {

class FiringLoop final : public Stepper {
 public:
  using Ports = FiringPorts;
  using Options = FiringOptions;
  FiringLoop(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  // Thread-safe. The new timeout takes effect with the next Step.
  void SetDispatchTimeout(Duration timeout) { dispatch_.SetDispatchTimeout(timeout); }
  void SetBusFormat(BusFormat format) { dispatch_.SetBusFormat(format); }
  void SetOverload(std::vector<OverloadLevel> levels) { shedding_.SetLevels(std::move(levels)); }
  // Thread-safe. The run was written as SKIPPED.
  void NoteSkipped(const SkipRequest& skip) {
    if (skip.reason == reason::kShed) shedding_.Count(skip);
  }
  // Thread-safe.
  Storm storm() const { return shedding_.State(); }

  // Thread-safe. Number of runs in memory that no executor has claimed.
  size_t backlog() const { return backlog_.load(std::memory_order_relaxed); }
  // Thread-safe. Number of runs of the backlog that are due.
  size_t due() const { return due_.load(std::memory_order_relaxed); }
  // Thread-safe. Number of runs of the backlog that are due but not published.
  size_t ready() const { return ready_.load(std::memory_order_relaxed); }
  // Number of entries in all lanes, including stale entries of runs that left their lane.
  size_t lane_entries() const { return places_.lanes().entries(); }

 private:
  // ---- owned segments and executors
  void FollowOwnership();
  void FollowExecutors(SteadyTime now);
  void FollowReport(ExecutorCredits::Index executor, const ExecutorView& view);
  void Follow(ExecutorCredits::Index executor, const HeldAttempt& held, Mention mention);
  // ---- events about runs
  void TakeEvents(const std::vector<RunEvents>& batches, SteadyTime now);
  void Handle(const RunEvent& event, ExecutorCredits::Index executor, SteadyTime now);
  void HandleClaimed(TrackedRun& tracked, ExecutorCredits::Index executor, SteadyTime now);
  void HandleGone(TrackedRun& tracked, SteadyTime now);
  void HandleRefused(TrackedRun& tracked, const RunEvent& event, ExecutorCredits::Index executor,
                     SteadyTime now);
  void CheckClaimed(SteadyTime now);
  // ---- new runs and due runs
  void TakeFeed(SteadyTime now);
  void Offer(PendingRun run, SteadyTime now);
  void Admit(PendingRun run, SteadyTime now);
  void DrainWheel(SteadyTime now);

  void PublishCounts();
  SteadyTime NextWake(SteadyTime now) const;

  const Ports ports_;
  const Options options_;
  Gauge& wheel_depth_;
  Gauge& ready_depth_;
  Gauge& in_flight_depth_;
  RunPlaces places_;
  LoadShedding shedding_;
  RunSkips skips_;
  RunPreparation preparation_;
  LaneDispatch dispatch_;
  std::shared_ptr<const OwnedView> view_;
  uint64_t view_version_ = UINT64_MAX;
  std::optional<SteadyTime> check_again_;  // when to check claimed runs after events were lost
  bool more_input_ = false;
  std::atomic<size_t> backlog_{0};
  std::atomic<size_t> due_{0};
  std::atomic<size_t> ready_{0};
};

}  // namespace carillon::scheduler
