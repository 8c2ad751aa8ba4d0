// Continues the backfills of this member's segments: counts the runs that have ended, and creates
// the next ones.
//
// Place    Between steps 9 and 5 of docs/life-of-a-run.md: the end of a run makes room, and a
//          created run is due, so that it is fired like any other, below all live runs.
// Threads  One loop calls Step; Nudge, Ended and IsBackfilled are thread-safe.
// Time     Looks at each backfill every second, and soon after a run of its job has ended here.
// Errors   A backfill whose step fails is looked at again a second later.
// Always   The store decides, in one fenced transaction a backfill. While the whole cluster is
//          paused, no run is created.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/ports/store/backfill_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class BackfillLoop final : public Stepper {
 public:
  struct Ports {
    OwnerPorts owner;
    BackfillStore& store;
    RunFeed& feed;
  };
  // `retention`: of finished runs.
  BackfillLoop(const Ports& ports, Duration retention);

  SteadyTime Step(SteadyTime now) override;
  // Thread-safe. Takes effect with the next look.
  void SetRetention(Duration retention) { retention_ = retention; }
  // A backfill was created or resumed. Returns true if the loop must be woken.
  bool Nudge() { return scan_.Nudge(); }
  // Runs of these jobs have ended. Returns true if the loop must be woken.
  bool Ended(const std::vector<JobNo>& jobs);
  // True if a backfill made the run, as far as this member knows. Such a run starts long after its
  // fire time.
  bool IsBackfilled(const RunKey& key) const;

 private:
  void StepSome(const OwnerScan::Look& look);
  // Adds the runs that are due to `due`. Returns true if there is more to do now.
  bool StepOne(const OwnerScan::Look& look, const OpenBackfill& backfill,
               std::vector<PendingRun>* due);
  void Watch(const std::vector<OpenBackfill>& open, bool first_page);

  const Ports ports_;
  Counter& fires_;
  std::atomic<Duration> retention_;
  // Sets nothing aside: a write concerns one backfill, so that its error delays no other one.
  OwnerScan scan_;
  uint64_t after_ = 0;  // where the present look goes on; 0 = it has ended
  mutable Mutex mu_;
  std::set<JobNo> jobs_ GUARDED_BY(mu_);  // of the backfills that were found last
  std::map<uint64_t, std::vector<RunKey>> runs_ GUARDED_BY(mu_);  // the open ones, by backfill
};

}  // namespace carillon::scheduler
