// Recovers segments that were just taken: what is RUNNING there gets a lease that outlasts every
// lease an earlier owner can have granted; then the segment may be planned.
//
// Place    Between ownership and step 1 of docs/life-of-a-run.md. What is PENDING there is the
//          sweep's (plan/sweep.h).
// Threads  One loop calls Step.
// Time     Not lost before `taken + lease + margin` on this member's steady clock, where `taken` is
//          after the epoch's commit and `lease` the longest that any owner so far may have granted.
#pragma once

#include "common/base/backoff.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/firing_store.h"
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
    Duration lease = 20s;
    Duration margin = 6s;
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
