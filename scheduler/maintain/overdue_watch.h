// Publishes by how much the oldest unclaimed run and the oldest unplanned fire are overdue. Does so
// even while the store does not answer.
//
// The ages come from the last read of the store. When this read is stale, the ages grow with the
// clock. Without the store, no run can be claimed and no fire can be planned.
//
// Place    maintenance.h reads the store. The loop `link` calls Step, because this loop never waits
//          for the store.
// Threads  One loop calls Step; Looked and Ages are thread-safe.
// Time     Steady time.
#pragma once

#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/base/mutex.h"
#include "common/ports/overdue_report.h"

namespace carillon::scheduler {

struct OverdueAges {
  Duration overdue{};    // due and not claimed; zero = none
  Duration unplanned{};  // due and not planned; zero = none
};

class OverdueWatch final : public Stepper {
 public:
  // `stale_after`: if the last read is older than this, the store does not answer.
  OverdueWatch(const Clock& clock, Metrics& metrics, Duration stale_after)
      : clock_(clock), metrics_(metrics), stale_after_(stale_after), looked_(clock.Steady()) {}

  // Reports the result of a read that began at `asked`.
  void Looked(const OverdueAges& found, std::vector<UnplannedJob> jobs, SteadyTime asked);
  OverdueAges Ages() const;
  // The jobs with a fire that should have been planned, as of the last read.
  std::vector<UnplannedJob> UnplannedJobs() const;

  // Sets the metrics.
  SteadyTime Step(SteadyTime now) override;

 private:
  const Clock& clock_;
  Metrics& metrics_;
  const Duration stale_after_;
  mutable Mutex mu_;
  OverdueAges found_ GUARDED_BY(mu_);
  std::vector<UnplannedJob> jobs_ GUARDED_BY(mu_);
  SteadyTime looked_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
