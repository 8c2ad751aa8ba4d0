#include "tests/twins/memory_calendar_store.h"

#include <set>
#include <utility>

#include "common/domain/job/pending_fires.h"

namespace carillon::memory {
namespace {

Error NoCalendar(const std::string& name) {
  return {ErrorCode::kNotFound, "there is no calendar " + name};
}

}  // namespace

Result<StoredCalendar> MemoryCalendarStore::PutCalendar(const std::string& name,
                                                        const CalendarDefinition& definition,
                                                        WallTime now) {
  MutexLock lock(tables_.mu);
  const CalendarSet& set = tables_.Calendars();
  const StoredCalendar* before = set.Find(name);
  if (before == nullptr && set.calendars().size() >= kCalendarsMax) {
    return {ErrorCode::kExhausted, "there are too many calendars"};
  }
  uint64_t last_number = 0;
  for (const auto& [version, entry] : tables_.calendars) {
    last_number = std::max(last_number, entry.number.value());
  }
  const WallTime effective = EffectiveTime(before == nullptr ? WallTime{} : before->effective, now);
  const CalendarNo number = before == nullptr ? CalendarNo(last_number + 1) : before->number;
  const int64_t version = set.version() + 1;
  tables_.calendars[version] = {
      .number = number, .name = name, .definition = definition, .effective = effective};
  return *tables_.Calendars().Find(name);
}

Status MemoryCalendarStore::DeleteCalendar(const std::string& name, WallTime now) {
  MutexLock lock(tables_.mu);
  const CalendarSet& set = tables_.Calendars();
  const StoredCalendar* found = set.Find(name);
  if (found == nullptr) return NoCalendar(name);
  if (JobsByCalendar().contains(found->number)) {
    return {ErrorCode::kConflict, "a schedule names calendar " + name};
  }
  tables_.calendars[set.version() + 1] = {.number = found->number,
                                          .name = name,
                                          .definition = {},
                                          .effective = EffectiveTime(found->effective, now),
                                          .deleted = true};
  return {};
}

Result<int64_t> MemoryCalendarStore::ReadCalendarVersion() {
  MutexLock lock(tables_.mu);
  return tables_.Calendars().version();
}

Result<CalendarSet> MemoryCalendarStore::LoadCalendars() {
  MutexLock lock(tables_.mu);
  const CalendarSet& set = tables_.Calendars();
  std::vector<StoredCalendar> present;
  for (const auto& [name, calendar] : set.calendars()) present.push_back(calendar);
  std::vector<CalendarChange> changes;
  for (const auto& [version, entry] : tables_.calendars) {
    changes.push_back({entry.number, version, entry.effective});
  }
  return CalendarSet(set.version(), std::move(present), std::move(changes));
}

std::map<CalendarNo, int64_t> MemoryCalendarStore::JobsByCalendar() const {
  std::set<std::pair<CalendarNo, JobNo>> uses;
  for (const auto& [job_no, job] : tables_.jobs()) {
    if (job.deleted) continue;
    for (const ScheduleId id : job.schedules) {
      const CalendarNumbers& numbers = tables_.FindSchedule(id)->calendars;
      for (const CalendarNo number : {numbers.calendar, numbers.blackout}) {
        if (number != CalendarNo()) uses.insert({number, job_no});
      }
    }
  }
  std::map<CalendarNo, int64_t> jobs;
  for (const auto& [number, job_no] : uses) ++jobs[number];
  return jobs;
}

Result<std::map<CalendarNo, int64_t>> MemoryCalendarStore::CountCalendarJobs() {
  MutexLock lock(tables_.mu);
  return JobsByCalendar();
}

Status CheckCalendars(const CalendarSet& set, const JobDefinition& definition) {
  const auto all = set.OfAll(definition.schedules);
  if (!all.ok()) return all.error();
  return {};
}

ScheduleCalendars Resolved(const CalendarSet& set, const CalendarNumbers& numbers) {
  auto calendars = set.Of(numbers);
  return calendars.ok() ? std::move(*calendars) : ScheduleCalendars();
}

ScheduleEntry NewSchedule(const CalendarSet& set, const JobEntry& job, ScheduleId id,
                          const ScheduleSpec& spec, WallTime now) {
  const CalendarNumbers calendars = set.NumbersOf(spec.calendar, spec.blackout).value();
  return {.id = id,
          .job_no = job.job_no,
          .segment = job.segment,
          .spec = spec,
          .version = 1,
          .next_fire = FirstFireAfter(job.definition, spec, now, Resolved(set, calendars)),
          .active = job.definition.enabled,
          .calendars = calendars,
          .calendar_version = set.VersionOf(calendars)};
}

ScheduleCalendars UsePresent(const CalendarSet& set, const JobDefinition& definition,
                             ScheduleEntry* schedule) {
  ScheduleCalendars calendars = Resolved(set, schedule->calendars);
  if (schedule->calendars.any()) {
    const WallTime changed = set.ChangedSince(schedule->calendars, schedule->calendar_version);
    schedule->next_fire =
        FireUnderNewCalendars(definition, schedule->spec, schedule->next_fire, changed, calendars);
    schedule->calendar_version = set.VersionOf(schedule->calendars);
  }
  return calendars;
}

}  // namespace carillon::memory
