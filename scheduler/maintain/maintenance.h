// Housekeeping of the store (partitions and retention), and a watchdog. The watchdog is independent
// of the loops that plan and fire. It reads from the store the oldest due run that is not claimed,
// and the oldest due fire that is not planned. overdue_watch.h publishes their ages.
// Threads  One loop calls Step.
// Errors   Counted, logged and retried.
#pragma once

#include <atomic>
#include <functional>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/housekeeping.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/maintain/overdue_watch.h"

namespace carillon::scheduler {

class Maintenance final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 2s;

  struct Ports {
    const Clock& clock;
    Housekeeping& housekeeping;
    FiringStore& firing;
    const ClusterClock& cluster;
    OverdueWatch& overdue;
    Metrics& metrics;
    // While the function returns false, nothing is deleted and nothing is read.
    std::function<bool()> store_trusted = [] { return true; };
  };
  struct Options {
    Duration every = 5min;  // between two rounds of housekeeping
    Retention retention = {.runs = 24h * 14};
  };
  Maintenance(const Ports& ports, Options options)
      : ports_(ports),
        options_(std::move(options)),
        retention_(options_.retention.runs),
        keep_last_(options_.retention.keep_last) {}

  SteadyTime Step(SteadyTime now) override;
  // Thread-safe. Takes effect with the next housekeeping.
  void SetRetention(const Retention& retention) {
    retention_ = retention.runs;
    keep_last_ = retention.keep_last;
  }

 private:
  void Look(WallTime cluster_now);

  const Ports ports_;
  const Options options_;
  std::atomic<Duration> retention_;
  std::atomic<int> keep_last_;
  SteadyTime next_{};
  SteadyTime next_look_{};
};

}  // namespace carillon::scheduler
