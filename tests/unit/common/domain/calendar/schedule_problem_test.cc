#include "common/domain/calendar/schedule_problem.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

std::string ProblemOf(const std::vector<ScheduleSpec>& schedules) {
  return ScheduleProblem(schedules, DstGap::kFire, DstRepeat::kAuto, CalendarSet());
}

TEST(ScheduleProblemTest, TheFirstThatCannotBePlannedIsNamed) {
  const ScheduleSpec sound{
      .kind = ScheduleKind::kCron, .cron_expression = "0 3 * * *", .time_zone = "UTC"};
  EXPECT_EQ(ProblemOf({}), "");
  EXPECT_EQ(ProblemOf({sound}), "");
  ScheduleSpec gone = sound;
  gone.time_zone = "Gone/Away";
  EXPECT_TRUE(ProblemOf({sound, gone})
                  .starts_with("Schedule 2 cannot be planned: unknown time zone 'Gone/Away'"))
      << ProblemOf({sound, gone});
  ScheduleSpec limited = sound;
  limited.calendar = "holidays";
  EXPECT_TRUE(ProblemOf({limited}).starts_with("Schedule 1 cannot be planned: "))
      << ProblemOf({limited});
}

TEST(ScheduleProblemTest, ACalendarWhoseZoneHasGoneIsTheReason) {
  StoredCalendar west{.number = CalendarNo(1), .name = "west", .version = 1};
  west.definition.time_zone = "Gone/Away";
  const CalendarSet calendars(1, {west}, {});
  const ScheduleSpec limited{.kind = ScheduleKind::kCron,
                             .cron_expression = "0 3 * * *",
                             .time_zone = "UTC",
                             .calendar = "west"};
  const std::string problem =
      ScheduleProblem({limited}, DstGap::kFire, DstRepeat::kAuto, calendars);
  EXPECT_TRUE(
      problem.starts_with("Schedule 1 cannot be planned: calendar west cannot be used: "
                          "unknown time zone 'Gone/Away'"))
      << problem;
}

}  // namespace
}  // namespace carillon
