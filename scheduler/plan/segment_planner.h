// Turns due schedules of owned segments into PENDING runs, ahead of time, in fenced transactions
// that also advance the schedules.
//
// Place    Step 1 of docs/life-of-a-run.md; its runs go to the wheel's feed after the commit.
// Threads  One loop calls Step; Nudge is thread-safe.
// Errors   kConflict, kInvalid: the batch is split until one schedule is left, which is read again
//          or set aside for a while, counted and logged; the others go on. kFenced, kTimeout: the
//          segments leave the table (fenced_writer.h). Above the backlog limit it plans nothing:
//          fires stay with their schedules and the watchdog's metric shows them.
// Always   A batch has at most kBatchRowsMax rows; nothing is fed that was not committed. A batch
//          of what is not near is followed by a rest (plan_pace.h).
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <unordered_map>

#include "common/base/backoff.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "scheduler/assign/fenced_writer.h"
#include "scheduler/handover/cluster_clock.h"
#include "scheduler/handover/run_queues.h"
#include "scheduler/plan/plan_builder.h"
#include "scheduler/plan/plan_pace.h"

namespace carillon::scheduler {

class SegmentPlanner final : public Stepper {
 public:
  struct Ports {
    const Clock& clock;
    FiringStore& store;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    RunFeed& feed;
    Metrics& metrics;
  };
  struct Options {
    Duration horizon = 30s;  // schedules with a fire in its first half are planned
    Duration near = 2s;      // planned first, while more schedules wait than one scan shows
    Duration scan_every = 500ms;
    Duration set_aside = 60s;  // a schedule that the store or the parser refuses
    size_t set_aside_max = 10'000;
    size_t batches_per_step = 4;
    size_t batch_rows = kBatchRowsMax;
    size_t schedules_cached = 50'000;
    size_t backlog_max = 300'000;  // runs in memory
    std::function<size_t()> backlog = [] { return size_t{0}; };
    // Due runs wait for their executors: what is far away can wait as well.
    std::function<bool()> busy = [] { return false; };
    // The whole cluster is: fires stay with their schedules, as while no member runs.
    std::function<bool()> paused = [] { return false; };
    // Definitions these runs will need: read before the runs are fed.
    std::function<void(const std::vector<PendingRun>&)> warm = {};
    uint64_t seed = 1;
  };
  SegmentPlanner(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
  void Nudge() { nudged_ = true; }
  // Thread-safe; from the next scan on.
  void SetHorizon(Duration horizon) { horizon_ = horizon; }
  // Thread-safe: with the next scan, nothing is remembered of schedules.
  void Forget() { forget_ = true; }
  // Thread-safe: false while a backlog holds planning back.
  bool accepting() const { return accepting_.load(std::memory_order_relaxed); }
  size_t set_aside() const { return aside_.size(); }

 private:
  enum class Outcome { kDone, kStop };
  struct Aside {
    SteadyTime until;
    int conflicts = 0;
  };

  // Schedules that were found and are not planned yet.
  struct Scan {
    SteadyTime at{};
    uint64_t segments_version = 0;
    std::vector<DueSchedule> due;
    size_t next = 0;
    PlanTimes times;
  };

  bool PlanRound(SteadyTime now);
  bool ScanAnew(const std::vector<SegmentId>& segments, WallTime cluster_now, SteadyTime now);
  bool ScanIsOld(uint64_t segments_version, SteadyTime now) const;
  std::vector<PlannedSchedule> TakeBatch(const std::vector<DueSchedule>& due, size_t* at,
                                         const PlanTimes& times, SteadyTime now);
  Outcome Write(const OwnedView& view, std::vector<PlannedSchedule> planned, SteadyTime now);
  Outcome Split(const OwnedView& view, std::vector<PlannedSchedule> planned, SteadyTime now);
  void RefuseOne(const PlannedSchedule& planned, const Error& error, SteadyTime now);
  Aside& AsideOf(ScheduleId id, SteadyTime now);
  void ForgetOldAsides(SteadyTime now);
  void SetAside(ScheduleId id, const Error& error, SteadyTime now);
  bool IsAside(ScheduleId id, SteadyTime now);
  void Feed(const OwnedView& view, const std::vector<PlannedSchedule>& planned);
  void Count(const std::vector<PlannedSchedule>& planned, WallTime now);

  const Ports ports_;
  const Options options_;
  std::atomic<Duration> horizon_;
  Rng rng_;
  Backoff backoff_;
  ScheduleCache schedules_;
  PlanPace pace_;
  SteadyTime paced_at_{};
  std::optional<Scan> scan_;
  std::unordered_map<ScheduleId, Aside> aside_;  // at most set_aside_max
  SteadyTime asides_looked_at_{};
  std::atomic<bool> nudged_{false};
  std::atomic<bool> forget_{false};
  std::atomic<bool> accepting_{true};
  bool more_ = false;  // something was left that is due for planning now
  SteadyTime next_scan_{};
};

}  // namespace carillon::scheduler
