// Checks of any text given as overload.levels; shared by the fuzzer and the unit test.
#pragma once

#include <string>
#include <string_view>

#include "common/base/overload_levels.h"

namespace carillon::test {

// Levels that are accepted are few, within their bounds and ascending, and mean the same when they
// are written again. Returns "" or a complaint.
inline std::string CheckOverloadLevels(std::string_view text) {
  const auto levels = ParseOverloadLevels(text);
  if (!levels) return "";
  if (levels->size() > kOverloadLevelsMax) return "too many";
  std::string again;
  OverloadLevel last{.late = std::chrono::seconds(kOverloadLateMin - 1), .below = 0};
  for (const OverloadLevel& level : *levels) {
    if (level.late <= last.late || level.below <= last.below) return "not ascending";
    last = level;
    again += (again.empty() ? "" : ",") + std::to_string(level.late / std::chrono::seconds(1)) +
             ":" + std::to_string(level.below);
  }
  const bool bounded =
      last.late <= std::chrono::seconds(kOverloadLateMax) && last.below <= kOverloadBelowMax;
  if (!levels->empty() && !bounded) return "out of bounds";
  return ParseOverloadLevels(again) == levels ? "" : "differs when written again";
}

}  // namespace carillon::test
