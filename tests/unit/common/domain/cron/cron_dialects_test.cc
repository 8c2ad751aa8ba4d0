// Schedules in the forms of other tools, and the way to say them here.
#include "common/domain/cron/cron_dialects.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/domain/schedule/schedule.h"
#include "tests/fuzz/cron_check.h"

namespace carillon::test {
namespace {

std::string Refused(const std::string& text) {
  const auto schedule = Schedule::Compile(CronSpec(text), DstGap::kFire, DstRepeat::kAuto);
  if (schedule.ok()) return "accepted";
  EXPECT_EQ(schedule.error().pointer, "/cron_expression") << text;
  EXPECT_EQ(CheckCronText(text).complaint, "") << text;
  return schedule.error().message;
}

TEST(CronDialectsTest, EachFormIsToldTheWayToSayItHere) {
  const std::vector<std::pair<std::string, std::string>> rows{
      // robfig/cron, Dkron, Nomad, Airflow, App Engine
      {"@every 5m", "use a rate schedule: every_ms 300000, --every 5m"},
      {"@every 1h30m", "every_ms 5400000, --every 90m"},
      {"@every 1h30m10s", "every_ms 5410000, --every 5410s"},
      {"@every 500ms", "every_ms 500, --every 500ms"},
      {"@EVERY 24h", "every_ms 86400000, --every 1d"},
      {"@every", "use a rate schedule, e.g. every_ms 300000"},
      {"@every soon", "use a rate schedule, e.g. every_ms 300000"},
      {"@every 999999999999h", "use a rate schedule, e.g. every_ms 300000"},
      {"every 5 minutes", "every_ms 300000, --every 5m"},
      {"every minute", "every_ms 60000, --every 1m"},
      {"every day 09:00", "e.g. 0 9 * * MON-FRI"},
      {"5m", "every_ms 300000"},
      {"90 seconds", "every_ms 90000"},
      {"@manually", "leave the schedules out"},
      {"@never", "leave the schedules out"},
      {"-", "leave the schedules out"},
      {"@reboot", "jobs do not belong to one machine"},
      {"@once", "use a once schedule"},
      {"@continuous", "use a delay schedule"},
      {"@at 2026-03-01T02:00:00Z", "at 2026-03-01T02:00:00Z, --at 2026-03-01T02:00:00Z"},
      {"2026-03-01T02:00:00+01:00", "use a once schedule: at 2026-03-01T02:00:00+01:00"},
      // FreeBSD
      {"@every_minute", "write '* * * * *'"},
      {"@every_second", "write '* * * * * *'"},
      {"@600", "use a delay schedule: every_ms 600000, --delay 10m"},
      // EventBridge
      {"rate(5 minutes)", "every_ms 300000, --every 5m"},
      {"rate(1 hour)", "every_ms 3600000, --every 1h"},
      {"Rate(1 day)", "every_ms 86400000, --every 1d"},
      {"rate(x)", "use a rate schedule, e.g."},
      {"cron(0 10 * * ? *)", "write '0 10 * * *'"},
      {"cron(15 12 * * ? *)", "write '15 12 * * *'"},
      {"cron(0 18 ? * 2-6 *)", "write '0 18 * * MON-FRI'"},
      {"cron(0 18 ? * MON-FRI *)", "write '0 18 * * MON-FRI'"},
      {"cron(0 9 ? * 2#1 *)", "write '0 9 * * MON#1'"},
      {"cron(0 9 ? * 6L 2026-2027)", "write '0 0 9 * * FRIL 2026-2027'"},
      {"cron(0/5 8-17 ? * MON-FRI *)", "write '0/5 8-17 * * MON-FRI'"},
      {"cron(0 10 * * *)", "write '0 10 * * *'"},
      {"cron(0 10", "write minute hour day month weekday"},
      {"at(2026-03-01T02:00:00)", "use a once schedule: at with an offset"},
      // ISO 8601
      {"P1D", "every_ms 86400000, --every 1d"},
      {"PT5M", "every_ms 300000, --every 5m"},
      {"P1DT12H", "every_ms 129600000, --every 36h"},
      {"P1W", "every_ms 604800000, --every 7d"},
      {"R/PT10S", "every_ms 10000, --every 10s"},
      {"R5/2026-03-01T02:00:00Z/PT1H", "every_ms 3600000, --every 1h, with start_time"},
      {"P1M", "a month or a year is not a fixed interval"},
      // systemd
      {"*-*-* 02:00", "write '0 2 * * *'"},
      {"*-*-* 02:00:00", "write '0 2 * * *'"},
      {"*-*-* *:00/15:00", "write '0/15 * * * *'"},
      {"*:0/15", "write '0/15 * * * *'"},
      {"Mon..Fri *-*-* 10:00", "write '0 10 * * MON-FRI'"},
      {"Mon,Sat 09:30", "write '30 9 * * MON,SAT'"},
      {"*-*-01 04:05:06", "write '6 5 4 1 * *'"},
      {"2027-03-* 04:00", "write '0 0 4 * 3 * 2027'"},
      {"02:30 Europe/Berlin", "write '30 2 * * *' with that time_zone"},
      {"Fri *-*-13 00:00", "write minute hour day month weekday"},
      {"*-*~1 02:00", "write minute hour day month weekday"},
      {"Mon..Fri 5 10:00", "write minute hour day month weekday"},
      {"10:00 12:00", "write minute hour day month weekday"},
      {"30 9 * * MON..FRI", "write '30 9 * * MON-FRI'"},
      {"0 9 * * 1..5", "write '0 9 * * 1-5'"},
      {"0 9 *-5 * *", "day of month: unexpected"},
      {"0/15 8:30 * * *", "hour: unexpected"},
      {"daily", "write '0 0 * * *'"},
      {"weekly", "write '0 0 * * MON'"},
      {"quarterly", "write '0 0 1 1,4,7,10 *'"},
      // OpenBSD, cronie
      {"~ * * * *", "write 'H * * * *'"},
      {"0~30 3 * * *", "write 'H(0-30) 3 * * *'"},
      {"30~0 3 * * *", "write H for a value"},
      // Jenkins, robfig/cron
      {"TZ=Europe/Paris 0 2 * * *", "use time_zone 'Europe/Paris' and write '0 2 * * *'"},
      {"CRON_TZ=Asia/Tokyo @daily", "use time_zone 'Asia/Tokyo' and write '@daily'"},
      {"TZ=Europe/London\nH/15 * * * *", "use time_zone 'Europe/London' and write 'H/15 * * * *'"},
      {"H 3 * * *\nH 15 * * *", "write one schedule for each line"},
      // EventBridge, Nomad: six fields, the year last
      {"0 10 * * ? *", "if the last field is the year (EventBridge, Nomad), write '0 10 * * *'"},
      {"15 10 ? * 2-6 *", "write '15 10 * * MON-FRI'"},
      {"0 12 * * MON-FRI *", "write '0 12 * * MON-FRI'"},
      {"0 12 * * * 2027", "write '0 0 12 * * * 2027'"},
  };
  for (const auto& [text, way] : rows) {
    const std::string refusal = Refused(text);
    EXPECT_NE(refusal.find(way), std::string::npos) << text << ": " << refusal;
    EXPECT_LT(refusal.size(), 250u) << refusal;
  }
}

TEST(CronDialectsTest, AnExpressionOfThisLanguageIsNeverTakenForAnother) {
  for (const char* text : {"@daily", "H/15 * * * *", "0 0-23 * * *", "0 12 ? * 2-6", "5 4 * * sun",
                           "0 0 0/1 * * ?", "0 0/10 * * * ? *", "*/15 * * * * *"}) {
    EXPECT_EQ(Refused(text), "accepted") << text;
  }
}

TEST(CronDialectsTest, AnOrdinaryMistakeKeepsItsFieldAndColumn) {
  EXPECT_EQ(Refused("61 * * * *"), "minute: 61 is out of range (0–59), column 1");
  EXPECT_EQ(Refused("0 0 25 * * MON"), "hour: 25 is out of range (0–23), column 5");
}

}  // namespace
}  // namespace carillon::test
