// Creates one notice for each storm in which load is shed.
//
// Place    Runs on the notifier's loop; fire/load_shedding finds the storms.
// Threads  One loop calls Step.
// Errors   Store unavailable: tried again, until the next storm. So is a storm whose newest run is
//          another member's by then.
#pragma once

#include <functional>
#include <optional>

#include "common/base/loops/loop.h"
#include "common/ports/store/notice_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/assign/segment_table.h"
#include "scheduler/handover/cluster_clock.h"

namespace carillon::scheduler {

// The present storm, or the last one.
struct ShedStorm {
  uint64_t number = 0;                // from 1; 0: there was none
  std::optional<Notice> newest = {};  // about the newest run that was shed, if it may be written
};

class ShedWatch final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 2s;

  struct Ports {
    NoticeStore& notices;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
  };
  // `last` is thread-safe.
  ShedWatch(const Ports& ports, std::function<ShedStorm()> last)
      : ports_(ports), last_(std::move(last)) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  bool Tell(Notice notice);

  const Ports ports_;
  const std::function<ShedStorm()> last_;
  uint64_t told_ = 0;
};

}  // namespace carillon::scheduler
