// Calendars: sets of instants, described by days and times of day on the clock of a time zone. A
// schedule fires only in its calendar, and never in its blackout.
//
// Place    Schedule::Compile takes compiled calendars; calendar_set.h resolves their names.
// Errors   Calendar::Compile: kInvalid with a pointer to the field of the definition ("/dates/3").
// Always   An instant is in a calendar if the clock of its zone then shows a day and a time that
//          are in it. Local times that the clock jumps over therefore hold no instant, and repeated
//          ones are in it both times. So a fire that dst_gap moves to the end of a gap is judged by
//          the time to which it moved. Nothing is in a calendar before 1969 or after 2299.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "common/domain/schedule/zone.h"

namespace carillon {

inline constexpr size_t kCalendarDatesMax = 2'000;  // of `dates`, and of `except`
inline constexpr size_t kCalendarIntervalsMax = 24;
inline constexpr int kMinutesPerDay = 1'440;

// A search reaches this far and no further: ten years of 365.25 days.
inline constexpr Duration kCalendarLook = std::chrono::hours(87'660);

using CalendarDay = std::chrono::sys_days;  // a day on a calendar without zones

// From `from` to before `to`, in minutes of the day. If `to` is not after `from`, it lies in the
// next day.
struct CalendarInterval {
  int from = 0;
  int to = kMinutesPerDay;

  bool operator==(const CalendarInterval&) const = default;
};

// A calendar as its owner wrote it. A day is in it if its weekday or its date is listed and it is
// not in `except`; every day is if neither weekdays nor dates are given. The time must lie in an
// interval, which belongs to the day on which it begins; without intervals the whole day counts.
struct CalendarDefinition {
  std::string time_zone = "UTC";
  uint8_t weekdays = 0;  // bit n: weekday n, 0 = Sunday
  std::vector<CalendarDay> dates = {};
  std::vector<CalendarDay> except = {};
  std::vector<CalendarInterval> intervals = {};

  bool operator==(const CalendarDefinition&) const = default;
};

// True for [a-z0-9][a-z0-9_-]{0,62}.
bool IsCalendarName(std::string_view name);

// A compiled calendar. Immutable, safe to share between threads.
class Calendar {
 public:
  static Result<Calendar> Compile(const CalendarDefinition& definition);

  bool Contains(WallTime t) const;
  // The first instant of [from, until) that is in the calendar; `until` if there is none. Searches
  // at most kCalendarLook after `from`, and then returns `until`.
  WallTime NextInside(WallTime from, WallTime until) const { return Next(from, until, true); }
  // The same for the first instant that is not in it.
  WallTime NextOutside(WallTime from, WallTime until) const { return Next(from, until, false); }

 private:
  struct Span {  // [from, until) in seconds of a day
    int from;
    int until;
  };
  using Spans = std::vector<Span>;  // ascending, apart from each other

  explicit Calendar(const Zone& zone) : zone_(&zone) {}
  bool HasDay(int64_t day) const;
  const Spans& SpansOf(int64_t day) const;
  int64_t NextLocal(int64_t from, int64_t until, bool inside) const;
  WallTime Next(WallTime from, WallTime until, bool inside) const;

  const Zone* zone_;  // lives until the process ends
  uint8_t weekdays_ = 0;
  bool every_day_ = false;
  std::vector<int64_t> dates_;  // days since 1970, ascending
  std::vector<int64_t> except_;
  // The times of a day that are in the calendar; index: 1 if the day itself is in it, plus 2 if the
  // day before is (whose intervals may reach into this one).
  Spans spans_[4];
};

// The calendars that limit a schedule, either may be null. `calendar`: only in it; `blackout`:
// never in it.
struct ScheduleCalendars {
  std::shared_ptr<const Calendar> calendar = {};  // shared: many schedules use the same calendar
  std::shared_ptr<const Calendar> blackout = {};

  bool any() const { return calendar != nullptr || blackout != nullptr; }
  bool Allow(WallTime t) const;
  // The first instant of [from, until) at which a fire is allowed (or excluded); `until` if there
  // is none within kCalendarLook.
  WallTime NextAllowed(WallTime from, WallTime until) const;
  WallTime NextExcluded(WallTime from, WallTime until) const;
};

}  // namespace carillon
