#include "common/domain/calendar/calendar.h"

#include <fmt/format.h>

#include <algorithm>

namespace carillon {
namespace {

constexpr size_t kNameMax = 63;
constexpr std::chrono::year kFirstYear{1970};
constexpr std::chrono::year kLastYear{2299};

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// The days as sorted numbers since 1970.
Result<std::vector<int64_t>> DaysOf(const std::vector<CalendarDay>& days, std::string_view name) {
  if (days.size() > kCalendarDatesMax) {
    return InvalidAt(fmt::format("/{}", name), fmt::format("has {} entries; at most {} are allowed",
                                                           days.size(), kCalendarDatesMax));
  }
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < days.size(); ++i) {
    const std::chrono::year_month_day date(days[i]);
    if (date.year() < kFirstYear || date.year() > kLastYear) {
      return InvalidAt(fmt::format("/{}/{}", name, i), "is outside the years 1970 to 2299");
    }
    numbers.push_back(days[i].time_since_epoch().count());
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

Status CheckInterval(const CalendarInterval& interval, size_t index) {
  const std::string pointer = fmt::format("/intervals/{}", index);
  const bool within = interval.from >= 0 && interval.from < kMinutesPerDay && interval.to >= 0 &&
                      interval.to <= kMinutesPerDay;
  if (!within) return InvalidAt(pointer, "must lie between 00:00 and 24:00");
  if (interval.from == interval.to) {
    return InvalidAt(pointer, "is empty; the whole day is 00:00-24:00");
  }
  return {};
}

}  // namespace

bool IsCalendarName(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || !IsLowerOrDigit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '_' || c == '-'; });
}

Result<Calendar> Calendar::Compile(const CalendarDefinition& definition) {
  auto zone = Zone::Load(definition.time_zone);
  if (!zone.ok()) return InvalidAt("/time_zone", zone.error().message);
  Calendar made(**zone);
  made.weekdays_ = definition.weekdays;
  CARILLON_ASSIGN_OR_RETURN(made.dates_, DaysOf(definition.dates, "dates"));
  CARILLON_ASSIGN_OR_RETURN(made.except_, DaysOf(definition.except, "except"));
  made.every_day_ = definition.weekdays == 0 && definition.dates.empty();
  if (definition.intervals.size() > kCalendarIntervalsMax) {
    return InvalidAt("/intervals", fmt::format("has {} entries; at most {} are allowed",
                                               definition.intervals.size(), kCalendarIntervalsMax));
  }
  std::vector<CalendarInterval> intervals = definition.intervals;
  for (size_t i = 0; i < intervals.size(); ++i) CARILLON_TRY(CheckInterval(intervals[i], i));
  if (intervals.empty()) intervals.push_back({});
  for (size_t which = 0; which < 4; ++which) {
    Spans all;
    for (const CalendarInterval& interval : intervals) {
      const bool over_midnight = interval.to <= interval.from;
      const int until = over_midnight ? kMinutesPerDay : interval.to;
      if ((which & 1) != 0) all.push_back({interval.from * 60, until * 60});
      if ((which & 2) != 0 && over_midnight && interval.to > 0) {
        all.push_back({0, interval.to * 60});
      }
    }
    std::sort(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
    Spans& merged = made.spans_[which];
    for (const Span& span : all) {
      if (!merged.empty() && span.from <= merged.back().until) {
        merged.back().until = std::max(merged.back().until, span.until);
      } else {
        merged.push_back(span);
      }
    }
  }
  return made;
}

bool Calendar::HasDay(int64_t day) const {
  if (std::binary_search(except_.begin(), except_.end(), day)) return false;
  if (every_day_) return true;
  const int64_t weekday = (day % 7 + 7 + 4) % 7;  // 1970-01-01 was a Thursday
  return ((weekdays_ >> weekday) & 1) != 0 || std::binary_search(dates_.begin(), dates_.end(), day);
}

const Calendar::Spans& Calendar::SpansOf(int64_t day) const {
  return spans_[(HasDay(day) ? 1U : 0U) + (HasDay(day - 1) ? 2U : 0U)];
}

// The first local second of [from, until) that is in the calendar, or that is not; `until` if there
// is none.
int64_t Calendar::NextLocal(int64_t from, int64_t until, bool inside) const {
  int64_t at = from;
  while (at < until) {
    const int64_t day = FloorDiv(at, kSecondsPerDay);
    const auto second = static_cast<int>(at - day * kSecondsPerDay);
    const Spans& spans = SpansOf(day);
    const auto span = std::find_if(spans.begin(), spans.end(),
                                   [second](const Span& one) { return second < one.until; });
    const bool within = span != spans.end() && second >= span->from;
    if (within == inside) return at;
    int next = kSecondsPerDay;
    if (within) {
      next = span->until;
    } else if (span != spans.end()) {
      next = span->from;
    }
    at = day * kSecondsPerDay + next;
  }
  return until;
}

WallTime Calendar::Next(WallTime from, WallTime until, bool inside) const {
  if (from >= until) return until;
  const WallTime zone_end = FromUnixMicros(kZoneEnd * kMicrosPerSecond);
  const WallTime zone_begin = FromUnixMicros(kZoneBegin * kMicrosPerSecond);
  if (!inside && (from < zone_begin || from >= zone_end)) return from;
  const WallTime first = std::max(from, zone_begin);
  if (first >= zone_end) return until;
  // Whether an instant is in a calendar depends on its second only.
  const int64_t start = FloorDiv(ToUnixMicros(first), kMicrosPerSecond);
  const int64_t last = FloorDiv(ToUnixMicros(until) - 1, kMicrosPerSecond) + 1;
  const int64_t end = std::min({start + kCalendarLook / 1s, last, kZoneEnd});
  for (size_t i = zone_->IndexAt(start); i < zone_->size(); ++i) {
    const ZonePeriod period = zone_->Period(i);
    if (period.begin >= end) break;
    const int64_t local_end = std::min(period.end, end) + period.offset;
    const int64_t local =
        NextLocal(std::max(period.begin, start) + period.offset, local_end, inside);
    if (local == local_end) continue;
    const WallTime found = FromUnixMicros((local - period.offset) * kMicrosPerSecond);
    return std::min(std::max(found, from), until);
  }
  const bool left_zone = !inside && end == kZoneEnd;
  return left_zone ? std::min(zone_end, until) : until;
}

bool Calendar::Contains(WallTime t) const {
  const WallTime after = t + Duration(1);
  return Next(t, after, true) == t;
}

bool ScheduleCalendars::Allow(WallTime t) const {
  return (calendar == nullptr || calendar->Contains(t)) &&
         (blackout == nullptr || !blackout->Contains(t));
}

WallTime ScheduleCalendars::NextAllowed(WallTime from, WallTime until) const {
  WallTime at = from;
  const WallTime look = kNever - from > kCalendarLook ? from + kCalendarLook : kNever;
  while (at < until && at < look) {
    const WallTime inside = calendar == nullptr ? at : calendar->NextInside(at, until);
    at = blackout == nullptr ? inside : blackout->NextOutside(inside, until);
    if (at == inside) return at;
  }
  return until;
}

WallTime ScheduleCalendars::NextExcluded(WallTime from, WallTime until) const {
  const WallTime outside = calendar == nullptr ? until : calendar->NextOutside(from, until);
  return blackout == nullptr ? outside : blackout->NextInside(from, outside);
}

}  // namespace carillon
