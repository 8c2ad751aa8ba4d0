// Housekeeping: partitions and retention, and the watchdog that looks at the store from outside the
// planner: what is due and not claimed, what is due and not planned.
//
// Threads  One loop calls Step; the ages are thread-safe.
// Errors   Counted, logged, tried again.
#pragma once

#include <atomic>

#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/admin_store.h"
#include "common/ports/firing_store.h"
#include "scheduler/wheel/cluster_clock.h"

namespace carillon::scheduler {

class Maintenance final : public Stepper {
 public:
  struct Options {
    Duration every = 5min;
    Duration retention = 24h * 14;
    Duration look_every = 2s;
  };
  Maintenance(AdminStore& admin, FiringStore& firing, const ClusterClock& cluster, Metrics& metrics,
              Options options);

  SteadyTime Step(SteadyTime now) override;

  Duration oldest_overdue() const { return Duration(overdue_us_.load()); }
  Duration oldest_unplanned() const { return Duration(unplanned_us_.load()); }

 private:
  void Look(WallTime cluster_now);

  AdminStore& admin_;
  FiringStore& firing_;
  const ClusterClock& cluster_;
  Metrics& metrics_;
  const Options options_;
  SteadyTime next_{};
  SteadyTime next_look_{};
  std::atomic<int64_t> overdue_us_{0};
  std::atomic<int64_t> unplanned_us_{0};
};

}  // namespace carillon::scheduler
