// Records as SKIPPED the runs that the firing plan decided not to run.
//
// Place    Step 4 of docs/life-of-a-run.md.
// Threads  One loop calls Step.
// Errors   Runs that are dropped here are found again by the sweep of the segment's owner.
//          - kUnavailable, kBrokenStore: the runs are kept, up to a limit, and written later. Runs
//            beyond the limit are dropped.
//          - kFenced, kTimeout (outcome unknown): the runs are dropped.
//          - kInvalid, kConflict: the batch is bisected. The bad run is dropped, and logged each
//            time the sweep finds it again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class SkipWriter final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    SkipQueue& queue;
    Metrics& metrics;
    // Told of each run that was written.
    std::function<void(const SkipRequest&)> written = [](const SkipRequest&) {};
  };
  SkipWriter(const Ports& ports, uint64_t seed);

  SteadyTime Step(SteadyTime now) override;

 private:
  // Returns false if the store is unavailable and `requests` should be kept.
  bool Write(const OwnedView& view, const std::vector<SkipRequest>& requests);
  using ByRun = std::map<RunKey, const SkipRequest*>;
  Status Skip(const OwnedView& view, std::span<const SkipItem> items, const ByRun& requests,
              WallTime now);

  const Ports ports_;
  Rng rng_;
  Backoff backoff_;
  std::deque<SkipRequest> held_;
  SteadyTime retry_at_{};
};

}  // namespace carillon::scheduler
