// Declares attempts LOST whose lease is over, and feeds what is to be tried again.
//
// Place    Step 10 of docs/life-of-a-run.md, for attempts that nobody reports.
// Threads  One loop calls Step.
// Errors   Nothing written: the attempts stay marked and are written later; marked ones are neither
//          renewed nor granted. Unknown outcome: their segments are taken again and scanned.
//          kInvalid: bisected; the bad one stays marked and is tried again.
// Always   Marked in the lease table before the store is asked (lease_table.h, rule 2).
#pragma once

#include "common/base/backoff.h"
#include "common/base/loop.h"
#include "common/ports/firing_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
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
  };
  LeaseReaper(const Ports& ports, uint64_t seed);

  SteadyTime Step(SteadyTime now) override;

 private:
  // False: nothing is known to be written.
  bool Write(const OwnedView& view, const std::vector<ExpiredLease>& expired);
  void Effects(const OwnedView& view, const std::vector<ExpiredLease>& written,
               const std::vector<RunEffect>& effects);

  const Ports ports_;
  Rng rng_;
  Backoff backoff_;
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
