// Warnings of the schedule lint. Schedules that are likely to be intended must get none.
#include "common/domain/schedule/schedule_lint.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

const WallTime kAfter = *ParseRfc3339("2026-01-15T00:00:00Z");

std::vector<ScheduleWarning> Lint(const std::string& cron, const std::string& zone = "UTC",
                                  DstGap gap = DstGap::kFire) {
  return LintSchedule({.kind = ScheduleKind::kCron, .cron_expression = cron, .time_zone = zone},
                      gap, DstRepeat::kAuto, kAfter);
}

std::string Codes(const std::vector<ScheduleWarning>& warnings) {
  std::string codes;
  for (const ScheduleWarning& one : warnings) {
    EXPECT_FALSE(one.detail.empty());
    codes += (codes.empty() ? "" : " ") + std::string(one.code);
  }
  return codes;
}

TEST(ScheduleLintTest, SaysNothingOfWhatIsMeant) {
  for (const char* cron :
       {"30 2 * * *", "*/5 * * * *", "0 */6 * * *", "0 9 * * MON-FRI", "0 0 1 * *", "0 0 28 * *",
        "0 0 L * *", "0 12 31 1,3,12 *", "0 0 1 */3 *", "5 4 * * ?"}) {
    EXPECT_EQ(Codes(Lint(cron)), "") << cron;
  }
}

TEST(ScheduleLintTest, SaysNothingOfSchedulesWithoutTimes) {
  for (const ScheduleSpec& spec :
       {ScheduleSpec{.kind = ScheduleKind::kDelay, .every = 1s},
        ScheduleSpec{.kind = ScheduleKind::kAfter, .upstream = "load"},
        ScheduleSpec{.kind = ScheduleKind::kEvent, .event_type = "order.*"}}) {
    EXPECT_EQ(Codes(LintSchedule(spec, DstGap::kFire, DstRepeat::kAuto, kAfter)), "")
        << Name(spec.kind);
  }
}

TEST(ScheduleLintTest, TellsWhereASpreadStepIsUneven) {
  for (const char* cron :
       {"H H * * *", "H/15 * * * *", "H(0-29)/7 * * * *", "H 4 H * *", "H 4 * * H"}) {
    EXPECT_EQ(Codes(Lint(cron)), "") << cron;
  }
  for (const char* cron : {"H/7 * * * *", "0 H/5 * * *", "0 4 H/3 * *"}) {
    const auto warnings = Lint(cron);
    EXPECT_EQ(Codes(warnings), "uneven_step") << cron;
    EXPECT_TRUE(warnings.at(0).detail.starts_with("H/")) << warnings.at(0).detail;
  }
}

TEST(ScheduleLintTest, TellsOldNamesOfZones) {
  for (const char* zone : {"US/Eastern", "EST5EDT", "Asia/Calcutta"}) {
    const auto warnings = Lint("0 9 * * *", zone);
    EXPECT_EQ(Codes(warnings), "old_zone_name") << zone;
  }
  EXPECT_TRUE(Lint("0 9 * * *", "US/Eastern").at(0).detail.ends_with("Use America/New_York."));
  for (const char* zone : {"America/New_York", "Europe/Amsterdam", "UTC", "Etc/UTC"}) {
    EXPECT_EQ(Codes(Lint("0 9 * * *", zone)), "") << zone;
  }
}

TEST(ScheduleLintTest, TellsWhatNeverFires) {
  EXPECT_EQ(Codes(Lint("0 0 30 2 *")), "never_fires skips_months");
  const ScheduleSpec past{.kind = ScheduleKind::kOnce, .at = kAfter - 1h};
  EXPECT_EQ(Codes(LintSchedule(past, DstGap::kFire, DstRepeat::kAuto, kAfter)), "never_fires");
  const ScheduleSpec coming{.kind = ScheduleKind::kOnce, .at = kAfter + 1h};
  EXPECT_EQ(Codes(LintSchedule(coming, DstGap::kFire, DstRepeat::kAuto, kAfter)), "");
}

TEST(ScheduleLintTest, TellsEverySecond) {
  EXPECT_EQ(Codes(Lint("* * * * * *")), "every_second");
  EXPECT_EQ(Codes(Lint("0,1 * * * * *")), "seconds_field");
  const auto rate = [](Duration every) {
    return LintSchedule({.kind = ScheduleKind::kRate, .every = every, .start = kAfter},
                        DstGap::kFire, DstRepeat::kAuto, kAfter);
  };
  EXPECT_EQ(Codes(rate(100ms)), "every_second");
  EXPECT_EQ(Codes(rate(1s)), "every_second");
  EXPECT_EQ(Codes(rate(2s)), "");
}

TEST(ScheduleLintTest, TellsSkippedMonths) {
  const auto all = Lint("0 0 31 * *");
  ASSERT_EQ(Codes(all), "skips_months");
  EXPECT_NE(all[0].detail.find("5 of the selected months"), std::string::npos) << all[0].detail;
  const auto leap = Lint("0 0 29 * *");
  ASSERT_EQ(Codes(leap), "skips_months");
  EXPECT_NE(leap[0].detail.find("leap years"), std::string::npos) << leap[0].detail;
  EXPECT_EQ(Codes(Lint("0 0 1,31 * *")), "");  // every month has a day 1
}

TEST(ScheduleLintTest, TellsThatEitherDayFieldFires) {
  EXPECT_EQ(Codes(Lint("0 0 13 * FRI")), "either_day_field");
  EXPECT_EQ(Codes(Lint("0 0 */2 * FRI")), "uneven_step");  // with a star, both fields must match
}

TEST(ScheduleLintTest, TellsStepsThatDoNotDivide) {
  EXPECT_EQ(Codes(Lint("*/7 * * * *")), "uneven_step");
  EXPECT_EQ(Codes(Lint("*/45 * * * * *")), "seconds_field uneven_step");
  EXPECT_EQ(Codes(Lint("0 */5 * * *")), "uneven_step");
  EXPECT_EQ(Codes(Lint("0 0 */2 * *")), "uneven_step");
  EXPECT_EQ(Codes(Lint("0 0 1 */5 *")), "uneven_step");
  EXPECT_EQ(Codes(Lint("0 9-17/2 * * *")), "");
}

TEST(ScheduleLintTest, TellsAnHourThatTheClockJumpsOver) {
  const auto fires = Lint("30 2 * * *", "Europe/Paris");
  ASSERT_EQ(Codes(fires), "hour_in_gap");
  EXPECT_EQ(
      fires[0].detail,
      "2026-03-29 02:30 does not exist in Europe/Paris because the clock jumps over it: it fires "
      "at 03:00 instead.");
  const auto skips = Lint("30 2 * * *", "Europe/Paris", DstGap::kSkip);
  ASSERT_EQ(Codes(skips), "hour_in_gap");
  EXPECT_NE(skips[0].detail.find("skipped that day"), std::string::npos);
  EXPECT_EQ(Codes(Lint("30 3 * * *", "Europe/Paris")), "");
  EXPECT_EQ(Codes(Lint("30 2 * * MON", "Europe/Paris")), "");  // the clock changes on a Sunday
  EXPECT_EQ(Codes(Lint("30 * * * *", "Europe/Paris")), "");    // no hour is named
}

TEST(ScheduleLintTest, TellsAnHourThatComesTwice) {
  for (const char* cron : {"0 0-23 * * *", "0 0 0/1 * * ?", "30 0/1 * * *", "0 0-11,12-23 * * *"}) {
    EXPECT_EQ(Codes(Lint(cron, "Europe/Berlin")), "repeated_hour") << cron;
    EXPECT_EQ(Codes(Lint(cron)), "") << cron;
  }
  const auto told = Lint("0 0-23 * * *", "Europe/Berlin");
  EXPECT_EQ(
      told.at(0).detail,
      "2026-10-25 02:00 comes twice in Europe/Berlin because the clock goes back: it fires the "
      "first time only. Write * in the hour field to fire both times.");
  for (const char* cron : {"0 * * * *", "0 */1 * * *", "0 0-23 * * MON"}) {
    EXPECT_EQ(Codes(Lint(cron, "Europe/Berlin")).find("repeated_hour"), std::string::npos) << cron;
  }
  const ScheduleSpec chosen{
      .kind = ScheduleKind::kCron, .cron_expression = "0 0-23 * * *", .time_zone = "Europe/Berlin"};
  for (const DstRepeat repeat : {DstRepeat::kBoth, DstRepeat::kEarly, DstRepeat::kLate}) {
    EXPECT_EQ(Codes(LintSchedule(chosen, DstGap::kFire, repeat, kAfter)), "");
  }
}

TEST(ScheduleLintTest, TellsWeekdaysThatQuartzNumbersOtherwise) {
  const auto told = Lint("0 0 12 ? * 2-6");
  ASSERT_EQ(Codes(told), "quartz_weekday");
  EXPECT_NE(told[0].detail.find("write MON-FRI."), std::string::npos) << told[0].detail;
  EXPECT_NE(Lint("0 0 12 ? * 6L").at(0).detail.find("write FRIL."), std::string::npos);
  EXPECT_NE(Lint("0 0 12 ? * 7#3").at(0).detail.find("write SAT#3."), std::string::npos);
  EXPECT_NE(Lint("0 12 ? * 1,7").at(0).detail.find("write SUN,SAT."), std::string::npos);
  EXPECT_EQ(Codes(Lint("0 15 10 ? * 7#3 *")), "quartz_weekday year_field");
  for (const char* cron :
       {"0 0 12 ? * MON-FRI", "0 0 12 ? * *", "0 0 12 1 * ?", "0 0 12 * * 2-6", "0 0 12 ? * 0-6"}) {
    EXPECT_EQ(Codes(Lint(cron)), "") << cron;
  }
}

TEST(ScheduleLintTest, TellsThatTheFirstOfSixFieldsIsTheSecond) {
  const auto told = Lint("*/15 * * * * *");
  ASSERT_EQ(Codes(told), "seconds_field");
  EXPECT_EQ(
      told[0].detail,
      "The first field is the second: it fires 4 times in a minute. EventBridge and Nomad read "
      "six fields as minute to year; for their meaning write '*/15 * * * *'.");
  EXPECT_EQ(Codes(Lint("*/15 0 12 * * MON")), "seconds_field");
  EXPECT_EQ(Codes(Lint("* * * * * *")), "every_second");
  for (const char* cron : {"0 * * * * *", "30 */5 * * * *", "H * * * * *"}) {
    EXPECT_EQ(Codes(Lint(cron)), "") << cron;
  }
}

TEST(ScheduleLintTest, TellsTheYear) {
  EXPECT_EQ(Codes(Lint("0 0/10 * * * ? *")), "year_field");
  EXPECT_EQ(Codes(Lint("15 6 10 18 8 ? 2025-2025")), "never_fires");
  const auto told = Lint("15 6 10 18 8 ? 2026-2027");
  ASSERT_EQ(Codes(told), "ends");
  EXPECT_EQ(told[0].detail, "It fires for the last time at 2027-08-18 10:06:15 UTC.");
  EXPECT_EQ(Codes(Lint("0 0 12 1 1 ? 2020/2")), "") << "the years go on";
  ScheduleSpec in_calendar{.kind = ScheduleKind::kCron,
                           .cron_expression = "15 6 10 18 8 ? 2026-2027",
                           .time_zone = "UTC"};
  in_calendar.blackout = "freeze";
  EXPECT_EQ(Codes(LintSchedule(in_calendar, DstGap::kFire, DstRepeat::kAuto, kAfter)), "")
      << "its last fire is not known";
}

TEST(ScheduleLintTest, LeavesWhatIsWrongToItsError) {
  EXPECT_EQ(Codes(Lint("61 * * * *")), "");
  EXPECT_EQ(Codes(Lint("30 2 * * *", "Europe/Atlantis")), "");
  EXPECT_EQ(Codes(LintSchedule({}, DstGap::kFire, DstRepeat::kAuto, kAfter)), "");
}

}  // namespace
}  // namespace carillon::test
