#include "common/domain/upstream/fire_window.h"

#include <chrono>

#include <fmt/format.h>

#include "common/domain/schedule/zone.h"

namespace carillon {
namespace {

Result<FireWindow> DayOf(int day, WallTime fire, std::string_view zone_name) {
  CARILLON_ASSIGN_OR_RETURN(const Zone* zone, Zone::Load(zone_name));
  const int64_t second = FloorDiv(ToUnixMicros(fire), kMicrosPerSecond);
  if (second < kZoneBegin || second >= kZoneEnd) {
    return Error{ErrorCode::kInvalid,
                 fmt::format("{} is outside the table of {}", FormatRfc3339(fire), zone_name)};
  }
  const int64_t local_day = FloorDiv(second + zone->OffsetAt(second), kSecondsPerDay) + day;
  FireWindow window;
  window.from = BeginOfDay(*zone, local_day);
  window.until = day == 0 ? fire : BeginOfDay(*zone, local_day + 1) - 1us;
  window.ahead_until = window.until;
  return window;
}

}  // namespace

Result<FireWindow> WindowOf(const WaitWindow& window, WallTime fire, std::string_view zone) {
  if (window.day) return DayOf(*window.day, fire, zone);
  return FireWindow{.from = fire - std::chrono::seconds(window.back_s),
                    .until = fire,
                    .ahead_until = fire + std::chrono::seconds(window.ahead_s)};
}

}  // namespace carillon
