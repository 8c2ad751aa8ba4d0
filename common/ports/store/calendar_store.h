// Port of the calendars that schedules name.
//
// Threads  Thread-safe; blocking.
// Errors   As job_store.h.
// Always   The versions of all calendars are one ascending sequence. After the return of a write,
//          every write of a job uses the new version, and LoadCalendars returns it. Every schedule
//          that was computed with an older version is then found by FiringStore::ScanOutdated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "common/base/result.h"
#include "common/domain/calendar/calendar_set.h"

namespace carillon {

// When a version that is written at `now` takes effect. Members' clocks differ, but the effective
// times of a calendar's versions must ascend.
inline WallTime EffectiveTime(WallTime previous, WallTime now) {
  return std::max(now + kCalendarDelay, previous + Duration(1));
}

class CalendarStore {
 public:
  virtual ~CalendarStore() = default;

  // Writes the next version of the calendar, or its first. The definition must be valid.
  // kExhausted: kCalendarsMax calendars exist.
  virtual Result<StoredCalendar> PutCalendar(const std::string& name,
                                             const CalendarDefinition& definition,
                                             WallTime now) = 0;
  // kConflict: a schedule of a job that is not deleted names it. kNotFound.
  virtual Status DeleteCalendar(const std::string& name, WallTime now) = 0;
  // The greatest version of all calendars; 0 = there was never any. Cheap.
  virtual Result<int64_t> ReadCalendarVersion() = 0;
  virtual Result<CalendarSet> LoadCalendars() = 0;
  // The number of jobs with a schedule that names the calendar; calendars without any are left out.
  virtual Result<std::map<CalendarNo, int64_t>> CountCalendarJobs() = 0;
};

}  // namespace carillon
