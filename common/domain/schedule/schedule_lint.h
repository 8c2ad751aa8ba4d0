// Warns about schedules that probably differ from their author's intention. Pure; warnings are
// hints, never errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/calendar/calendar.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

struct ScheduleWarning {
  std::string_view code;  // stable: never_fires, every_second, ends,
                          // skips_months,
                          // either_day_field, quartz_weekday, seconds_field, year_field,
                          // uneven_step, hour_in_gap, repeated_hour, old_zone_name
  std::string detail;     // a sentence
};

// old_zone_name, if hosts may lack the zone because it has an old name. `of` begins the sentence:
// "The time zone", for example.
std::optional<ScheduleWarning> LintZoneName(std::string_view zone, std::string_view of);

// `gap` and `repeat` are settings of the job. Clock changes within 400 days after `after` are
// examined. A schedule that does not compile has no warnings, because its error is reported.
std::vector<ScheduleWarning> LintSchedule(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                          WallTime after, const ScheduleCalendars& calendars = {});

}  // namespace carillon
