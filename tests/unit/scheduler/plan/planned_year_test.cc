// Plans a year of many different schedules, with naps of the planner, and accounts for each fire.
#include <algorithm>
#include <map>
#include <set>

#include "common/base/rng.h"
#include "scheduler/plan/segment_planner.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kJobs = 1'000;
constexpr Duration kYear = 365 * 24h;
constexpr Duration kLongHorizon = 6h;

class PlannedYearTest : public test::RoomTest {
 protected:
  struct Planned {
    StoredJob job;
    std::set<WallTime> fires = {};
    std::vector<GapRange> gaps = {};
  };

  PlannedYearTest() : born_(clock_.Wall()) {}

  template <typename Item>
  const Item& One(const std::vector<Item>& all) {
    return all[rng_.Below(all.size())];
  }

  ScheduleSpec RandomSpec(size_t number) {
    ScheduleSpec spec;
    if (number % 5 == 0) {
      spec.kind = ScheduleKind::kRate;
      spec.every = One<Duration>({36h, 24h, 100h, 7 * 24h, 12345678ms});
      spec.start = born_ + Duration(static_cast<int64_t>(rng_.Below(86'400'000'000)));
    } else {
      spec.kind = ScheduleKind::kCron;
      spec.cron_expression =
          One<std::string>({"30 2 * * *", "0 9 * * 1-5", "0 0 1 * *", "15 3 * * 0", "0 12 L * *",
                            "45 1 * * 6#2", "0 6 15W * *", "*/30 2 * * 0", "0 0 29 2 *"});
      if (number % 100 == 1) spec.cron_expression = "5 * * * *";
      spec.time_zone = One<std::string>(
          {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai"});
    }
    if (number % 7 == 0) {
      spec.end = born_ + 24h * static_cast<int64_t>(30 + rng_.Below(400));
    }
    if (number % 7 == 1) {
      spec.start = born_ + 24h * static_cast<int64_t>(rng_.Below(200));
    }
    if (number % 6 == 0) spec.jitter = One<Duration>({1s, 60s, 600s, 3600s});
    return spec;
  }

  void CreateJobs() {
    for (size_t number = 0; number < kJobs; ++number) {
      JobDefinition job;
      job.type = JobType::kNoop;
      job.schedules = {RandomSpec(number)};
      job.misfire_policy =
          One<MisfirePolicy>({MisfirePolicy::kSkip, MisfirePolicy::kLatest, MisfirePolicy::kAll});
      job.misfire_grace_s = One<int64_t>({0, 60, 3600});
      job.catch_up_window_s = One<int64_t>({0, 3600, 86'400, 30 * 86'400});
      job.catch_up_max = One<int64_t>({1, 3, 100});
      job.dst_gap = One<DstGap>({DstGap::kFire, DstGap::kSkip});
      job.dst_repeat =
          One<DstRepeat>({DstRepeat::kAuto, DstRepeat::kBoth, DstRepeat::kEarly, DstRepeat::kLate});
      const StoredJob stored = CreateJob("job" + std::to_string(number), job);
      planned_[stored.schedules[0].schedule_id] = {stored};
    }
  }

  // Steps the planner until it waits, and takes over what it planned.
  void Plan(SegmentPlanner& planner) {
    int steps = 0;
    while (planner.Step(clock_.Steady()) <= clock_.Steady()) {
      ASSERT_LT(++steps, 10'000) << "the planner does not come to rest";
      TakeFed();
    }
    TakeFed();
  }

  void TakeFed() {
    for (const auto& batch : feed_.PopUpTo(1'000)) {
      for (const PendingRun& run : batch) {
        Planned& planned = planned_.at(run.key.schedule_id);
        EXPECT_TRUE(planned.fires.insert(run.key.fire).second)
            << planned.job.job_id.value() << " planned " << FormatRfc3339(run.key.fire) << " twice";
        EXPECT_GE(run.due, run.key.fire);
      }
    }
  }

  void ReadGaps() {
    GapFilter filter{.limit = 500};
    while (true) {
      const auto page = stores_.runs.ListGaps(filter);
      ASSERT_TRUE(page.ok());
      for (const GapRecord& gap : page->gaps)
        planned_.at(gap.schedule_id).gaps.push_back(gap.range);
      if (!page->next) return;
      filter.before_id = *page->next;
    }
  }

  // Walks all fires of the schedule up to `until`: each is a run, or is counted by one gap.
  void Account(ScheduleId id, Planned& planned, WallTime until) {
    const std::string& name = planned.job.job_id.value();
    const JobDefinition& job = planned.job.definition;
    const Schedule schedule =
        Schedule::Compile(job.schedules[0], job.dst_gap, job.dst_repeat).value();
    std::sort(planned.gaps.begin(), planned.gaps.end(),
              [](const GapRange& a, const GapRange& b) { return a.from < b.from; });
    std::vector<int64_t> counted(planned.gaps.size());
    size_t gap = 0, runs = 0;
    for (auto fire = schedule.Next(born_); fire && fire->time <= until;
         fire = schedule.Next(fire->time)) {
      ++fires_;
      while (gap < planned.gaps.size() && planned.gaps[gap].to < fire->time) ++gap;
      const bool in_gap = gap < planned.gaps.size() && planned.gaps[gap].from <= fire->time;
      const bool run = planned.fires.contains(fire->time);
      if (in_gap) ++counted[gap];
      if (run) ++runs;
      EXPECT_NE(in_gap, run) << name << " " << FormatRfc3339(fire->time);
    }
    for (size_t i = 0; i < counted.size(); ++i)
      EXPECT_EQ(counted[i], planned.gaps[i].count) << name;
    const auto end = planned.fires.upper_bound(until);
    EXPECT_EQ(runs, static_cast<size_t>(std::distance(planned.fires.begin(), end)))
        << name << " has runs that are no fires, schedule " << id.value();
  }

  const WallTime born_;
  Rng rng_{2026};
  std::map<ScheduleId, Planned> planned_;
  int64_t fires_ = 0;
};

TEST_F(PlannedYearTest, EachFireOfAThousandSchedulesIsARunOrInOneGap) {
  CreateJobs();
  SegmentPlanner planner({.clock = clock_,
                          .store = faulty_,
                          .calendars = calendars_,
                          .cluster = cluster_,
                          .segments = table_,
                          .fences = fences_,
                          .feed = feed_,
                          .metrics = metrics_,
                          .backlog = [] { return size_t{0}; },
                          .busy = [] { return false; },
                          .paused = [] { return false; }},
                         {.horizon = kLongHorizon});
  while (clock_.Wall() < born_ + kYear) {
    SampleClock();
    Plan(planner);
    if (HasFatalFailure()) return;
    // Mostly the planner is there before its horizon ends; sometimes nobody plans for days.
    const uint64_t nap = rng_.Below(100) == 0 ? 14 * 86'400 : 5 * 3'600;
    clock_.Advance(std::chrono::seconds(1 + rng_.Below(nap)));
  }
  SampleClock();
  Plan(planner);
  ReadGaps();
  for (auto& [id, planned] : planned_) Account(id, planned, clock_.Wall());
  RecordProperty("fires", std::to_string(fires_));
  EXPECT_GT(fires_, 100'000);
  EXPECT_GT(metrics_.counter("carillon_misfires_total", "skip").value(), 0u);
}

}  // namespace
}  // namespace carillon::scheduler
