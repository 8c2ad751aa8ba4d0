// Reads the parameter overrides of manual runs and returns the runs to the feed. So the firing loop
// itself never waits for the store.
//
// Place    Between steps 2 and 4 of docs/life-of-a-run.md, for runs of kind manual only.
// Threads  One loop calls Step.
// Errors   A run whose row no longer exists is dropped. While the store is unavailable, the firing
//          loop keeps the run and requests its parameters again.
#pragma once

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class ParameterLoader final : public Stepper {
 public:
  ParameterLoader(FiringStore& store, LoadQueue& wanted, RunFeed& feed, Metrics& metrics)
      : store_(store), wanted_(wanted), feed_(feed), metrics_(metrics) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  FiringStore& store_;
  LoadQueue& wanted_;
  RunFeed& feed_;
  Metrics& metrics_;
};

}  // namespace carillon::scheduler
