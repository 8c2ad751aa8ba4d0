// Definitions of calendars as JSON, as REST and the store have them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/domain/calendar/calendar.h"

namespace carillon {

// kInvalid with the pointer: a field is unknown, missing or wrong, or a limit is exceeded.
Result<CalendarDefinition> CalendarFromJson(const nlohmann::json& body);
nlohmann::json CalendarToJson(const CalendarDefinition& definition);

// The same as text, for the store. What is stored stays readable if its zone is no longer known.
Result<CalendarDefinition> CalendarFromText(std::string_view text);
std::string CalendarToText(const CalendarDefinition& definition);

}  // namespace carillon
