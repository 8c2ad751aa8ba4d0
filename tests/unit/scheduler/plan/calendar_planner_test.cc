// The planner with schedules that have calendars, and with new versions of these.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "scheduler/plan/segment_planner.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

// Minutes of the day, UTC.
CalendarDefinition Minutes(WallTime from, int length_min) {
  const auto minute = static_cast<int>(from.time_since_epoch() / 1min % kMinutesPerDay);
  return {.intervals = {{minute, (minute + length_min) % kMinutesPerDay}}};
}

class CalendarPlannerTest : public test::RoomTest {
 protected:
  CalendarPlannerTest() {
    // To the next minute.
    clock_.Advance(1min - clock_.Wall().time_since_epoch() % 1min);
    SampleClock();
  }
  SegmentPlanner Make(SegmentPlanner::Options options = {}) {
    return SegmentPlanner({.clock = clock_,
                           .store = faults_.firing,
                           .calendars = calendars_,
                           .cluster = cluster_,
                           .segments = table_,
                           .fences = fences_,
                           .feed = feed_,
                           .metrics = metrics_,
                           .settings = settings_},
                          std::move(options));
  }
  // Steps the planner until it waits.
  void Plan(SegmentPlanner& planner) {
    for (int i = 0; i < 100; ++i) {
      if (planner.Step(clock_.Steady()) > clock_.Steady()) return;
    }
    FAIL() << "the planner does not come to rest";
  }
  std::vector<RunRow> Pending() {
    std::vector<SegmentId> segments;
    for (uint32_t n = 0; n < test::kSegments; ++n) segments.push_back(SegmentId(n));
    return stores_.firing.ScanPending(segments, clock_.Wall() + 24h, {}, 100'000)->runs;
  }
  StoredJob CreateLimited(const std::string& id, const std::string& calendar,
                          const std::string& blackout = "") {
    JobDefinition job;
    job.type = JobType::kNoop;
    job.schedules = {{.kind = ScheduleKind::kRate,
                      .every = 1s,
                      .start = clock_.Wall(),
                      .calendar = calendar,
                      .blackout = blackout}};
    return CreateJob(id, job);
  }
  // The first version holds since long before the test.
  StoredCalendar Put(const CalendarDefinition& definition) {
    const WallTime at = clock_.Wall() - (std::exchange(was_put_, true) ? 0h : 1h);
    return stores_.calendars.PutCalendar("a", definition, at).value();
  }
  void Run(SegmentPlanner& planner, Duration time) {
    for (Duration passed{}; passed < time; passed += 500ms) {
      clock_.Advance(500ms);
      SampleClock();
      Plan(planner);
    }
  }
  std::set<WallTime> Fires() {
    std::set<WallTime> fires;
    for (const RunRow& row : Pending()) fires.insert(row.key.fire);
    return fires;
  }
  size_t CountIn(WallTime from, WallTime until) {
    const std::set<WallTime> fires = Fires();
    return static_cast<size_t>(std::distance(fires.lower_bound(from), fires.lower_bound(until)));
  }

  bool was_put_ = false;
};

TEST_F(CalendarPlannerTest, PlansOnlyAllowedFiresAndWritesNoGaps) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now + 1min, 1));
  CreateLimited("job", "a");
  SegmentPlanner planner = Make();
  Run(planner, 150s);
  EXPECT_EQ(Fires().size(), 60u);
  EXPECT_EQ(CountIn(now + 1min, now + 2min), 60u);
  EXPECT_TRUE(stores_.runs.ListGaps({.limit = 10})->gaps.empty());
}

TEST_F(CalendarPlannerTest, NothingWithACalendarIsPlannedMoreThanHalfAMinuteAhead) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now, 60));
  CreateLimited("limited", "a");
  CreateLimited("blacked-out", "", "a");
  const StoredJob free = CreateRate("free", 1s);
  SegmentPlanner planner = Make({.horizon = 10min});
  Plan(planner);
  size_t far = 0;
  for (const RunRow& row : Pending()) {
    if (row.key.fire <= now + kCalendarPlanAhead) continue;
    EXPECT_EQ(row.job_no, free.job_no);
    ++far;
  }
  EXPECT_GT(far, 0u);
  Run(planner, 2min);
  EXPECT_GE(CountIn(now, now + 2min), 119u);
}

TEST_F(CalendarPlannerTest, ANewVersionHoldsFromItsEffectiveTime) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now, 60));
  CreateLimited("job", "a");
  SegmentPlanner planner = Make();
  Plan(planner);
  const StoredCalendar fresh = Put(Minutes(now + 2min, 1));
  EXPECT_EQ(fresh.effective, now + 60s);
  Run(planner, 200s);
  EXPECT_EQ(CountIn(now + 60s, now + 2min), 0u);
  EXPECT_EQ(CountIn(now + 2min, now + 3min), 60u);
  EXPECT_EQ(CountIn(now + 3min, now + 10min), 0u);
}

// A fire that moves over the end of a month, or over a nap of the planner, is neither lost nor
// planned twice.
TEST_F(CalendarPlannerTest, EachMovedFireOfTwoYearsIsARunOrInAGap) {
  const CalendarDay first(std::chrono::floor<std::chrono::days>(clock_.Wall().time_since_epoch()));
  CalendarDefinition office{.weekdays = 0b0111110};
  for (int day = 50; day < 75; ++day) office.except.push_back(first + std::chrono::days(day));
  Put(office);
  JobDefinition job;
  job.type = JobType::kNoop;
  job.misfire_policy = MisfirePolicy::kAll;
  job.catch_up_window_s = 2 * 86'400;
  job.schedules = {
      {.kind = ScheduleKind::kCron, .cron_expression = "0 9 C#1,15<,25<,L> * *", .calendar = "a"}};
  const WallTime born = clock_.Wall();
  CreateJob("payday", job);
  SegmentPlanner planner = Make();
  for (int step = 0; clock_.Wall() < born + 730 * 24h; ++step) {
    clock_.Advance(step % 60 == 59 ? 9 * 24h : 5h);
    SampleClock();
    Plan(planner);
  }
  const ScheduleCalendars limits{
      .calendar = std::make_shared<const Calendar>(Calendar::Compile(office).value())};
  const Schedule schedule =
      Schedule::Compile(job.schedules[0], job.dst_gap, job.dst_repeat, limits).value();
  std::set<WallTime> runs = Fires();
  const auto gaps = stores_.runs.ListGaps({.limit = 500})->gaps;
  EXPECT_FALSE(gaps.empty());
  size_t missed = 0;
  for (auto fire = schedule.Next(born); fire && fire->time <= clock_.Wall();
       fire = schedule.Next(fire->time)) {
    const auto in_gap = std::count_if(gaps.begin(), gaps.end(), [&](const GapRecord& gap) {
      return gap.range.from <= fire->time && fire->time <= gap.range.to;
    });
    const bool ran = runs.erase(fire->time) > 0;
    EXPECT_EQ(in_gap + (ran ? 1 : 0), 1) << FormatRfc3339(fire->time);
    missed += ran ? 0 : 1;
  }
  std::erase_if(runs, [this](WallTime fire) { return fire > clock_.Wall(); });
  EXPECT_TRUE(runs.empty()) << "runs that are no fires";
  EXPECT_GT(missed, 3u);
}

// The next fire by the old version was a day away.
TEST_F(CalendarPlannerTest, ANewVersionMayBringTheNextFireForward) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now - 1min, 1));
  CreateLimited("job", "a");
  SegmentPlanner planner = Make();
  Plan(planner);
  EXPECT_TRUE(Fires().empty());
  Put(Minutes(now + 1min, 2));
  Run(planner, 190s);
  EXPECT_EQ(Fires().size(), 120u);
  EXPECT_EQ(CountIn(now + 1min, now + 3min), 120u);
}

TEST_F(CalendarPlannerTest, EachOfSeveralVersionsHolds) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now - 1min, 1));
  CreateLimited("job", "a");
  Put(Minutes(now + 1min, 3));  // nobody plans before the next version is written
  clock_.Advance(30s);
  Put(Minutes(now + 1min, 5));
  SegmentPlanner planner = Make();
  Run(planner, 170s);
  EXPECT_EQ(CountIn(now + 1min, now + 3min), 120u);
}

TEST_F(CalendarPlannerTest, AFailedLookForOutdatedSchedulesIsRepeated) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now, 60));
  CreateLimited("job", "a");
  SegmentPlanner planner = Make();
  Plan(planner);
  Put(Minutes(now + 4min, 1));
  faults_.plan.Arm("Scan*", ErrorCode::kUnavailable);  // the look for outdated schedules
  Run(planner, 200s);
  EXPECT_EQ(CountIn(now + 60s, now + 4min), 0u);
}

TEST_F(CalendarPlannerTest, AMemberThatTakesOverMovesWhatItsPredecessorLeft) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now - 1min, 1));
  CreateLimited("job", "a");
  {
    SegmentPlanner planner = Make();
    Plan(planner);
  }
  Put(Minutes(now + 1min, 1));
  CreateLimited("fresh", "a");
  SegmentPlanner planner = Make();
  Run(planner, 130s);
  EXPECT_EQ(Pending().size(), 120u);
}

TEST_F(CalendarPlannerTest, APausedScheduleKeepsItsPlaceUntilItIsResumed) {
  const WallTime now = clock_.Wall();
  Put(Minutes(now + 10min, 1));
  const StoredJob job = CreateLimited("job", "a");
  SegmentPlanner planner = Make();
  Plan(planner);
  ASSERT_TRUE(stores_.jobs.PauseJob(job.job_id, "", {.now = clock_.Wall()}).ok());
  Put(Minutes(now + 1min, 1));
  Run(planner, 150s);
  EXPECT_TRUE(Fires().empty());
  ASSERT_TRUE(stores_.jobs.ResumeJob(job.job_id, "", {.now = clock_.Wall()}).ok());
  const auto gaps = stores_.runs.ListGaps({.limit = 10})->gaps;
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].range.count, 60);
}

}  // namespace
}  // namespace carillon::scheduler
