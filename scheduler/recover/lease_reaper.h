// Declares attempts LOST when their lease has expired, and feeds their retries to the firing loop.
//
// Place    Step 10 of docs/life-of-a-run.md, for attempts whose result never arrives.
// Errors   If nothing was written, the attempts stay marked and are written later. The lease of a
//          marked attempt cannot be renewed or granted again. If the outcome is unknown, the
//          segments are taken again and scanned. kInvalid: the batch is bisected. The bad attempt
//          stays marked and is retried.
// Always   An attempt is marked in the lease table before the store is written
//          (lease_table.h, rule 2).
#pragma once

#include <span>

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/handover/signals.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

class LeaseReaper final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    LeaseTable& leases;
    RunFeed& feed;
    RunEventQueue& events;
    Metrics& metrics;
    const MemberSignals& signals;
  };
  LeaseReaper(const Ports& ports, uint64_t seed);

  SteadyTime Step(SteadyTime now) override;

 private:
  // Returns false if some losses were not written, or may not have been written.
  bool Write(const OwnedView& view, const std::vector<ExpiredLease>& expired);
  Status MarkLost(const OwnedView& view, std::span<const ExpiredLease> expired, WallTime now);
  void Effects(const OwnedView& view, const std::vector<ExpiredLease>& written,
               const std::vector<RunEffect>& effects);

  const Ports ports_;
  Rng rng_;
  Backoff backoff_;
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
