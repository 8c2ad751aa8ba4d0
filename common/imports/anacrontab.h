// Files of anacron, which look like crontabs. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace carillon {

// True if the text is an anacrontab: it sets START_HOURS_RANGE, or each of its entries has a period
// in days, a delay in minutes, and a name where a crontab has the day of the month.
bool IsAnacrontab(std::string_view text);

// The way to say an entry of an anacrontab as a job; nullopt if the line is a setting.
std::optional<std::string> AnacronAnswer(std::string_view line);

}  // namespace carillon
