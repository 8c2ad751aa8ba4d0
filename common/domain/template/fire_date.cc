#include "common/domain/template/fire_date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "common/domain/schedule/zone.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr std::string_view kDate = "fire_date";
constexpr std::string_view kClock = "fire_time.local";
constexpr std::string_view kUtcTime = "fire_time";
constexpr std::string_view kLetters = "YmdHMSjyGVuFT%";
constexpr std::string_view kHowTo =
    "write fire_date, fire_date - 1d or fire_date - 1M | %Y%m (units h, d, w, M; fire_time.local "
    "likewise)";
constexpr int kMonthsMax = 1'200;
constexpr int kWeeksMax = 5'200;
constexpr size_t kDigitsMax = 4;

// A local time without its zone, as days since 1970 and seconds of the day.
struct Local {
  int64_t second = 0;

  int64_t day() const { return FloorDiv(second, kSecondsPerDay); }
  int64_t of_day() const { return second - day() * kSecondsPerDay; }
  year_month_day date() const {
    return year_month_day(sys_days(std::chrono::days(static_cast<int>(day()))));
  }
};

Error Wrong(std::string_view name, size_t at, std::string_view why) {
  return TemplateError(fmt::format("'{}', column {}: {}; {}", name.substr(0, kPlaceholderShownMax),
                                   at + 1, why, kHowTo));
}

// Reads a placeholder from left to right.
class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Result<FireDate> Read() {
    if (!Take(kClock)) {
      if (!Take(kDate)) return Fail("fire_time is UTC and has neither shift nor format");
    } else {
      date_.has_clock = true;
    }
    SkipBlanks();
    if (!AtEnd() && (Next() == '+' || Next() == '-')) CARILLON_TRY(ReadShift());
    SkipBlanks();
    if (AtEnd()) return std::move(date_);
    if (Next() != '|') return Fail("a shift or | and a format is expected here");
    ++at_;
    SkipBlanks();
    CARILLON_TRY(ReadFormat());
    return std::move(date_);
  }

 private:
  bool AtEnd() const { return at_ == name_.size(); }
  char Next() const { return name_[at_]; }
  Error Fail(std::string_view why) const { return Wrong(name_, at_, why); }

  bool Take(std::string_view word) {
    if (!name_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void SkipBlanks() {
    while (!AtEnd() && Next() == ' ') ++at_;
  }

  Status ReadShift() {
    const int sign = Next() == '-' ? -1 : 1;
    ++at_;
    SkipBlanks();
    int count = 0;
    size_t digits = 0;
    for (; !AtEnd() && Next() >= '0' && Next() <= '9'; ++at_, ++digits) {
      if (digits == kDigitsMax) return Fail("a shift has at most four digits");
      count = 10 * count + (Next() - '0');
    }
    if (digits == 0) return Fail("a shift is a number and a unit");
    if (AtEnd()) return Fail("the shift has no unit");
    const bool too_far =
        (Next() == 'M' && count > kMonthsMax) || (Next() == 'w' && count > kWeeksMax);
    if (too_far) return Fail("a shift is at most 1200M or 5200w, a hundred years");
    switch (Next()) {
      case 'h': date_.hours = sign * count; break;
      case 'd': date_.days = sign * count; break;
      case 'w': date_.days = 7 * sign * count; break;
      case 'M': date_.months = sign * count; break;
      case 'm': return Fail("there is no unit m: months are M");
      default: return Fail("there is no such unit");
    }
    ++at_;
    return {};
  }

  Status ReadFormat() {
    const size_t begin = at_;
    bool has_letter = false;
    for (; !AtEnd(); ++at_) {
      if (static_cast<unsigned char>(Next()) < 0x20) return Fail("a control character");
      if (Next() != '%') continue;
      ++at_;
      if (AtEnd() || kLetters.find(Next()) == std::string_view::npos) {
        at_ -= AtEnd() ? 1 : 0;
        return Fail("a format has %Y %m %d %H %M %S %j %y %G %V %u %F %T and %% only");
      }
      has_letter = has_letter || Next() != '%';
    }
    date_.format = name_.substr(begin);
    if (has_letter) return {};
    at_ = begin;
    return Fail("a format needs a letter such as %Y, %m or %d");
  }

  const std::string_view name_;
  size_t at_ = 0;
  FireDate date_;
};

// The instant of a local time: the first one, or the end of the gap that leaves it out.
int64_t InstantOf(const Zone& zone, int64_t local) {
  const auto within = [](int64_t second) { return std::clamp(second, kZoneBegin, kZoneEnd - 1); };
  // No offset is longer than a day, so the period is among those of the day before and after.
  const size_t last = zone.IndexAt(within(local + kSecondsPerDay));
  for (size_t i = zone.IndexAt(within(local - kSecondsPerDay)); i < last; ++i) {
    const ZonePeriod period = zone.Period(i);
    if (local < period.begin + period.offset) return period.begin;  // in the gap before it
    if (local < period.end + period.offset) return local - period.offset;
  }
  const ZonePeriod period = zone.Period(last);
  return std::max(local - period.offset, last == 0 ? local - period.offset : period.begin);
}

// Shifts a date by months; the day is cut to the month's last.
int64_t DayOfShifted(year_month_day date, int months) {
  const auto month = date.year() / date.month() + std::chrono::months(months);
  const auto last = (month / std::chrono::last).day();
  return sys_days(month / std::min(date.day(), last)).time_since_epoch().count();
}

std::string OffsetText(int32_t offset) {
  const int minutes = std::abs(offset) / 60;
  return fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

// The year and week of ISO 8601: a week belongs to the year of its Thursday.
std::pair<int, int> WeekOf(int64_t day, unsigned weekday) {
  const sys_days thursday{std::chrono::days(static_cast<int>(day) + 4 - static_cast<int>(weekday))};
  const auto year = year_month_day(thursday).year();
  const sys_days first(year / std::chrono::January / 1);
  return {static_cast<int>(year), static_cast<int>((thursday - first).count() / 7 + 1)};
}

std::string Formatted(std::string_view format, Local local) {
  const year_month_day date = local.date();
  const int year = static_cast<int>(date.year());
  const auto month = static_cast<unsigned>(date.month());
  const auto day = static_cast<unsigned>(date.day());
  const int64_t clock = local.of_day();
  const sys_days days(date);
  const unsigned weekday = std::chrono::weekday(days).iso_encoding();
  const auto [week_year, week] = WeekOf(local.day(), weekday);
  const auto of_year = (days - sys_days(date.year() / std::chrono::January / 1)).count() + 1;
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    switch (format[++i]) {
      case 'Y': text += fmt::format("{:04}", year); break;
      case 'm': text += fmt::format("{:02}", month); break;
      case 'd': text += fmt::format("{:02}", day); break;
      case 'H': text += fmt::format("{:02}", clock / 3600); break;
      case 'M': text += fmt::format("{:02}", clock / 60 % 60); break;
      case 'S': text += fmt::format("{:02}", clock % 60); break;
      case 'j': text += fmt::format("{:03}", of_year); break;
      case 'y': text += fmt::format("{:02}", year % 100); break;
      case 'G': text += fmt::format("{:04}", week_year); break;
      case 'V': text += fmt::format("{:02}", week); break;
      case 'u': text += fmt::format("{}", weekday); break;
      case 'F': text += fmt::format("{:04}-{:02}-{:02}", year, month, day); break;
      case 'T':
        text += fmt::format("{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60);
        break;
      default: text += '%';
    }
  }
  return text;
}

}  // namespace

bool IsFireDate(std::string_view name) {
  if (name.starts_with(kDate)) return true;
  if (!name.starts_with(kUtcTime)) return false;
  name.remove_prefix(kUtcTime.size());
  // Whoever shifts or formats fire_time is told of fire_time.local.
  return !name.empty() && std::string_view(". +-|").find(name.front()) != std::string_view::npos;
}

Result<FireDate> ParseFireDate(std::string_view name) { return Reader(name).Read(); }

Result<std::string> FormatFireDate(const FireDate& date, WallTime fire, std::string_view zone) {
  CARILLON_ASSIGN_OR_RETURN(const Zone* at, Zone::Load(zone));
  int64_t second = FloorDiv(ToUnixMicros(fire), kMicrosPerSecond) + int64_t{3600} * date.hours;
  if (second < kZoneBegin || second >= kZoneEnd) {
    return TemplateError("the local date is outside of 1969 to 2299");
  }
  Local local{second + at->OffsetAt(second)};
  if (date.days != 0 || date.months != 0) {
    const int64_t moved =
        date.months == 0 ? local.day() + date.days : DayOfShifted(local.date(), date.months);
    local.second = moved * kSecondsPerDay + local.of_day();
    if (local.second < kZoneBegin + kSecondsPerDay || local.second >= kZoneEnd - kSecondsPerDay) {
      return TemplateError("the local date is outside of 1969 to 2299");
    }
    second = InstantOf(*at, local.second);
    local.second = second + at->OffsetAt(second);
  }
  if (!date.format.empty()) return Formatted(date.format, local);
  if (!date.has_clock) return Formatted("%F", local);
  return Formatted("%FT%T", local) + OffsetText(at->OffsetAt(second));
}

std::string_view FireDateLike(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOthers{{
      {"ds", "fire_date"},
      {"ds_nodash", "fire_date | %Y%m%d"},
      {"yesterday_ds", "fire_date - 1d"},
      {"tomorrow_ds", "fire_date + 1d"},
      {"yesterday", "fire_date - 1d"},
      {"today", "fire_date"},
      {"date", "fire_date"},
      {"now", "fire_time"},
      {"ts", "fire_time"},
      {"execution_date", "fire_time"},
      {"logical_date", "fire_time"},
      {"scheduled_time", "fire_time"},
  }};
  for (const auto& [other, ours] : kOthers) {
    if (name == other) return ours;
  }
  return {};
}

}  // namespace carillon
