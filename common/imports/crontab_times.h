// The times of a crontab entry: reads them as cron does, and says them in Carillon's words. Pure.
//
// Follows cronie. From OpenBSD it has "~/10", from FreeBSD "@every_minute" and "@600".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

// Either a cron expression or a delay.
struct CrontabTimes {
  std::string expression = {};
  int64_t delay_s = 0;  // "@600": that many seconds after the end of the previous run
  // cron runs an entry of which the minute or the hour begins with '*' by real time: a clock change
  // neither moves nor drops a run. These say the same as `dst_gap` and `dst_repeat`; "" = the
  // default does.
  std::string_view dst_gap = {};
  std::string_view dst_repeat = {};
};

// Removes the times from the front of `line`, and the blanks behind them. `line` does not begin
// with a blank. kInvalid: cron cannot read them, or would never reach them.
Result<CrontabTimes> TakeCrontabTimes(std::string_view& line);

// Removes and returns the text of `line` up to the first blank, and removes the blanks behind it.
std::string_view TakeCrontabWord(std::string_view& line);

}  // namespace carillon
