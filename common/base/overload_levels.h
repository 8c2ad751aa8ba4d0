// Levels of overload, from which runs of low priority are shed (setting overload.levels). Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace carillon {

// While due runs wait longer than `late`, runs of a priority under `below` may be shed.
struct OverloadLevel {
  Duration late;
  int below = 0;

  bool operator==(const OverloadLevel&) const = default;
};

// A member sheds load.
struct Overload {
  OverloadLevel level;  // in force
  WallTime since;
  int64_t shed = 0;  // runs, since then
};

inline constexpr size_t kOverloadLevelsMax = 3;
inline constexpr int kOverloadLateMin = 5;     // seconds
inline constexpr int kOverloadLateMax = 3600;  // seconds
inline constexpr int kOverloadBelowMax = 100;  // the highest priority is never shed

// Parses "10:20, 60:60", late_s:below, both ascending. An empty text is an empty list; nullopt if
// the text is anything else.
std::optional<std::vector<OverloadLevel>> ParseOverloadLevels(std::string_view text);

}  // namespace carillon
