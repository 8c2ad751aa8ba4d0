// Plans a year of many different schedules, with naps of the planner and edits of calendars, and
// accounts for each fire.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/rng.h"
#include "scheduler/plan/segment_planner.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kJobs = 1'000;
constexpr Duration kYear = 365 * 24h;
constexpr Duration kLongHorizon = 6h;

// Says whether an instant is in a calendar, one clause of the definition after the other instead of
// by merged spans of seconds as the scheduler does.
bool IsIn(const CalendarDefinition& calendar, WallTime t) {
  const Zone& zone = **Zone::Load(calendar.time_zone);
  const int64_t second = std::chrono::floor<std::chrono::seconds>(t.time_since_epoch()).count();
  const auto local = std::chrono::sys_seconds(std::chrono::seconds(second + zone.OffsetAt(second)));
  const CalendarDay today = std::chrono::floor<std::chrono::days>(local);
  const auto minute = static_cast<int>((local - today) / 1min);
  const auto lists = [](const std::vector<CalendarDay>& days, CalendarDay day) {
    return std::find(days.begin(), days.end(), day) != days.end();
  };
  const auto has = [&](CalendarDay day) {
    const unsigned weekday = std::chrono::weekday(day).c_encoding();
    if (lists(calendar.except, day)) return false;
    if (calendar.weekdays == 0 && calendar.dates.empty()) return true;
    return ((calendar.weekdays >> weekday) & 1) != 0 || lists(calendar.dates, day);
  };
  if (calendar.intervals.empty()) return has(today);
  return std::any_of(calendar.intervals.begin(), calendar.intervals.end(),
                     [&](const CalendarInterval& interval) {
                       if (interval.from < interval.to) {
                         return has(today) && minute >= interval.from && minute < interval.to;
                       }
                       return (has(today) && minute >= interval.from) ||
                              (has(today - std::chrono::days(1)) && minute < interval.to);
                     });
}

struct CalendarVersion {
  CalendarDefinition definition;
  WallTime written;
  WallTime effective;
};

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
    if (number % 4 == 2) spec.calendar = One(kCalendars);
    if (number % 8 == 3 || number % 8 == 6) spec.blackout = One(kCalendars);
    return spec;
  }

  std::vector<CalendarDay> RandomDays(size_t count) {
    const CalendarDay first(std::chrono::floor<std::chrono::days>(born_.time_since_epoch()));
    std::vector<CalendarDay> days;
    while (days.size() < count) {
      days.push_back(first + std::chrono::days(static_cast<int>(rng_.Below(400))));
    }
    return days;
  }

  CalendarDefinition RandomCalendar() {
    CalendarDefinition calendar;
    calendar.time_zone = One<std::string>({"UTC", "America/New_York", "Australia/Lord_Howe"});
    calendar.weekdays = One<uint8_t>({0, 0b0111110, 0b1000001, 0b0101010});
    calendar.dates = RandomDays(One<size_t>({0, 20, 100}));
    calendar.except = RandomDays(One<size_t>({0, 10, 50}));
    for (uint64_t left = rng_.Below(3); left > 0; --left) {
      const auto from = static_cast<int>(rng_.Below(kMinutesPerDay));
      const auto length = static_cast<int>(60 + rng_.Below(20 * 60));
      calendar.intervals.push_back({from, (from + length) % kMinutesPerDay});
    }
    return calendar;
  }

  void WriteCalendar(const std::string& name, WallTime now) {
    const CalendarDefinition definition = RandomCalendar();
    const auto stored = stores_.calendars.PutCalendar(name, definition, now);
    ASSERT_TRUE(stored.ok()) << stored.error().message;
    versions_[name].push_back({definition, now, stored->effective});
  }
  void EditACalendar() { WriteCalendar(One(kCalendars), clock_.Wall()); }

  // Whether some, and whether all, of the versions that may decide about the fire contain it: the
  // one in effect, and later ones that were known when the planner came to the fire.
  std::pair<bool, bool> Contain(const std::string& name, WallTime fire) const {
    const std::vector<CalendarVersion>& versions = versions_.at(name);
    const WallTime planned_by = *std::lower_bound(steps_.begin(), steps_.end(), fire);
    size_t version = versions.size() - 1;
    while (versions[version].effective > fire) --version;
    std::pair found(false, true);
    for (; version < versions.size() && versions[version].written <= planned_by; ++version) {
      const bool contains = IsIn(versions[version].definition, fire);
      found.first = found.first || contains;
      found.second = found.second && contains;
    }
    return found;
  }

  enum class Verdict { kFires, kExcluded, kEither };

  Verdict VerdictOn(const ScheduleSpec& spec, WallTime fire) const {
    bool may = true;
    bool must = true;
    if (!spec.calendar.empty()) std::tie(may, must) = Contain(spec.calendar, fire);
    if (!spec.blackout.empty()) {
      const auto [some, all] = Contain(spec.blackout, fire);
      may = may && !all;
      must = must && !some;
    }
    return must ? Verdict::kFires : may ? Verdict::kEither : Verdict::kExcluded;
  }

  void CreateJobs() {
    for (const std::string& name : kCalendars) WriteCalendar(name, born_ - 1h);
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
    steps_.push_back(clock_.Wall());
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

  // Walks all fires of the schedule up to `until`: each is a run, or is counted by one gap, unless
  // its calendars exclude it.
  void Account(ScheduleId id, Planned& planned, WallTime until) {
    const std::string& name = planned.job.job_id.value();
    const JobDefinition& job = planned.job.definition;
    const ScheduleSpec& spec = job.schedules[0];
    const Schedule schedule = Schedule::Compile(spec, job.dst_gap, job.dst_repeat).value();
    std::sort(planned.gaps.begin(), planned.gaps.end(),
              [](const GapRange& a, const GapRange& b) { return a.from < b.from; });
    std::vector<int64_t> counted(planned.gaps.size());
    std::vector<int64_t> countable(planned.gaps.size());
    size_t gap = 0, runs = 0;
    for (auto fire = schedule.Next(born_); fire && fire->time <= until;
         fire = schedule.Next(fire->time)) {
      ++fires_;
      while (gap < planned.gaps.size() && planned.gaps[gap].to < fire->time) ++gap;
      const bool in_gap = gap < planned.gaps.size() && planned.gaps[gap].from <= fire->time;
      const bool run = planned.fires.contains(fire->time);
      const Verdict verdict = VerdictOn(spec, fire->time);
      if (verdict == Verdict::kExcluded) ++excluded_;
      if (verdict == Verdict::kEither) ++either_;
      if (in_gap && verdict == Verdict::kFires) ++counted[gap];
      if (in_gap && verdict != Verdict::kExcluded) ++countable[gap];
      if (run) ++runs;
      if (verdict == Verdict::kFires) {
        EXPECT_NE(in_gap, run) << name << " " << FormatRfc3339(fire->time);
      } else {
        EXPECT_FALSE(run && (in_gap || verdict == Verdict::kExcluded))
            << name << " " << FormatRfc3339(fire->time);
      }
    }
    for (size_t i = 0; i < counted.size(); ++i) {
      EXPECT_GE(planned.gaps[i].count, counted[i]) << name;
      EXPECT_LE(planned.gaps[i].count, countable[i]) << name;
    }
    const auto end = planned.fires.upper_bound(until);
    EXPECT_EQ(runs, static_cast<size_t>(std::distance(planned.fires.begin(), end)))
        << name << " has runs that are no fires, schedule " << id.value();
  }

  const std::vector<std::string> kCalendars{"a", "b", "c", "d"};
  const WallTime born_;
  Rng rng_{2026};
  std::map<ScheduleId, Planned> planned_;
  std::map<std::string, std::vector<CalendarVersion>> versions_;
  std::vector<WallTime> steps_;  // when the planner stepped
  int64_t fires_ = 0;            // also those that a calendar excludes
  int64_t excluded_ = 0;
  int64_t either_ = 0;
};

TEST_F(PlannedYearTest, EachFireOfAThousandSchedulesIsARunOrInOneGap) {
  CreateJobs();
  SegmentPlanner planner({.clock = clock_,
                          .store = faults_.firing,
                          .calendars = calendars_,
                          .cluster = cluster_,
                          .segments = table_,
                          .fences = fences_,
                          .feed = feed_,
                          .metrics = metrics_,
                          .settings = settings_},
                         {.horizon = kLongHorizon});
  while (clock_.Wall() < born_ + kYear) {
    SampleClock();
    Plan(planner);
    if (HasFatalFailure()) return;
    // Mostly the planner is there before its horizon ends; sometimes nobody plans for days.
    if (rng_.Below(100) == 0) EditACalendar();
    const uint64_t nap = rng_.Below(100) == 0 ? 14 * 86'400 : 5 * 3'600;
    clock_.Advance(std::chrono::seconds(1 + rng_.Below(nap)));
    if (rng_.Below(100) == 0) EditACalendar();
  }
  SampleClock();
  Plan(planner);
  ReadGaps();
  for (auto& [id, planned] : planned_) Account(id, planned, clock_.Wall());
  RecordProperty("fires", std::to_string(fires_));
  RecordProperty("excluded", std::to_string(excluded_));
  RecordProperty("either", std::to_string(either_));
  EXPECT_GT(fires_, 100'000);
  EXPECT_GT(excluded_, 10'000);
  EXPECT_LT(either_, excluded_ / 10);
  EXPECT_GT(metrics_.counter("carillon_misfires_total", "skip").value(), 0u);
}

}  // namespace
}  // namespace carillon::scheduler
