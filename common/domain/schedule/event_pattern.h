// The texts of a schedule of kind event that say which events start its runs. Pure.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

inline constexpr size_t kEventTypePatternBytesMax = 255;
inline constexpr size_t kEventSourcePatternBytesMax = 512;

// Checks the type and the source. kInvalid with "/type" or "/source". The filter is checked where
// the language of conditions is known (event/event_parameters.h).
Status CheckEventPattern(const ScheduleSpec& spec);

// True if the type of an event is `pattern`, or begins with it up to the star at its end.
bool FitsEventType(std::string_view pattern, std::string_view type);
bool IsOpenEventType(std::string_view pattern);  // has a star

}  // namespace carillon
