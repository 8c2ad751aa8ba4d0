// Stores the progress and the checkpoints that executors send, and answers the executors.
//
// Place    Beside step 8 of docs/life-of-a-run.md; no fire waits for it.
// Threads  One loop calls Step.
// Errors   Without a write there is no answer, and the executor sends the content of then again.
// Always   A save is answered only after the commit. Saves of segments that this member does not
//          own are left to their owner.
#pragma once

#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/checkpoint_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/liveness/link_service.h"

namespace carillon::scheduler {

class CheckpointWriter final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    CheckpointStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    ExecutorHub& hub;
    SaveQueue& progress;
    SaveQueue& checkpoints;
    Metrics& metrics;
  };
  static constexpr size_t kProgressPerStep = 256;
  static constexpr size_t kCheckpointsPerStep = 8;

  explicit CheckpointWriter(const Ports& ports) : ports_(ports) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  void Write(std::vector<SaveArrival> arrivals);
  void Answer(const SaveArrival& arrival, SaveVerdict verdict);

  const Ports ports_;
};

}  // namespace carillon::scheduler
