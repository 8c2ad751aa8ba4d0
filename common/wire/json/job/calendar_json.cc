#include "common/wire/json/job/calendar_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/nearest.h"
#include "common/wire/json/json_text.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};
constexpr size_t kTimeLength = 5;

// The number that `text` consists of, all digits.
std::optional<int> Digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// "2026-12-24"
std::optional<CalendarDay> ParseDay(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = Digits(text.substr(0, 4));
  const auto month = Digits(text.substr(5, 2));
  const auto day = Digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return CalendarDay(date);
}

std::string FormatDay(CalendarDay day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

// "09:30", as minutes.
std::optional<int> ParseMinute(std::string_view text) {
  if (text.size() != kTimeLength || text[2] != ':') return std::nullopt;
  const auto hour = Digits(text.substr(0, 2));
  const auto minute = Digits(text.substr(3));
  if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > kMinutesPerDay) {
    return std::nullopt;
  }
  return *hour * 60 + *minute;
}

std::string FormatMinute(int minute) {
  return fmt::format("{:02}:{:02}", minute / 60, minute % 60);
}

std::optional<CalendarInterval> ParseInterval(std::string_view text) {
  if (text.size() != 2 * kTimeLength + 1 || text[kTimeLength] != '-') return std::nullopt;
  const auto from = ParseMinute(text.substr(0, kTimeLength));
  const auto to = ParseMinute(text.substr(kTimeLength + 1));
  if (!from || !to) return std::nullopt;
  return CalendarInterval{.from = *from, .to = *to};
}

// Calls `read` with each text of a list of at most `most`; it returns false for a wrong one.
template <typename ReadOne>
Status ReadList(const json& value, const std::string& pointer, size_t most,
                std::string_view expected, const ReadOne& read) {
  if (!value.is_array()) return InvalidAt(pointer, "must be a list");
  if (value.size() > most) {
    return InvalidAt(pointer,
                     fmt::format("has {} entries; at most {} are allowed", value.size(), most));
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i].is_string() && read(value[i].get_ref<const std::string&>())) continue;
    return InvalidAt(JsonPointer(pointer, std::to_string(i)), std::string(expected));
  }
  return {};
}

Status ReadDays(const json& value, const std::string& pointer, std::vector<CalendarDay>* days) {
  return ReadList(value, pointer, kCalendarDatesMax, "must be a date such as 2026-12-24",
                  [days](std::string_view text) {
                    const auto day = ParseDay(text);
                    if (day) days->push_back(*day);
                    return day.has_value();
                  });
}

Status ReadField(const std::string& name, const json& value, CalendarDefinition* out) {
  const std::string pointer = "/" + name;
  if (name == "time_zone") {
    if (!value.is_string()) return InvalidAt(pointer, "must be a string");
    out->time_zone = value.get<std::string>();
    return {};
  }
  if (name == "weekdays") {
    return ReadList(value, pointer, kWeekdays.size(), "must be mon, tue, wed, thu, fri, sat or sun",
                    [out](std::string_view text) {
                      const auto* const found = std::find(kWeekdays.begin(), kWeekdays.end(), text);
                      if (found == kWeekdays.end()) return false;
                      out->weekdays |= static_cast<uint8_t>(1U << (found - kWeekdays.begin()));
                      return true;
                    });
  }
  if (name == "dates") return ReadDays(value, pointer, &out->dates);
  if (name == "except") return ReadDays(value, pointer, &out->except);
  if (name == "intervals") {
    return ReadList(value, pointer, kCalendarIntervalsMax,
                    "must be two times of the day such as 09:00-17:00",
                    [out](std::string_view text) {
                      const auto interval = ParseInterval(text);
                      if (interval) out->intervals.push_back(*interval);
                      return interval.has_value();
                    });
  }
  return InvalidAt(
      pointer,
      fmt::format("unknown field '{}' in a calendar{}", name,
                  DidYouMean(name, {"time_zone", "weekdays", "dates", "except", "intervals"})));
}

Result<CalendarDefinition> ReadFields(const json& body) {
  if (!body.is_object()) return InvalidAt("", "must be an object");
  if (!body.contains("time_zone")) return InvalidAt("/time_zone", "is missing");
  CalendarDefinition definition;
  for (const auto& [name, value] : body.items()) {
    CARILLON_TRY(ReadField(name, value, &definition));
  }
  return definition;
}

}  // namespace

Result<CalendarDefinition> CalendarFromJson(const json& body) {
  CARILLON_ASSIGN_OR_RETURN(CalendarDefinition definition, ReadFields(body));
  const auto compiled = Calendar::Compile(definition);
  if (!compiled.ok()) return compiled.error();
  return definition;
}

json CalendarToJson(const CalendarDefinition& definition) {
  json weekdays = json::array();
  for (size_t i = 1; i <= kWeekdays.size(); ++i) {  // from Monday to Sunday
    const size_t weekday = i % kWeekdays.size();
    if (((definition.weekdays >> weekday) & 1) != 0) weekdays.push_back(kWeekdays.at(weekday));
  }
  json dates = json::array();
  for (const CalendarDay day : definition.dates) dates.push_back(FormatDay(day));
  json except = json::array();
  for (const CalendarDay day : definition.except) except.push_back(FormatDay(day));
  json intervals = json::array();
  for (const CalendarInterval& interval : definition.intervals) {
    intervals.push_back(
        fmt::format("{}-{}", FormatMinute(interval.from), FormatMinute(interval.to)));
  }
  return {{"time_zone", definition.time_zone},
          {"weekdays", std::move(weekdays)},
          {"dates", std::move(dates)},
          {"except", std::move(except)},
          {"intervals", std::move(intervals)}};
}

Result<CalendarDefinition> CalendarFromText(std::string_view text) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ParseJsonText(text));
  return ReadFields(body);
}

std::string CalendarToText(const CalendarDefinition& definition) {
  return JsonToText(CalendarToJson(definition));
}

}  // namespace carillon
