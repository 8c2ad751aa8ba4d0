// The present calendars of a store, by name and by number, and since when they hold.
//
// Place    Planner, job writes and REST resolve the calendars of a schedule here.
// Threads  Immutable.
// Always   The versions of all calendars are one sequence. A change takes effect at its effective
//          time: fires at or after it obey the new version, earlier ones may follow either. So the
//          newest version may be used as soon as it is known.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/calendar/calendar.h"
#include "common/domain/schedule/schedule_spec.h"

namespace carillon {

// From the write of a version to its effective time. Longer than kCalendarPlanAhead by more than
// clocks of members differ.
inline constexpr Duration kCalendarDelay = 60s;
// A schedule with a calendar is planned at most this far beyond the time when the versions of the
// calendars were read.
inline constexpr Duration kCalendarPlanAhead = 30s;
// Calendars of one store.
inline constexpr size_t kCalendarsMax = 1'000;

// The newest version of one calendar.
struct StoredCalendar {
  CalendarNo number;
  std::string name;
  int64_t version = 0;
  WallTime effective{};
  CalendarDefinition definition = {};
  bool readable = true;  // false: a newer program wrote it; `definition` is empty
};

// One change of a calendar.
struct CalendarChange {
  CalendarNo number;
  int64_t version = 0;
  WallTime effective{};
};

// The newest version of a calendar.
struct CalendarAt {
  CalendarNo number;
  int64_t version = 0;
};

// The calendars of a schedule, as its row names them; 0 = none.
struct CalendarNumbers {
  CalendarNo calendar{};
  CalendarNo blackout{};

  bool any() const { return calendar != CalendarNo() || blackout != CalendarNo(); }
  bool operator==(const CalendarNumbers&) const = default;
};

// A calendar of a schedule that was planned by this version.
struct CalendarUse {
  CalendarNo number;
  int64_t version = 0;

  auto operator<=>(const CalendarUse&) const = default;
};
// The versions that took effect before `before` and that nothing needs any more: neither is it the
// newest of its calendar, nor the first after a version by which a schedule was planned. `changes`:
// all that there are.
std::vector<int64_t> UnusedVersions(const std::vector<CalendarChange>& changes,
                                    const std::set<CalendarUse>& uses, WallTime before);

class CalendarSet {
 public:
  CalendarSet() = default;
  // `version`: the greatest of the store, also counting calendars that were deleted.
  CalendarSet(int64_t version, std::vector<StoredCalendar> calendars,
              std::vector<CalendarChange> changes);
  CalendarSet(CalendarSet&&) = default;
  CalendarSet& operator=(CalendarSet&&) = default;
  CalendarSet(const CalendarSet&) = delete;  // the numbers point to the calendars
  CalendarSet& operator=(const CalendarSet&) = delete;

  int64_t version() const { return version_; }
  const std::map<std::string, StoredCalendar>& calendars() const { return calendars_; }
  const StoredCalendar* Find(const std::string& name) const;

  // kNotFound: there is no such calendar. kCorrupt: it cannot be read. The pointer is "/calendar"
  // or "/blackout".
  Result<CalendarNumbers> NumbersOf(const std::string& calendar, const std::string& blackout) const;
  Result<ScheduleCalendars> Of(const CalendarNumbers& numbers) const;
  Result<ScheduleCalendars> Of(const std::string& calendar, const std::string& blackout) const;

  // The calendars of the schedules of `specs`, in their order. The pointers begin with
  // "/schedules/N"; kInvalid if a calendar does not exist.
  Result<std::vector<ScheduleCalendars>> OfAll(const std::vector<ScheduleSpec>& specs) const;

  // The version by which a schedule with these calendars is planned now.
  int64_t VersionOf(const CalendarNumbers& numbers) const;
  // True if a schedule that was computed by `version` need not be computed anew.
  bool IsPresent(const CalendarNumbers& numbers, int64_t version) const {
    return version == VersionOf(numbers);
  }
  // The earliest effective time of a change of these calendars after `version`; kNever = none.
  WallTime ChangedSince(const CalendarNumbers& numbers, int64_t version) const;

 private:
  struct Numbered {
    const StoredCalendar* stored;
    std::shared_ptr<const Calendar> compiled;  // null: it cannot be read
    std::vector<CalendarChange> changes;       // by version
  };
  const Numbered* Find(CalendarNo number) const;
  Result<std::shared_ptr<const Calendar>> CompiledOf(CalendarNo number,
                                                     std::string_view pointer) const;

  int64_t version_ = 0;
  std::map<std::string, StoredCalendar> calendars_;
  std::map<CalendarNo, Numbered> numbered_;
};

}  // namespace carillon
