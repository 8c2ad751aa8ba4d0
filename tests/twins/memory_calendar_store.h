// The port CalendarStore in memory.
#pragma once

#include <map>
#include <string>

#include "common/ports/store/calendar_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryCalendarStore final : public CalendarStore {
 public:
  explicit MemoryCalendarStore(MemoryTables& tables) : tables_(tables) {}

  Result<StoredCalendar> PutCalendar(const std::string& name, const CalendarDefinition& definition,
                                     WallTime now) override;
  Status DeleteCalendar(const std::string& name, WallTime now) override;
  Result<int64_t> ReadCalendarVersion() override;
  Result<CalendarSet> LoadCalendars() override;
  Result<std::map<CalendarNo, int64_t>> CountCalendarJobs() override;

 private:
  std::map<CalendarNo, int64_t> JobsByCalendar() const REQUIRES(tables_.mu);

  MemoryTables& tables_;
};

// ---- calendars of schedules, for the writes of jobs ----
// kInvalid with the pointer: a schedule names a calendar that does not exist.
Status CheckCalendars(const CalendarSet& set, const JobDefinition& definition);
// The row of a new schedule, whose names were checked before.
ScheduleEntry NewSchedule(const CalendarSet& set, const JobEntry& job, ScheduleId id,
                          const ScheduleSpec& spec, WallTime now);
ScheduleCalendars Resolved(const CalendarSet& set, const CalendarNumbers& numbers);
// Moves a paused schedule to its first fire by the present calendars, and returns these.
ScheduleCalendars UsePresent(const CalendarSet& set, const JobDefinition& definition,
                             ScheduleEntry* schedule);

}  // namespace carillon::memory
