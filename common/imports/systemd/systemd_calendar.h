// Converts calendar expressions of systemd ("Mon..Fri *-*-* 02:00 Europe/Paris") to cron. Pure.
//
// Always   The result is a valid expression with the same fires, apart from changes of the clock.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

struct SystemdCalendar {
  std::string expression;
  std::string time_zone = {};  // "" = the text names none
};

// kInvalid: systemd refuses the text, or cron cannot say it.
Result<SystemdCalendar> ConvertSystemdCalendar(std::string_view text);

}  // namespace carillon
