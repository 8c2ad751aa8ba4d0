// Admits queued runs when slots of their jobs or of their groups become free, and skips those that
// have waited for longer than their queue_timeout. Frees slots of groups that nobody uses.
//
// Place    Between steps 9 and 5 of docs/life-of-a-run.md: the end of a run frees a slot, and an
//          admitted run is due, so that it is fired like any other.
// Threads  One loop calls Step; Nudge is thread-safe.
// Time     Looks at the queues every second, and soon after a Nudge. A slot that another member
//          freed, by a cancel through its API, is therefore handed on within a second. So is a slot
//          of a group if the run that is next belongs to another member.
// Errors   A job or group whose admission fails is looked at again a second later.
// Always   The store decides, in one fenced transaction a job or group; nothing here is remembered.
#pragma once

#include <atomic>
#include <functional>

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/queue_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"

namespace carillon::scheduler {

class AdmissionLoop final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    QueueStore& queues;
    FiringStore& firing;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    RunFeed& feed;
    Metrics& metrics;
    // True while the whole cluster is paused. Then nobody is admitted, and no run has to make room.
    std::function<bool()> paused = [] { return false; };
    // Called after holders of slots were asked to stop, so that the requests are sent at once.
    std::function<void()> cancels_requested = [] {};
  };
  explicit AdmissionLoop(const Ports& ports);

  SteadyTime Step(SteadyTime now) override;
  // A slot became free.
  void Nudge() { nudged_ = true; }

 private:
  // Returns true if there may be more to do now.
  bool SkipExpired(const OwnedView& view, const std::vector<SegmentId>& segments, WallTime now);
  bool AdmitSome(const OwnedView& view, const std::vector<SegmentId>& segments, WallTime now);
  bool AdmitToGroups(const OwnedView& view, const std::vector<SegmentId>& segments, WallTime now);
  void ReclaimSlots(const OwnedView& view, const std::vector<SegmentId>& segments, WallTime now);
  // Adds the admitted runs to `due`.
  void TakeAdmitted(const OwnedView& view, const AdmissionEffect& effect,
                    std::vector<PendingRun>* due);
  void Feed(std::vector<PendingRun> due);
  // Adds the admitted runs to `due`.
  bool Admit(const OwnedView& view, const QueuedJob& job, WallTime now,
             std::vector<PendingRun>* due);
  void Count(const AdmissionEffect& effect);

  const Ports ports_;
  Gauge& queued_;
  Histogram& waited_;
  std::atomic<bool> nudged_{false};
  SteadyTime next_{};  // of the look that nobody asked for
  SteadyTime last_{};  // begin of the last look
  JobNo after_{};      // where the present look goes on
  GroupNo after_group_{};
  SteadyTime next_count_{};
  SteadyTime next_reclaim_{};
};

}  // namespace carillon::scheduler
