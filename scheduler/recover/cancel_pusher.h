// Sends cancel requests to the executors, repeatedly, until the run is final.
//
// Place    Beside step 8 of docs/life-of-a-run.md.
// Threads  One loop calls Step; Nudge is thread-safe.
// Always   The request is stored in the run's row, so it survives a restart of this member.
#pragma once

#include <atomic>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
#include "scheduler/liveness/executor_table.h"
#include "scheduler/liveness/lease_table.h"
#include "scheduler/recover/given_up.h"

namespace carillon::scheduler {

class CancelPusher final : public Stepper {
 public:
  struct Ports {
    FiringStore& store;
    const SegmentTable& segments;
    const LeaseTable& leases;
    const ExecutorTable& executors;
    ExecutorHub& hub;
    Metrics& metrics;
    GivenUp* given_up = nullptr;  // ends attempts that a person has given up
  };
  explicit CancelPusher(const Ports& ports) : ports_(ports) {}

  SteadyTime Step(SteadyTime now) override;
  void Nudge() { nudged_ = true; }

 private:
  struct SentCancel {
    SteadyTime at;
    CancelMode mode;
  };
  using SentCancels = std::unordered_map<RunKey, SentCancel>;
  // Takes those runs out of the page.
  void EndGivenUp(const OwnedView& view, RunningPage* page);
  void SendPage(const std::vector<RunRow>& asked, SteadyTime now, SentCancels* sent);

  const Ports ports_;
  std::atomic<bool> nudged_{false};
  SteadyTime next_{};
  SentCancels sent_;  // the last message sent for each run of the last scan
};

}  // namespace carillon::scheduler
