// Finds first attempts that have not started although they are later than their job allows. Those
// that start late are told by the claim itself.
//
// Place    On the notifier's loop.
// Threads  One loop calls Step.
// Errors   Store away: the page is looked at again with the next round.
// Always   A page a Step, with no lower bound; a run is told once (the store keeps what is there).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "common/base/loop.h"
#include "common/ports/firing_store.h"
#include "common/ports/notice_store.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/assign/segment_table.h"
#include "scheduler/handover/cluster_clock.h"

namespace carillon::scheduler {

class LateWatch final : public Stepper {
 public:
  static constexpr Duration kRoundEvery = 2s;
  static constexpr Duration kPageGap = 50ms;
  static constexpr Duration kLeastLateness = 1s;  // of any job

  struct Ports {
    FiringStore& firing;
    NoticeStore& notices;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    Metrics& metrics;
  };
  // For each key how late its runs may start; zero = they may, or it is not known.
  using Limits = std::function<std::vector<Duration>(const std::vector<JobVersionKey>&)>;
  LateWatch(const Ports& ports, Limits limits) : ports_(ports), limits_(std::move(limits)) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  bool LookAtPage(WallTime cluster_now);
  std::vector<Notice> LateOnes(const std::vector<RunRow>& rows, WallTime cluster_now);
  void EndRound();

  const Ports ports_;
  const Limits limits_;
  std::optional<std::pair<WallTime, RunKey>> cursor_;
  std::set<RunKey> told_;        // by the round before
  std::set<RunKey> still_late_;  // by this one
  SteadyTime next_{};
};

}  // namespace carillon::scheduler
