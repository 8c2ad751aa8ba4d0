// Admits queued runs when slots of their jobs or of their groups become free, and skips those that
// have waited for longer than their queue_timeout. Frees slots of groups that nobody uses.
//
// Place    Between steps 9 and 5 of docs/life-of-a-run.md: the end of a run frees a slot, and an
//          admitted run is due, so that it is fired like any other.
// Threads  One loop calls Step; Nudge is thread-safe.
// Time     Looks at the queues every second, and soon after a Nudge. A slot that another member
//          freed, by a cancel through its API, is therefore handed on within a second. So is a slot
//          of a group if the run that is next belongs to another member. A slot that is given again
//          at a known time is reserved before it (kGroupAhead); for that, it looks every 100 ms at
//          most.
// Errors   A job or group whose admission fails is looked at again a second later.
// Always   The store decides, in one fenced transaction a job or group; nothing here is remembered.
//          While the whole cluster is paused nobody is admitted, and no run has to make room.
#pragma once

#include <algorithm>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/queue_store.h"
#include "scheduler/ends/owner_scan.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class AdmissionLoop final : public Stepper {
 public:
  struct Ports {
    OwnerPorts owner;
    QueueStore& queues;
    FiringStore& firing;
    RunFeed& feed;
  };
  explicit AdmissionLoop(const Ports& ports);

  SteadyTime Step(SteadyTime now) override;
  // A slot became free.
  void Nudge() { scan_.Nudge(); }

 private:
  using Look = OwnerScan::Look;

  // Returns true if there may be more to do now.
  bool SkipExpired(const Look& look);
  void AdmitToJobs(const Look& look);
  void AdmitToGroups(const Look& look);
  void WakeWhenCool(const Look& look, WallTime next_cool);
  SteadyTime Next() const { return std::min(scan_.Next(), cool_at_); }
  void ReclaimSlots(const Look& look);
  // Adds the admitted runs to `due`. Returns true if there is more to do now.
  bool Admit(const Look& look, const QueuedJob& job, std::vector<PendingRun>* due);
  bool AdmitGroup(const Look& look, const QueuedGroup& group, std::vector<PendingRun>* due);
  void TakeEffect(const Look& look, const AdmissionEffect& effect, std::vector<PendingRun>* due);
  void Feed(std::vector<PendingRun> due);

  const Ports ports_;
  Gauge& queued_;
  Histogram& waited_;
  // Sets nothing aside: a write concerns one job or group, so that its error delays no other one.
  OwnerScan scan_;
  bool more_expired_ = false;
  JobNo after_{};  // where the next look goes on
  GroupNo after_group_{};
  SteadyTime cool_at_ = SteadyTime::max();  // when a slot of a group with a queue can be reserved
  SteadyTime next_count_{};
  SteadyTime next_reclaim_{};
};

}  // namespace carillon::scheduler
