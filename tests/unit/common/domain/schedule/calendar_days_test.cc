// Cron expressions that choose days by the calendars of their schedule: C#1, 25<, 25>.
#include "common/domain/schedule/calendar_days.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/schedule/schedule.h"
#include "tests/unit/common/domain/cron/cron_reference.h"

namespace carillon::test {
namespace {

using std::chrono::days;

constexpr uint8_t kWorkWeek = 0b0111110;

CalendarDay DateOf(int year, int month, int day) { return std::chrono::year(year) / month / day; }

std::shared_ptr<const Calendar> CompiledCalendar(const CalendarDefinition& definition) {
  return std::make_shared<const Calendar>(Calendar::Compile(definition).value());
}

// Monday to Friday without holidays of Christmas and New Year.
ScheduleCalendars OfficeDays(const std::string& zone = "UTC") {
  return {.calendar = CompiledCalendar({.time_zone = zone,
                                        .weekdays = kWorkWeek,
                                        .except = {DateOf(2026, 12, 25), DateOf(2027, 1, 1)}})};
}

ScheduleSpec SpecOn(const std::string& text, const std::string& zone = "UTC") {
  return {.kind = ScheduleKind::kCron, .cron_expression = text, .time_zone = zone};
}

Result<Schedule> MakeWithDays(const ScheduleSpec& spec, const ScheduleCalendars& calendars,
                              DstGap gap = DstGap::kFire) {
  return Schedule::Compile(spec, gap, DstRepeat::kAuto, calendars);
}

// The next fires as "2026-03-01 09:00".
std::vector<std::string> LimitedFires(const ScheduleSpec& spec, const ScheduleCalendars& calendars,
                                      const char* after, size_t count, DstGap gap = DstGap::kFire) {
  std::vector<std::string> fires;
  const Schedule schedule = MakeWithDays(spec, calendars, gap).value();
  auto fire = schedule.Next(ParseRfc3339(after).value());
  for (; fire && fires.size() < count; fire = schedule.Next(fire->time)) {
    fires.push_back(FormatRfc3339(fire->time).substr(0, 16));
    fires.back()[10] = ' ';
  }
  return fires;
}

using FireTexts = std::vector<std::string>;

TEST(CalendarDaysTest, EachFormChoosesItsDays) {
  const char* const after = "2026-11-20T00:00:00Z";
  const std::vector<std::pair<std::string, FireTexts>> rows{
      // 1 January is a Friday, and not in the calendar; 25 December is a Friday too.
      {"0 9 C#1 * *", {"2026-12-01 09:00", "2027-01-04 09:00", "2027-02-01 09:00"}},
      {"0 9 C#-1 * *", {"2026-11-30 09:00", "2026-12-31 09:00", "2027-01-29 09:00"}},
      {"0 9 C#3 1,4 *", {"2027-01-06 09:00", "2027-04-05 09:00"}},
      {"0 9 C#-2,C#2 1 *", {"2027-01-05 09:00", "2027-01-28 09:00"}},
      {"0 9 25< * *", {"2026-11-25 09:00", "2026-12-24 09:00", "2027-01-25 09:00"}},
      {"0 9 25> * *", {"2026-11-25 09:00", "2026-12-28 09:00", "2027-01-25 09:00"}},
      {"0 9 1> * *", {"2026-12-01 09:00", "2027-01-04 09:00", "2027-02-01 09:00"}},
      {"0 9 L< * *", {"2026-11-30 09:00", "2026-12-31 09:00", "2027-01-29 09:00"}},
      {"0 9 L-6< * *", {"2026-11-24 09:00", "2026-12-24 09:00", "2027-01-25 09:00"}},
      {"0 9 30L< 1,2 *", {"2027-01-29 09:00", "2027-02-26 09:00"}},
      // January's fire is in December.
      {"0 9 1< 1 *", {"2026-12-31 09:00", "2027-12-31 09:00"}},
      // The days of the week.
      {"0 9 * * 5<", {"2026-11-20 09:00", "2026-11-27 09:00", "2026-12-04 09:00"}},
      {"0 9 * 12,1 FRI<",
       {"2026-12-04 09:00", "2026-12-11 09:00", "2026-12-18 09:00", "2026-12-24 09:00",
        "2026-12-31 09:00", "2027-01-08 09:00"}},
      {"0 9 * 12 5L>", {"2026-12-28 09:00", "2027-12-31 09:00"}},
      {"0 9 ? 12,1 5#1>", {"2026-12-04 09:00", "2027-01-04 09:00"}},
      // Two days that become one; a day without a suffix is dropped as ever.
      {"0 9 24,25< 12 *", {"2026-12-24 09:00", "2027-12-24 09:00"}},
      {"0 9 25,26< 12 *", {"2026-12-24 09:00", "2027-12-24 09:00"}},
      // All times of a day move together.
      {"0 9,18 25< 12 *", {"2026-12-24 09:00", "2026-12-24 18:00", "2027-12-24 09:00"}},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(LimitedFires(SpecOn(text), OfficeDays(), after, expected.size()), expected) << text;
  }
  EXPECT_EQ(LimitedFires(SpecOn("0 0 9 1< 1 * 2027"), OfficeDays(), after, 3),
            FireTexts{"2026-12-31 09:00"})
      << "the year field decides about the day before it moves";
}

TEST(CalendarDaysTest, ABlackoutAloneIsEnough) {
  const ScheduleCalendars limits{.blackout = CompiledCalendar({.dates = {DateOf(2026, 12, 25)}})};
  EXPECT_EQ(LimitedFires(SpecOn("0 9 25< 12 *"), limits, "2026-12-01T00:00:00Z", 2),
            (FireTexts{"2026-12-24 09:00", "2027-12-25 09:00"}));
  ScheduleCalendars both = OfficeDays();
  both.blackout = CompiledCalendar({.dates = {DateOf(2026, 12, 24), DateOf(2026, 12, 23)}});
  EXPECT_EQ(LimitedFires(SpecOn("0 9 25< 12 *"), both, "2026-12-01T00:00:00Z", 1),
            FireTexts{"2026-12-22 09:00"});
}

TEST(CalendarDaysTest, ADayMovesAtMost31Days) {
  const ScheduleCalendars limits{
      .calendar = CompiledCalendar({.dates = {DateOf(2026, 3, 1), DateOf(2026, 5, 2)}})};
  const char* const after = "2026-01-01T00:00:00Z";
  EXPECT_EQ(LimitedFires(SpecOn("0 9 1> 4 *"), limits, after, 9), FireTexts{"2026-05-02 09:00"});
  EXPECT_EQ(LimitedFires(SpecOn("0 9 L> 3 *"), limits, after, 9), FireTexts{}) << "32 days";
  EXPECT_EQ(LimitedFires(SpecOn("0 9 1< 4 *"), limits, after, 9), FireTexts{"2026-03-01 09:00"});
  EXPECT_EQ(LimitedFires(SpecOn("0 9 2< 4 *"), limits, after, 9), FireTexts{});
  // Over the whole of February.
  const ScheduleCalendars march{.calendar = CompiledCalendar({.dates = {DateOf(2027, 3, 3)}})};
  EXPECT_EQ(LimitedFires(SpecOn("0 9 31> 1 *"), march, after, 9), FireTexts{"2027-03-03 09:00"});
}

TEST(CalendarDaysTest, TheClockOfTheDayToWhichItMovesDecides) {
  const ScheduleCalendars no_saturday{
      .blackout = CompiledCalendar({.time_zone = "Europe/Berlin", .weekdays = 0b1000000})};
  const ScheduleSpec spec = SpecOn("30 2 28> 3 *", "Europe/Berlin");
  // 28 March 2026 is a Saturday; at 02:00 on Sunday the clock jumps to 03:00.
  const Schedule schedule = MakeWithDays(spec, no_saturday).value();
  const auto fire = schedule.Next(ParseRfc3339("2026-03-01T00:00:00Z").value());
  ASSERT_TRUE(fire);
  EXPECT_EQ(FormatRfc3339(fire->time), "2026-03-29T01:00:00.000000Z");
  EXPECT_EQ(fire->note, DstNote::kMovedByGap);
  EXPECT_EQ(LimitedFires(spec, no_saturday, "2026-03-01T00:00:00Z", 1, DstGap::kSkip),
            FireTexts{"2026-03-30 00:30"})
      << "with dst_gap skip there is no such fire on Sunday, so the day moves on";
}

TEST(CalendarDaysTest, CalendarsWithTimesOrAnotherZoneJudgeTheFire) {
  const ScheduleCalendars hours{
      .calendar = CompiledCalendar({.weekdays = kWorkWeek, .intervals = {{9 * 60, 17 * 60}}})};
  // 1 August 2026 is a Saturday. The day counts because of 12:00; 08:00 is excluded.
  EXPECT_EQ(LimitedFires(SpecOn("0 8,12 C#1 8 *"), hours, "2026-03-01T00:00:00Z", 1),
            FireTexts{"2026-08-03 12:00"});
  EXPECT_EQ(LimitedFires(SpecOn("0 18 C#1 8 *"), hours, "2026-03-01T00:00:00Z", 1), FireTexts{});
  // Saturday 08:00 in Tokyo is Friday 23:00 in UTC, where the calendar has its weekdays.
  const ScheduleSpec tokyo = SpecOn("0 8 1< 8 *", "Asia/Tokyo");
  EXPECT_EQ(LimitedFires(tokyo, OfficeDays(), "2026-03-01T00:00:00Z", 1),
            FireTexts{"2026-07-31 23:00"});
}

TEST(CalendarDaysTest, AWindowHoldsForTheMovedFire) {
  ScheduleSpec spec = SpecOn("0 9 25> 12 *");
  spec.start = ParseRfc3339("2026-12-26T00:00:00Z").value();
  EXPECT_EQ(LimitedFires(spec, OfficeDays(), "2026-01-01T00:00:00Z", 1),
            FireTexts{"2026-12-28 09:00"});
  spec.start = {};
  spec.end = ParseRfc3339("2026-12-28T09:00:00Z").value();
  EXPECT_EQ(LimitedFires(spec, OfficeDays(), "2026-12-01T00:00:00Z", 1), FireTexts{});
}

TEST(CalendarDaysTest, WithoutACalendarTheyAreRefused) {
  for (const std::string text : {"0 9 25< * *", "0 9 C#1 * *", "0 9 * * 5>"}) {
    const auto refused = MakeWithDays(SpecOn(text), {});
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().pointer, "/cron_expression");
    ScheduleSpec spec = SpecOn(text);
    spec.blackout = "holidays";
    EXPECT_TRUE(MakeWithDays(spec, {}).ok()) << "a check without the calendars";
  }
}

TEST(CalendarDaysTest, ACalendarThatHasEndedIsSearchedForTenYears) {
  const ScheduleCalendars ended{.calendar = CompiledCalendar({.dates = {DateOf(2020, 1, 1)}})};
  std::string field = "1<";
  for (int day = 2; day <= 31; ++day) field += fmt::format(",{}<,{}>", day, day);
  EXPECT_EQ(LimitedFires(SpecOn("* * " + field + " * *"), ended, "2026-01-01T00:00:00Z", 1),
            FireTexts{});
}

// ---- against a slow evaluation -----------------------------------------------------------------

constexpr Duration kGrid = 1h;

// One item of a day field.
struct Asked {
  std::string text;
  bool counted = false;  // C#n
  int n = 0;
  CronItem base = {};
  int step = 0;  // -1 for '<', 1 for '>', 0 without
};

Asked RandomAsked(Rng& rng, bool of_week) {
  const uint64_t form = rng.Below(of_week ? 3 : 5);
  Asked asked;
  if (!of_week && form == 4) {
    asked.counted = true;
    asked.n = static_cast<int>(1 + rng.Below(24));
    if (rng.Below(2) == 0) asked.n = -asked.n;
    asked.text = fmt::format("C#{}", asked.n);
    return asked;
  }
  if (of_week) {
    const std::string weekday = std::to_string(rng.Below(8));
    asked.text = form == 0   ? weekday
                 : form == 1 ? weekday + "L"
                             : fmt::format("{}#{}", weekday, 1 + rng.Below(5));
  } else {
    asked.text = form == 0   ? "L"
                 : form == 1 ? fmt::format("L-{}", rng.Below(31))
                 : form == 2 ? fmt::format("{}L", 29 + rng.Below(3))
                             : std::to_string(1 + rng.Below(31));
  }
  const std::string plain = of_week ? "0 0 * * " + asked.text : "0 0 " + asked.text + " * *";
  const CronUnit unit = of_week ? CronUnit::kDayOfWeek : CronUnit::kDayOfMonth;
  asked.base = ParseCron(plain)->field(unit).items[0];
  asked.step = static_cast<int>(rng.Below(5)) % 3 - 1;
  if (asked.step != 0) asked.text += asked.step < 0 ? '<' : '>';
  return asked;
}

CalendarDefinition RandomHolidays(Rng& rng, CalendarDay first, int length) {
  CalendarDefinition made;
  made.time_zone = rng.Below(4) == 0 ? "America/New_York" : "Asia/Shanghai";
  made.weekdays = std::vector<uint8_t>{0, kWorkWeek, kWorkWeek, 0b1000001, 0b0101010}[rng.Below(5)];
  const auto add = [&](std::vector<CalendarDay>* list, uint64_t most) {
    for (uint64_t left = rng.Below(most); left > 0; --left) {
      const int at = static_cast<int>(rng.Below(static_cast<uint64_t>(length)));
      // Holidays of weeks, sometimes of more than a month.
      for (uint64_t day = 0; day <= rng.Below(40); ++day) {
        list->push_back(first + days(at + static_cast<int>(day)));
      }
    }
  };
  add(&made.dates, 8);
  add(&made.except, 12);
  if (rng.Below(4) == 0) {
    const auto from = static_cast<int>(rng.Below(24)) * 60;
    made.intervals.push_back({from, (from + 60 + static_cast<int>(rng.Below(20)) * 60) % 1'440});
  }
  return made;
}

// The fires by a walk over all hours, and over the days one by one.
class SlowDays {
 public:
  SlowDays(const Zone& zone, const ScheduleCalendars& calendars, const std::set<int>& hours,
           WallTime from, WallTime until) {
    for (WallTime at = from; at < until; at += kGrid) {
      const int64_t second = ToUnixMicros(at) / kMicrosPerSecond;
      const int64_t local = second + zone.OffsetAt(second);
      if (!hours.contains(static_cast<int>(local % kDaySeconds / 3'600))) continue;
      if (calendars.Allow(at)) allowed_[local / kDaySeconds].push_back(at);
    }
  }

  std::set<int64_t> Chosen(const Asked& asked, bool of_week, const std::set<int>& months,
                           int64_t first, int64_t last) const {
    std::set<int64_t> chosen;
    for (int64_t day = first; day <= last; ++day) {
      const ReferenceDay is(day);
      if (!months.contains(is.month)) continue;
      if (asked.counted) {
        if (allowed_.contains(day) && Rank(day, is, asked.n) == asked.n) chosen.insert(day);
        continue;
      }
      const bool matches =
          of_week ? DayOfWeekMatches(asked.base, is) : DayOfMonthMatches(asked.base, is);
      if (!matches) continue;
      int64_t moved = day;
      while (asked.step != 0 && !allowed_.contains(moved) && std::abs(moved - day) < 31) {
        moved += asked.step;
      }
      chosen.insert(moved);
    }
    return chosen;
  }

  std::vector<WallTime> FiresOn(const std::set<int64_t>& chosen) const {
    std::vector<WallTime> fires;
    for (const int64_t day : chosen) {
      const auto found = allowed_.find(day);
      if (found == allowed_.end()) continue;
      fires.insert(fires.end(), found->second.begin(), found->second.end());
    }
    return fires;
  }

 private:
  // The place of an allowed day among those of its month, counted as `n` counts.
  int Rank(int64_t day, const ReferenceDay& is, int n) const {
    int rank = 0;
    for (int d = 1; d <= is.length; ++d) {
      const bool counts = n > 0 ? d <= is.day : d >= is.day;
      if (counts && allowed_.contains(day - is.day + d)) ++rank;
    }
    return n > 0 ? rank : -rank;
  }

  std::map<int64_t, std::vector<WallTime>> allowed_;
};

TEST(CalendarDaysTest, AgreesWithASlowEvaluation) {
  constexpr int64_t kFirst = 20'454;  // 2026-01-01
  constexpr int kLength = 500;
  size_t fires_seen = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Rng rng(seed);
    const bool of_week = rng.Below(3) == 0;
    std::vector<Asked> asked;
    for (uint64_t left = 1 + rng.Below(3); left > 0; --left) {
      asked.push_back(RandomAsked(rng, of_week));
    }
    std::string field;
    for (const Asked& one : asked) field += (field.empty() ? "" : ",") + one.text;
    const std::set<int> hours = rng.Below(2) == 0 ? std::set<int>{9} : std::set<int>{0, 9, 23};
    const std::set<int> all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const std::set<int> months = rng.Below(2) == 0 ? all : std::set<int>{1, 4, 12};
    const std::string text =
        fmt::format("0 {} {} {} {}", fmt::join(hours, ","), of_week ? "*" : field,
                    fmt::join(months, ","), of_week ? field : "*");
    const CalendarDay first{days(kFirst)};
    ScheduleCalendars calendars;
    const uint64_t which = rng.Below(3);
    if (which != 0) calendars.calendar = CompiledCalendar(RandomHolidays(rng, first, kLength));
    if (which != 1) calendars.blackout = CompiledCalendar(RandomHolidays(rng, first, kLength));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));

    const std::string zone_name = rng.Below(2) == 0 ? "UTC" : "Asia/Shanghai";
    const WallTime from(first.time_since_epoch());
    const WallTime until = from + days(kLength);
    const SlowDays slow(**Zone::Load(zone_name), calendars, hours, from - days(100),
                        until + days(100));
    std::set<int64_t> chosen;
    for (const Asked& one : asked) {
      chosen.merge(slow.Chosen(one, of_week, months, kFirst - 40, kFirst + kLength + 40));
    }
    std::vector<WallTime> expected = slow.FiresOn(chosen);
    std::erase_if(expected, [&](WallTime at) { return at < from || at >= until; });

    const Schedule schedule = MakeWithDays(SpecOn(text, zone_name), calendars).value();
    std::vector<WallTime> found;
    auto fire = schedule.Next(from - Duration(1));
    for (; fire && fire->time < until; fire = schedule.Next(fire->time)) {
      found.push_back(fire->time);
    }
    ASSERT_EQ(found, expected);
    fires_seen += found.size();
    ASSERT_EQ(schedule.Count(from, until), static_cast<int64_t>(found.size()));
    for (int i = 0; i < 3 && !found.empty(); ++i) {
      const size_t at = rng.Below(found.size());
      EXPECT_EQ(schedule.Nth(from, static_cast<int64_t>(at)), found[at]);
      const WallTime middle = found[at] + Duration(static_cast<int64_t>(rng.Below(3))) - 1us;
      const auto split = std::lower_bound(found.begin(), found.end(), middle);
      EXPECT_EQ(schedule.Count(from, middle), split - found.begin());
      EXPECT_EQ(schedule.Count(middle, until), found.end() - split);
    }
  }
  EXPECT_GT(fires_seen, 1'000u);
}

}  // namespace
}  // namespace carillon::test
