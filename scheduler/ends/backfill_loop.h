// Continues the backfills of this member's segments: counts the runs that have ended, and creates
// the next ones.
//
// Place    Between steps 9 and 5 of docs/life-of-a-run.md: the end of a run makes room, and a
//          created run is due, so that it is fired like any other, below all live runs.
// Threads  One loop calls Step; Nudge, Ended and IsBackfilled are thread-safe.
// Time     Looks at each backfill every second, and soon after a run of its job has ended here.
// Errors   A backfill whose step fails is looked at again a second later.
// Always   The store decides, in one fenced transaction a backfill. While the whole cluster is
//          paused, no run is created.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/store/backfill_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class BackfillLoop final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 1s;
  static constexpr Duration kLookGap = 50ms;  // between two looks, however often a run ends
  static constexpr size_t kPerLook = 100;     // backfills

  struct Ports {
    BackfillStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    RunFeed& feed;
    Metrics& metrics;
    std::function<bool()> paused = [] { return false; };  // the whole cluster is
    std::function<void()> wake = [] {};                   // of the loop that calls Step
  };
  // `retention`: of finished runs.
  BackfillLoop(const Ports& ports, Duration retention);

  SteadyTime Step(SteadyTime now) override;
  // Thread-safe. Takes effect with the next look.
  void SetRetention(Duration retention) { retention_ = retention; }
  // A backfill was created or resumed.
  void Nudge();
  // Runs of these jobs have ended.
  void Ended(const std::vector<JobNo>& jobs);
  // True if a backfill made the run, as far as this member knows. Such a run starts long after its
  // fire time.
  bool IsBackfilled(const RunKey& key) const;

 private:
  // Returns true if there may be more to do now.
  bool LookAtSome(const OwnedView& view, const std::vector<SegmentId>& segments, WallTime now);
  bool Continue(const OwnedView& view, const OpenBackfill& backfill, WallTime now,
                std::vector<PendingRun>* due);
  bool TakeNudge();
  void Watch(const std::vector<OpenBackfill>& open, bool first_page);

  const Ports ports_;
  Counter& fires_;
  std::atomic<Duration> retention_;
  SteadyTime next_{};   // of the look that nobody asked for
  SteadyTime last_{};   // begin of the last look
  uint64_t after_ = 0;  // where the present look goes on; 0 = it has ended
  mutable Mutex mu_;
  bool nudged_ GUARDED_BY(mu_) = false;
  std::set<JobNo> jobs_ GUARDED_BY(mu_);  // of the backfills that were found last
  std::map<uint64_t, std::vector<RunKey>> runs_ GUARDED_BY(mu_);  // the open ones, by backfill
};

}  // namespace carillon::scheduler
