// Turns due schedules of owned segments into PENDING runs, ahead of time. The fenced transactions
// that write the runs also advance the schedules.
//
// Place    Step 1 of docs/life-of-a-run.md. After the commit, the runs go to the wheel's feed.
// Threads  One loop calls Step; Nudge is thread-safe.
// Errors   kConflict, kInvalid: the batch is bisected until the bad schedule is alone.
//          The bad schedule is read again, or set aside for a while, counted and
//          logged. The other schedules are planned. kFenced, kTimeout: the segments
//          leave the table (fenced_writer.h).
// Always   Before each scan the version of the calendars is read; schedules that an older version
//          of their calendars concerns are moved first (docs/adr/0023-calendars.md), and no
//          schedule with a calendar is planned more than kCalendarPlanAhead beyond that reading.
//          A batch has at most kBatchRowsMax rows. Only committed runs are fed. A batch without
//          near fires is followed by a rest (plan_pace.h). Above the backlog limit nothing is
//          planned. The fires then stay on their schedules, and the metric of the watchdog
//          (maintain/) shows them.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>

#include "common/base/backoff.h"
#include "common/base/live_settings.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "scheduler/assign/calendar_cache.h"
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
    CalendarCache& calendars;
    const ClusterClock& cluster;
    SegmentTable& segments;
    FencedWriter& fences;
    RunFeed& feed;
    Metrics& metrics;
    // While the whole cluster is paused, nothing is planned. Due fires stay on their schedules, as
    // they do when no member runs.
    const LiveSettings& settings;
    std::function<size_t()> backlog = [] { return size_t{0}; };  // runs in memory
    // True while due runs wait for executors. Planning far ahead is then slower.
    std::function<bool()> busy = [] { return false; };
    // Loads the definitions that these runs need into the cache. Called before the runs are fed.
    std::function<void(const std::vector<PendingRun>&)> warm = {};
  };
  struct Options {
    Duration horizon = 30s;  // how far ahead fires are planned
    // Fires this near are planned first if one scan cannot return all due schedules.
    Duration near = 2s;
    Duration scan_every = 500ms;
    Duration set_aside = 60s;       // for a schedule that the store or the parser refuses
    size_t set_aside_max = 10'000;  // schedules remembered as set aside
    size_t batches_per_step = 4;
    size_t batch_rows = kBatchRowsMax;
    size_t schedules_cached = 50'000;
    size_t backlog_max = 300'000;  // at this many runs in memory, planning stops
    uint64_t seed = 1;
  };
  SegmentPlanner(const Ports& ports, Options options);

  SteadyTime Step(SteadyTime now) override;
  // Makes the next Step scan for due schedules at once.
  void Nudge() { nudged_ = true; }
  // Thread-safe. Takes effect with the next scan.
  void SetHorizon(Duration horizon) { horizon_ = horizon; }
  // Thread-safe. The next scan drops all knowledge about schedules: the cache, and the list of the
  // schedules that are set aside.
  void Forget() { forget_ = true; }
  // Thread-safe. False while a backlog stops planning.
  bool accepting() const { return accepting_.load(std::memory_order_relaxed); }
  size_t set_aside() const { return aside_.size(); }

 private:
  struct Aside {
    SteadyTime until;
    int conflicts = 0;
  };

  // A scan with schedules that are not planned yet. `next` is the index of the first of these.
  struct Scan {
    SteadyTime at{};
    uint64_t segments_version = 0;
    std::vector<DueSchedule> due;
    size_t next = 0;
    PlanTimes times;
    std::shared_ptr<const CalendarSet> calendars;
  };

  bool PlanRound(SteadyTime now);
  bool StartScan(const OwnedView& view, WallTime cluster_now, uint64_t segments_version,
                 SteadyTime now);
  void StoreFailed(ErrorCode code, SteadyTime now);
  // Moves schedules that a new version of their calendars concerns. False: the store failed.
  bool MoveOutdated(const OwnedView& view, const CalendarSet& calendars, SteadyTime now);
  bool ScanIsOld(uint64_t segments_version, SteadyTime now) const;
  std::vector<PlannedSchedule> TakeBatch(Scan& scan, SteadyTime now);
  std::optional<PlannedSchedule> PlanOne(const DueSchedule& due, const Scan& scan, size_t rows_max,
                                         SteadyTime now);
  // Returns false if this scan should end, because the store failed or segments were lost.
  bool Write(const OwnedView& view, std::span<const PlannedSchedule> planned, SteadyTime now);
  Status Plan(const OwnedView& view, std::span<const PlannedSchedule> planned,
              WallTime cluster_now);
  void RefuseOne(const PlannedSchedule& planned, const Error& error, SteadyTime now);
  Aside& AsideOf(ScheduleId id, SteadyTime now);
  void ForgetOldAsides(SteadyTime now);
  void SetAside(ScheduleId id, const Error& error, SteadyTime now);
  bool IsAside(ScheduleId id, SteadyTime now);
  void Feed(const OwnedView& view, std::span<const PlannedSchedule> planned, WallTime now);
  void Count(std::span<const PlannedSchedule> planned, WallTime now);

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
  bool more_ = false;  // further schedules are due for planning now
  SteadyTime next_scan_{};
  // The versions of calendars and segments for which no schedule was outdated any more.
  std::optional<std::pair<int64_t, uint64_t>> moved_for_;
};

}  // namespace carillon::scheduler
