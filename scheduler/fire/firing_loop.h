// Fires runs: takes planned runs, waits until each is due, chooses an executor, publishes the task,
// and follows the run until its attempt ends.
//
// Place    Steps 2 to 6 of docs/life-of-a-run.md.
// Threads  One loop calls Step; counts are thread-safe. Meets the other rooms through queues.
// Time     Due times are cluster time; timeouts are steady time.
// Errors   Nothing here is authoritative: a run that is dropped (full queue, lost segment, refused
//          bundle) is PENDING in the store, and the sweep offers it again. Definitions are read
//          from the store on a cache miss; nothing is written on this path.
// Always   Never publishes a run before its due time by cluster time, or for a segment that is no
//          longer held under the epoch that the run was admitted with.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "scheduler/fire/dispatcher.h"
#include "scheduler/fire/firing_plan.h"
#include "scheduler/fire/ready_heap.h"
#include "scheduler/fire/run_table.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/lease_table.h"
#include "scheduler/route/router.h"
#include "scheduler/wheel/wheel_loop.h"

namespace carillon::scheduler {

class FiringLoop final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    const ClusterClock& cluster;
    const SegmentTable& segments;
    const LeaseTable& leases;
    ExecutorTable& executors;
    DefinitionCache& definitions;
    RunFeed& feed;
    RunEventQueue& events;
    LoadQueue& loads;
    SkipQueue& skips;
    BusProducer& producer;
    const Signer& signer;
    Metrics& metrics;
    // True while the whole cluster is paused. Due runs then wait here; whether they still run is
    // decided when the pause ends.
    std::function<bool()> paused = [] { return false; };
    std::function<void()> look_again = {};  // wakes the sweep: a run was edited meanwhile
  };
  struct Options {
    MemberId self;
    size_t capacity = 400'000;          // runs in memory
    Duration dispatch_timeout = 5s;     // a run not claimed within this is published elsewhere
    Duration dispatch_gap = 5ms;        // between two dispatches, so that bundles fill
    size_t dispatch_per_step = 4096;    // runs
    Duration ageing_per_priority = 1s;  // waiting time worth one point (ready_heap.h)
    int prefetch_max = 1024;            // tasks sent to an executor beyond its free slots
    uint64_t seed = 1;
    BusFormat bus_format = BusFormat::kBinary;
  };
  FiringLoop(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;

  // Thread-safe. They take effect with the next Step.
  void SetDispatchTimeout(Duration timeout) { dispatch_timeout_ = timeout; }
  void SetBusFormat(BusFormat format) { bus_format_ = format; }

  // Thread-safe. Number of runs in memory that no executor has claimed.
  size_t backlog() const { return backlog_.load(std::memory_order_relaxed); }
  // Thread-safe. Number of those that are due.
  size_t due() const { return due_.load(std::memory_order_relaxed); }
  // Thread-safe. Number of due ones that are not published.
  size_t ready() const { return ready_.load(std::memory_order_relaxed); }
  // Entries of all lanes, including stale ones of runs that left their lane.
  size_t lane_entries() const;

 private:
  struct Lane {
    explicit Lane(Duration ageing) : heap(ageing) {}
    ReadyHeap heap;
    size_t look_at = 0;    // the entry at which LookAtWaiting continues
    bool blocked = false;  // no executor has room for this lane, in this step
  };
  // A lane holds the runs that the same executors may take: if none of these executors has room for
  // one of the runs, none has room for another.
  struct LaneKey {
    SlotClass slots = SlotClass::kProcess;
    ExecutorId pinned;
    std::string selector;
    bool secrets = false;

    auto operator<=>(const LaneKey&) const = default;
    bool AnyExecutor() const { return pinned.empty() && selector.empty(); }
  };
  static LaneKey LaneOf(const TrackedRun& tracked);
  struct Noted {
    SteadyTime at;
    RunKey key;
    uint32_t stamp = 0;
  };

  // firing_loop.cc: events and runs that come in
  void FollowOwnership();
  void FollowExecutors(SteadyTime now);
  void FollowReport(ExecutorCredits::Index executor, const ExecutorView& view);
  void Follow(ExecutorCredits::Index executor, const HeldAttempt& held, Mention mention);
  void TakeEvents(const std::vector<RunEvents>& batches, SteadyTime now);
  void Handle(const RunEvent& event, ExecutorCredits::Index executor, SteadyTime now);
  void HandleClaimed(TrackedRun& tracked, ExecutorCredits::Index executor, SteadyTime now);
  void HandleRefused(TrackedRun& tracked, const RunEvent& event, ExecutorCredits::Index executor,
                     SteadyTime now);
  void TakeFeed(SteadyTime now);
  void Offer(PendingRun run, SteadyTime now);
  bool Supersedes(const PendingRun& run, const TrackedRun& known, SteadyTime now) const;
  void Admit(PendingRun run, SteadyTime now);
  void DrainWheel(SteadyTime now);
  void MakeReady(TrackedRun& tracked, SteadyTime now);
  void AskParameters(TrackedRun& tracked, SteadyTime now);
  void EnterLane(TrackedRun& tracked, SteadyTime now);
  void Release(TrackedRun& tracked);
  void Settle(TrackedRun& tracked, SteadyTime now);
  void Forget(const RunKey& key);
  void ForgetSettled(SteadyTime now);
  void CheckClaimed(SteadyTime now);

  // firing_loop_dispatch.cc: runs that go out
  void LoadDefinitions(SteadyTime now);
  void LoadSomeDefinitions(SteadyTime now);
  void ReturnTimedOut(SteadyTime now);
  void AskAgain(SteadyTime now);
  void PruneLane(Lane& lane);
  void LookAtWaiting(SteadyTime now);
  std::string_view Judge(const TrackedRun& tracked, WallTime cluster_now) const;
  void Skip(TrackedRun& tracked, std::string_view reason, SteadyTime now);
  void FlushSkips(SteadyTime now);
  void Dispatch(SteadyTime now);
  Lane* BestLane(LaneKey* key);
  bool DispatchTop(const LaneKey& key, Lane& lane, WallTime cluster_now, SteadyTime now);
  void TakeBack(const std::vector<RunKey>& refused, SteadyTime now);
  void PublishCounts();
  SteadyTime NextWake(SteadyTime now) const;

  const Ports ports_;
  const Options options_;
  std::atomic<Duration> dispatch_timeout_;
  std::atomic<BusFormat> bus_format_;
  Histogram& dispatch_delay_;
  Gauge& wheel_depth_;
  Gauge& ready_depth_;
  Gauge& in_flight_depth_;
  WheelLoop wheel_;
  RunTable runs_;
  ExecutorCredits credits_;
  Router router_;
  Dispatcher dispatcher_;
  std::shared_ptr<const OwnedView> view_;
  uint64_t view_version_ = UINT64_MAX;
  std::map<LaneKey, Lane> lanes_;
  std::deque<Noted> in_flight_;
  std::deque<Noted> loading_;
  std::deque<Noted> settled_;
  std::vector<RunKey> undefined_;
  std::vector<SkipRequest> skips_;
  SteadyTime definitions_retry_{};
  SteadyTime last_dispatch_{};
  SteadyTime dispatch_pause_{};  // the bus refused a bundle: no dispatch before this
  SteadyTime next_look_{};
  SteadyTime skips_retry_{};               // the queue was full: no push before this
  std::optional<SteadyTime> check_again_;  // when to check claimed runs after events were lost
  bool skips_full_ = false;                // dispatching stopped at kSkipsHeldMax
  bool more_input_ = false;
  bool more_ready_ = false;
  std::atomic<size_t> backlog_{0};
  std::atomic<size_t> due_{0};
  std::atomic<size_t> ready_{0};
};

}  // namespace carillon::scheduler
