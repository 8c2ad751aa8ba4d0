// Recovers segments that were just taken. Each RUNNING run gets a lease that ends after every lease
// that an earlier owner can have granted. Then the segment is activated, and its jobs are planned.
//
// Place    Between ownership and step 1 of docs/life-of-a-run.md. The sweep (plan/sweep.h) finds
//          the PENDING runs.
// Threads  One loop calls Step.
// Time     No run is declared lost before `taken + lease + margin` on this member's steady clock.
//          `taken` is a time after the epoch's commit. `lease` is the longest lease that this or an
//          earlier owner may have granted.
#pragma once

#include "common/base/backoff.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/liveness/applied_memory.h"
#include "scheduler/liveness/lease_table.h"

namespace carillon::scheduler {

class Takeover final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    SegmentTable& segments;
    LeaseTable& leases;
    const AppliedMemory& applied;
    Metrics& metrics;
  };
  struct Options {
    Duration lease = 20s;  // of this member; a longer lease of an earlier owner is used instead
    Duration margin = 6s;  // added to the lease
    uint64_t seed = 1;
  };
  Takeover(const Ports& ports, const Options& options);

  SteadyTime Step(SteadyTime now) override;

 private:
  Status Recover(const OwnedView& view, const std::vector<SegmentId>& segments);

  const Ports ports_;
  const Options options_;
  Rng rng_;
  Backoff backoff_;
  SteadyTime retry_at_{};
};

}  // namespace carillon::scheduler
