// Measures how overdue the oldest run and the oldest unplanned fire are, also while the store does
// not answer.
//
// A look that is recent says it. Without one the ages grow with the clock: what was overdue is by
// now that much more so, and what has become due since cannot have been noticed, let alone started.
//
// Place    Maintenance looks; the link's loop, which never waits for the store, shows.
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
  // Looks are older than `stale_after` only when the store is away.
  OverdueWatch(const Clock& clock, Metrics& metrics, Duration stale_after)
      : clock_(clock), metrics_(metrics), stale_after_(stale_after), looked_(clock.Steady()) {}

  // What a look that began at `asked` has found.
  void Looked(const OverdueAges& found, SteadyTime asked);
  OverdueAges Ages() const;

  // Shows the ages.
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
