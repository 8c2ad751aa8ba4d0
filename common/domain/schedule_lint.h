// Warns about schedules that are probably not what their author meant. Pure; these are hints,
// never errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job.h"

namespace carillon {

struct ScheduleWarning {
  std::string_view code;  // stable: never_fires, every_second, skips_months, either_day_field,
                          // hour_in_gap, uneven_step
  std::string detail;     // a sentence
};

// What `dst_gap` and `dst_repeat` are to be is the job's, so they are taken from there. The clock
// changes looked at are those of the 400 days after `after`. Schedules that do not compile have no
// warnings: their error says it.
std::vector<ScheduleWarning> LintSchedule(const ScheduleSpec& spec, DstGap gap, DstRepeat repeat,
                                          WallTime after);

}  // namespace carillon
