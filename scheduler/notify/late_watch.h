// Creates notices for first attempts that have not started and are later than their job allows. If
// an attempt starts late, its claim creates the notice.
//
// Place    Runs on the notifier's loop.
// Threads  One loop calls Step.
// Errors   Store unavailable: the page is read again in the next round.
// Always   Each Step reads one page of pending runs, however old they are. A run gets one notice:
//          the store ignores a second one of the same kind.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "common/base/loops/loop.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/notice_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/assign/segment_table.h"
#include "scheduler/handover/cluster_clock.h"

namespace carillon::scheduler {

class LateWatch final : public Stepper {
 public:
  static constexpr Duration kRoundEvery = 2s;
  static constexpr Duration kPageGap = 50ms;
  static constexpr Duration kLeastLateness = 1s;  // the shortest limit that a job can set

  struct Ports {
    FiringStore& firing;
    NoticeStore& notices;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    Metrics& metrics;
  };
  // Returns how late each run may start; zero = no limit, or not known.
  using Limits = std::function<std::vector<Duration>(const std::vector<const RunRow*>&)>;
  LateWatch(const Ports& ports, Limits limits) : ports_(ports), limits_(std::move(limits)) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  bool LookAtPage(WallTime cluster_now);
  std::vector<Notice> LateOnes(const std::vector<RunRow>& rows, WallTime cluster_now);
  void EndRound();

  const Ports ports_;
  const Limits limits_;
  std::optional<std::pair<WallTime, RunKey>> cursor_;
  std::set<RunKey> notified_;    // late runs of the previous round; they have their notice
  std::set<RunKey> still_late_;  // late runs of this round so far
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
