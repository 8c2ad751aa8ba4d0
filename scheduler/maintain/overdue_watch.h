// Publishes how overdue the oldest run and the oldest unplanned fire are, also while the store does
// not answer.
//
// The ages come from the last reading of the store. Once that is stale, they grow with the clock:
// what was overdue is still so, and a fire that has become due since cannot have been started.
//
// Place    maintenance.h reads the store; the link's loop, which never waits for the store, calls
//          Step.
// Threads  Step by one loop; Looked and the ages are thread-safe.
// Time     Steady.
#pragma once

#include <optional>

#include "common/base/clock.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/base/mutex.h"

namespace carillon::scheduler {

struct OverdueAges {
  Duration overdue{};    // due and not claimed; zero = none
  Duration unplanned{};  // due and not planned; zero = none
};

class OverdueWatch final : public Stepper {
 public:
  // `stale_after`: a reading gets older than this only if the store does not answer.
  OverdueWatch(const Clock& clock, Metrics& metrics, Duration stale_after)
      : clock_(clock), metrics_(metrics), stale_after_(stale_after), looked_(clock.Steady()) {}

  // Reports the result of a reading that began at `asked`.
  void Looked(const OverdueAges& found, SteadyTime asked);
  OverdueAges Ages() const;

  // Sets the metrics.
  SteadyTime Step(SteadyTime now) override;

 private:
  const Clock& clock_;
  Metrics& metrics_;
  const Duration stale_after_;
  mutable Mutex mu_;
  OverdueAges found_ GUARDED_BY(mu_);
  SteadyTime looked_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
