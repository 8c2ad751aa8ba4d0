// The placeholders for the local date and time of a fire. Pure.
//
//   {{fire_date}}                       2026-03-01, the day of the fire in the zone of its run
//   {{fire_time.local}}                 2026-03-01T03:00:00+01:00
//   {{fire_date - 1d}}                  shifted by h hours, d days, w weeks or M months
//   {{fire_date - 1M | %Y%m}}           with a format: letters as of strftime, and other text
//
// A shift by days, weeks or months moves the date and keeps the clock; a month is cut to its last
// day (31 March - 1M is 28 February). A clock time that the zone leaves out then becomes the first
// one after the gap, and one that occurs twice is the first. Hours are real time.
//
// Errors   Parse: kInvalid with the column in the placeholder, and how to write it.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

struct FireDate {
  bool has_clock = false;  // fire_time.local; otherwise fire_date
  int hours = 0;           // at most one of these is not 0
  int days = 0;
  int months = 0;
  std::string format = {};  // empty: that of the placeholder

  bool operator==(const FireDate&) const = default;
};

// True if the placeholder begins as one of a local date, rightly written or not.
bool IsFireDate(std::string_view name);
Result<FireDate> ParseFireDate(std::string_view name);
// kInvalid: the zone is not known on this host, or the fire is later than its table.
Result<std::string> FormatFireDate(const FireDate& date, WallTime fire, std::string_view zone);

// The expression that means the same as a name known from other tools: "fire_date - 1d" for
// "yesterday_ds". Empty for all other names.
std::string_view FireDateLike(std::string_view name);

}  // namespace carillon
