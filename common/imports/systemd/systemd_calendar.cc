#include "common/imports/systemd/systemd_calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "common/base/ascii.h"
#include "common/domain/cron/cron.h"
#include "common/domain/schedule/zone.h"

namespace carillon {
namespace {

constexpr std::array<std::string_view, 7> kSystemdDays{
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
constexpr std::array<std::string_view, 7> kCronDays{"MON", "TUE", "WED", "THU",
                                                    "FRI", "SAT", "SUN"};
constexpr int kWeekDays = 7;
constexpr int kMonthDays = 31;

struct NamedCalendar {
  std::string_view name;
  std::string_view expression;
};
constexpr std::array<NamedCalendar, 12> kNamedCalendars{{{"minutely", "* * * * *"},
                                                         {"hourly", "0 * * * *"},
                                                         {"daily", "0 0 * * *"},
                                                         {"weekly", "0 0 * * MON"},
                                                         {"monthly", "0 0 1 * *"},
                                                         {"quarterly", "0 0 1 1,4,7,10 *"},
                                                         {"semiannually", "0 0 1 1,7 *"},
                                                         {"semi-annually", "0 0 1 1,7 *"},
                                                         {"biannually", "0 0 1 1,7 *"},
                                                         {"bi-annually", "0 0 1 1,7 *"},
                                                         {"yearly", "0 0 1 1 *"},
                                                         {"annually", "0 0 1 1 *"}}};

// A value, a range, or values with a step; `stop` is the value itself without a range or step.
struct CalendarPart {
  int start = 0;
  int stop = 0;
  int step = 1;
};
using CalendarParts = std::vector<CalendarPart>;  // empty: every value

struct CalendarBounds {
  int least;
  int most;
  std::string_view name;
};
constexpr CalendarBounds kCalendarYears{kCronYearFirst, kCronYearLast, "year"};
constexpr CalendarBounds kCalendarMonths{1, 12, "month"};
constexpr CalendarBounds kCalendarDays{1, kMonthDays, "day"};
constexpr CalendarBounds kCalendarHours{0, 23, "hour"};
constexpr CalendarBounds kCalendarMinutes{0, 59, "minute"};
constexpr CalendarBounds kCalendarSeconds{0, 59, "second"};

Error NoCalendar(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalid, fmt::format("OnCalendar={}: {}", text, why)};
}

std::string CalendarLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> CalendarSplit(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class CalendarReader {
 public:
  explicit CalendarReader(std::string_view text) : text_(text) {}

  Result<SystemdCalendar> Read() {
    std::vector<std::string_view> words = Words();
    if (words.empty()) return Fail("it is empty");
    if (words.size() > 1 && IsZone(words.back())) {
      read_.time_zone = words.back();
      words.pop_back();
    }
    if (words.size() == 1) {
      const std::string lower = CalendarLower(words[0]);
      for (const NamedCalendar& one : kNamedCalendars) {
        if (one.name != lower) continue;
        read_.expression = one.expression;
        return std::move(read_);
      }
    }
    CARILLON_TRY(ReadWords(words));
    return Write();
  }

 private:
  Error Fail(std::string_view why) const { return NoCalendar(text_, why); }
  Error CannotSay(std::string_view what) const {
    return Fail(fmt::format("cron cannot say {}; create several jobs or schedules", what));
  }

  std::vector<std::string_view> Words() const {
    std::vector<std::string_view> words;
    for (const std::string_view word : CalendarSplit(text_, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    return words;
  }

  static bool IsZone(std::string_view word) {
    return IsLetter(word.front()) && (word == "UTC" || Zone::Load(word).ok());
  }

  Status ReadWords(const std::vector<std::string_view>& words) {
    size_t at = 0;
    if (IsLetter(words[0].front())) CARILLON_TRY(ReadWeekdays(words[at++]));
    if (at < words.size() && words[at].find(':') == std::string_view::npos) {
      CARILLON_TRY(ReadDate(words[at++]));
    }
    if (at < words.size()) CARILLON_TRY(ReadTime(words[at++]));
    return at == words.size() ? Status() : Fail("systemd cannot read it");
  }

  Result<int> Weekday(std::string_view name) const {
    const std::string lower = CalendarLower(name);
    for (size_t i = 0; i < kSystemdDays.size(); ++i) {
      if (lower == kSystemdDays.at(i) || lower == kSystemdDays.at(i).substr(0, 3)) {
        return static_cast<int>(i);
      }
    }
    return Fail("systemd knows no such weekday");
  }

  Status ReadWeekdays(std::string_view word) {
    if (word.ends_with(',')) word.remove_suffix(1);
    for (const std::string_view item : CalendarSplit(word, ',')) {
      size_t middle = item.find("..");
      size_t length = 2;
      if (middle == std::string_view::npos) {
        middle = item.find('-');
        length = 1;
      }
      CARILLON_ASSIGN_OR_RETURN(const int first, Weekday(item.substr(0, middle)));
      int last = first;
      if (middle != std::string_view::npos) {
        CARILLON_ASSIGN_OR_RETURN(last, Weekday(item.substr(middle + length)));
      }
      if (last < first) return Fail("its weekdays run backwards");
      for (int day = first; day <= last; ++day) weekdays_ |= 1u << day;
    }
    return {};
  }

  Status ReadDate(std::string_view word) {
    if (word.starts_with('@')) return CannotSay("a number of seconds");
    const size_t last = word.find_last_of("-~");
    if (last == std::string_view::npos) return Fail("systemd cannot read it");
    from_end_ = word[last] == '~';
    const auto before = CalendarSplit(word.substr(0, last), '-');
    if (before.size() > 2) return Fail("systemd cannot read its date");
    if (before.size() == 2) {
      CARILLON_ASSIGN_OR_RETURN(years_, Parts(before[0], kCalendarYears));
    }
    CARILLON_ASSIGN_OR_RETURN(months_, Parts(before.back(), kCalendarMonths));
    CARILLON_ASSIGN_OR_RETURN(days_, Parts(word.substr(last + 1), kCalendarDays));
    return {};
  }

  Status ReadTime(std::string_view word) {
    auto parts = CalendarSplit(word, ':');
    if (parts.size() < 2 || parts.size() > 3) return Fail("systemd cannot read its time");
    CARILLON_ASSIGN_OR_RETURN(hours_, Parts(parts[0], kCalendarHours));
    CARILLON_ASSIGN_OR_RETURN(minutes_, Parts(parts[1], kCalendarMinutes));
    if (parts.size() == 2) return {};
    CARILLON_ASSIGN_OR_RETURN(seconds_, Parts(parts[2], kCalendarSeconds));
    return {};
  }

  Result<CalendarParts> Parts(std::string_view text, const CalendarBounds& bounds) const {
    CalendarParts parts;
    if (text == "*") return parts;
    for (std::string_view item : CalendarSplit(text, ',')) {
      CalendarPart part;
      CARILLON_ASSIGN_OR_RETURN(part.start, Number(item, bounds));
      part.stop = part.start;
      if (item.starts_with("..")) {
        item.remove_prefix(2);
        CARILLON_ASSIGN_OR_RETURN(part.stop, Number(item, bounds));
        if (part.stop < part.start) return Fail(fmt::format("its {} runs backwards", bounds.name));
      }
      if (item.starts_with('/')) {
        item.remove_prefix(1);
        if (part.stop == part.start) part.stop = bounds.most;
        CARILLON_ASSIGN_OR_RETURN(part.step, Step(item));
      }
      if (!item.empty()) return Fail(fmt::format("systemd cannot read its {}", bounds.name));
      parts.push_back(part);
    }
    return parts;
  }

  std::optional<int> Digits(std::string_view& item) const {
    int value = 0;
    const auto read = std::from_chars(item.data(), item.data() + item.size(), value);
    if (item.empty() || !IsDigit(item.front()) || read.ec != std::errc()) return std::nullopt;
    item.remove_prefix(static_cast<size_t>(read.ptr - item.data()));
    // "00.000" is 0; a part of a second cannot be said.
    if (item.starts_with('.') && item.size() > 1 && item[1] != '.') {
      const size_t end = std::min(item.find_first_not_of('0', 1), item.size());
      if (end < item.size() && IsDigit(item[end])) return std::nullopt;
      item.remove_prefix(end);
    }
    return value;
  }

  Result<int> Number(std::string_view& item, const CalendarBounds& bounds) const {
    auto value = Digits(item);
    if (!value) return Fail(fmt::format("cannot read its {}", bounds.name));
    constexpr int kCentury = 100;
    constexpr int kPivot = 70;  // 69 is 2069, 70 is 1970
    const bool year = bounds.least == kCronYearFirst;
    if (year && *value < kCentury) *value += *value < kPivot ? 2000 : 1900;
    if (*value < bounds.least || *value > bounds.most) {
      return Fail(fmt::format("its {} is out of range", bounds.name));
    }
    return *value;
  }

  Result<int> Step(std::string_view& item) const {
    const auto value = Digits(item);
    constexpr int kStepMax = 10'000;
    if (!value || *value < 1) return Fail("cannot read a step");
    return std::min(*value, kStepMax);
  }

  static std::string Listed(const CalendarParts& parts) {
    if (parts.empty()) return "*";
    std::string text;
    for (const CalendarPart& part : parts) {
      if (!text.empty()) text += ',';
      text += std::to_string(part.start);
      if (part.start + part.step > part.stop) continue;
      text += fmt::format("-{}", part.stop);
      if (part.step > 1) text += fmt::format("/{}", part.step);
    }
    return text;
  }

  std::string Weekdays() const {
    if (weekdays_ == 0 || weekdays_ == kAllDays) return "*";
    std::string text;
    for (int day = 0; day < kWeekDays; ++day) {
      if ((weekdays_ >> day & 1) == 0) continue;
      int last = day;
      while (last + 1 < kWeekDays && (weekdays_ >> (last + 1) & 1) != 0) ++last;
      text += (text.empty() ? "" : ",") + std::string(kCronDays.at(static_cast<size_t>(day)));
      if (last > day) text += "-" + std::string(kCronDays.at(static_cast<size_t>(last)));
      day = last;
    }
    return text;
  }

  // The days before the last one of the month, for the days that are counted from the end.
  std::vector<int> DaysBeforeLast() const {
    std::vector<int> before;
    for (const CalendarPart& part : days_) {
      const bool to_the_end = part.stop == kMonthDays && part.start != kMonthDays;
      if (part.step > 1 || to_the_end) {
        for (int day = part.start - 1; day >= 0; day -= part.step) before.push_back(day);
      } else {
        for (int day = part.start; day <= part.stop; ++day) before.push_back(day - 1);
      }
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    return before;
  }

  std::string DaysFromEnd() const {
    std::string text;
    for (const int day : DaysBeforeLast()) {
      text += (text.empty() ? "L" : ",L") + (day == 0 ? std::string() : fmt::format("-{}", day));
    }
    return text;
  }

  // One item for each weekday and each of the suffixes.
  std::string EachWeekday(const std::vector<std::string>& suffixes) const {
    std::string text;
    for (int day = 0; day < kWeekDays; ++day) {
      if ((weekdays_ >> day & 1) == 0) continue;
      for (const std::string& suffix : suffixes) {
        text += (text.empty() ? "" : ",");
        text += std::string(kCronDays.at(static_cast<size_t>(day))) + suffix;
      }
    }
    return text;
  }

  // Both a weekday and a day of the month must match. In cron they do only where the day begins
  // with a star; otherwise whole weeks of the month are said by the number of the weekday.
  Status WriteBothDays(std::string& day, std::string& weekday) const {
    const bool from_first =
        !from_end_ && days_.size() == 1 && days_[0].start == 1 && days_[0].stop == kMonthDays;
    if (from_first) {
      day = days_[0].step == 1 ? "*" : fmt::format("*/{}", days_[0].step);
      return {};
    }
    if (from_end_) {
      const std::vector<int> before = DaysBeforeLast();
      if (before.size() != kWeekDays || before.back() != kWeekDays - 1) {
        return CannotSay("a weekday and a day of the month that must both match");
      }
      day = "*";
      weekday = EachWeekday({"L"});
      return {};
    }
    uint64_t days = 0;
    for (const CalendarPart& part : days_) {
      for (int value = part.start; value <= part.stop; value += part.step) {
        days |= uint64_t{1} << (value - 1);
      }
    }
    std::vector<std::string> nth;
    for (int week = 0; week * kWeekDays < kMonthDays; ++week) {
      const uint64_t all = (uint64_t{1} << std::min(kWeekDays, kMonthDays - week * kWeekDays)) - 1;
      const uint64_t some = days >> (week * kWeekDays) & 0x7F;
      if (some != 0 && some != all) {
        return CannotSay("a weekday and a day of the month that must both match");
      }
      if (some != 0) nth.push_back(fmt::format("#{}", week + 1));
    }
    day = "*";
    weekday = EachWeekday(nth);
    return {};
  }

  Result<SystemdCalendar> Write() {
    std::string weekday = Weekdays();
    std::string day = from_end_ ? DaysFromEnd() : Listed(days_);
    if (day.empty()) day = "*";
    if (day != "*" && weekday != "*") CARILLON_TRY(WriteBothDays(day, weekday));
    std::string text = fmt::format("{} {} {} {} {}", Listed(minutes_), Listed(hours_), day,
                                   Listed(months_), weekday);
    const std::string second = Listed(seconds_);
    if (second != "0" || !years_.empty()) text = second + " " + text;
    if (!years_.empty()) text += " " + Listed(years_);
    const auto valid = ParsePlainCron(text);
    if (!valid.ok() || text.size() > kCronTextBytesMax) return CannotSay("it");
    read_.expression = std::move(text);
    return std::move(read_);
  }

  static constexpr unsigned kAllDays = (1u << kWeekDays) - 1;

  const std::string_view text_;
  SystemdCalendar read_;
  unsigned weekdays_ = 0;  // bit 0: Monday; none: every day
  CalendarParts years_;
  CalendarParts months_;
  CalendarParts days_;
  bool from_end_ = false;
  CalendarParts hours_{{0, 0, 1}};
  CalendarParts minutes_{{0, 0, 1}};
  CalendarParts seconds_{{0, 0, 1}};
};

}  // namespace

Result<SystemdCalendar> ConvertSystemdCalendar(std::string_view text) {
  constexpr size_t kCalendarBytesMax = 1'000;
  if (text.size() > kCalendarBytesMax) return NoCalendar(text.substr(0, 40), "it is too long");
  return CalendarReader(text).Read();
}

}  // namespace carillon
