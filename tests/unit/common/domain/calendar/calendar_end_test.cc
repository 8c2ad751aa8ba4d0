// Schedules whose calendars list no further days.
#include "common/domain/calendar/calendar_end.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace carillon::test {
namespace {

CalendarDay Day(int month, unsigned day) {
  return std::chrono::year(2026) / month / static_cast<int>(day);
}

// The warning about "0 9 * * *" in Shanghai; empty if there is none.
std::string LintIn(const CalendarDefinition& definition, const char* after, bool blackout = false,
                   const char* cron = "0 9 * * *", WallTime end = kNever) {
  const auto calendar = std::make_shared<const Calendar>(Calendar::Compile(definition).value());
  const ScheduleSpec spec{.kind = ScheduleKind::kCron,
                          .cron_expression = cron,
                          .time_zone = "Asia/Shanghai",
                          .end = end};
  const auto free = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto);
  const auto limited = Schedule::Compile(
      spec, DstGap::kFire, DstRepeat::kAuto,
      {.calendar = blackout ? nullptr : calendar, .blackout = blackout ? calendar : nullptr});
  const auto found =
      LintCalendarEnd(*limited, *free, "cn", definition, ParseRfc3339(after).value());
  if (!found) return "";
  EXPECT_EQ(found->code, "calendar_ends");
  return found->detail;
}

TEST(CalendarEndTest, TellsThatTheNextFiresLieBehindTheListedDays) {
  const CalendarDefinition workdays{.time_zone = "Asia/Shanghai",
                                    .weekdays = 0b0111110,
                                    .dates = {Day(2, 14)},
                                    .except = {Day(10, 1), Day(10, 7)}};
  EXPECT_EQ(LintIn(workdays, "2026-09-28T12:00:00Z"), "");
  EXPECT_EQ(LintIn(workdays, "2026-10-05T12:00:00Z"),
            "Calendar cn lists no day after 2026-10-07: from then on it knows no holiday and no "
            "extra day. Add the days to come.");
  EXPECT_NE(LintIn(workdays, "2026-12-29T00:00:00Z"), "");
  EXPECT_EQ(LintIn(workdays, "2026-03-01T00:00:00Z", false, "0 9 1 * *"), "")
      << "1 April to 1 September";
  EXPECT_NE(LintIn(workdays, "2026-06-01T12:00:00Z", false, "0 9 1 * *"), "");

  const CalendarDefinition holidays{.time_zone = "Asia/Shanghai", .dates = {Day(12, 25)}};
  EXPECT_EQ(LintIn(holidays, "2026-12-01T00:00:00Z", true), "");
  EXPECT_NE(LintIn(holidays, "2026-12-24T00:00:00Z", true), "");
  EXPECT_NE(LintIn(holidays, "2026-12-01T00:00:00Z"), "") << "it fires once more, and never again";
  EXPECT_NE(LintIn(holidays, "2027-01-01T00:00:00Z"), "");

  const CalendarDefinition closed_once{
      .time_zone = "Asia/Shanghai", .weekdays = 0b0111110, .except = {Day(5, 1)}};
  EXPECT_NE(LintIn(closed_once, "2026-12-24T00:00:00Z"), "");
  EXPECT_EQ(LintIn(closed_once, "2028-12-24T00:00:00Z"), "") << "nobody keeps such a list up";

  const CalendarDefinition week{.time_zone = "Asia/Shanghai", .weekdays = 0b0111110};
  EXPECT_EQ(LintIn(week, "2026-12-24T00:00:00Z"), "") << "it lists no days";
  const WallTime end = ParseRfc3339("2026-09-30T00:00:00Z").value();
  EXPECT_EQ(LintIn(workdays, "2026-09-28T12:00:00Z", false, "0 9 * * *", end), "")
      << "the schedule ends before the list does";
}

}  // namespace
}  // namespace carillon::test
