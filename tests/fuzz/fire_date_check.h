// Checks of any text given as a placeholder of a local date; for the fuzzer and the unit test.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/template/fire_date.h"

namespace carillon::test {

struct FireDateCheck {
  bool accepted = false;
  std::string complaint = {};  // empty = all checks passed
};

// A refusal has a code and a reason. What is accepted is known as a date, and has a text at every
// time of the zones' table or says why not.
inline FireDateCheck CheckFireDateText(std::string_view text) {
  const auto date = ParseFireDate(text);
  if (!date.ok()) {
    const bool told = date.code() == ErrorCode::kInvalid && !date.error().message.empty();
    return {.accepted = false, .complaint = told ? "" : "refused without a reason"};
  }
  FireDateCheck check{.accepted = true};
  if (!IsFireDate(text)) check.complaint = "accepted, but not known as a date";
  // Around changes of the clock, and at both ends of the table.
  for (const int64_t second : {int64_t{0}, int64_t{1'774'746'000}, int64_t{1'792'890'000},
                               int64_t{1'325'239'200}, int64_t{10'413'791'999}}) {
    for (const char* zone : {"UTC", "Europe/Berlin", "Pacific/Apia", "America/New_York"}) {
      const auto filled = FormatFireDate(*date, FromUnixMicros(second * kMicrosPerSecond), zone);
      if (filled.ok() ? filled->empty() : filled.error().message.empty()) {
        check.complaint = "neither a text nor a reason";
      }
    }
  }
  return check;
}

}  // namespace carillon::test
