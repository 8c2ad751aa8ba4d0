// Finds schedules of a job that do the same, so that each of their fires would run twice. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

// The schedule at `second` fires whenever the one at `first` does, with the same parameters.
struct ScheduleTwin {
  size_t first = 0;
  size_t second = 0;
};

// One entry for each schedule that repeats an earlier one, in their order. Cron expressions are
// compared by what they match, not by their text: "@daily" is "0 0 * * *".
std::vector<ScheduleTwin> FindTwins(const std::vector<ScheduleSpec>& schedules);

// The sentence that refuses a schedule because it repeats the one at `first`.
std::string TwinText(size_t first);

}  // namespace carillon
