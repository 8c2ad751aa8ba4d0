#include "common/adapters/mysql/job_rows/calendar_rows.h"

#include <algorithm>
#include <map>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/wire/json/job/calendar_json.h"

namespace carillon::mysql {
namespace {

// Collects rows (calendar_no, version, name, deleted, effective_us) in any order.
class Versions {
 public:
  void Add(const Rows& rows) {
    const CalendarNo number(rows.Unsigned(1));
    const int64_t version = rows.Int(2);
    changes_.push_back({.number = number, .version = version, .effective = rows.Time(5)});
    greatest_ = std::max(greatest_, version);
    Newest& newest = newest_[number];
    if (version < newest.calendar.version) return;
    newest.calendar = {.number = number,
                       .name = rows.Text(3),
                       .version = version,
                       .effective = rows.Time(5),
                       .definition = {},
                       .readable = false};
    newest.deleted = rows.Int(4) != 0;
  }
  // The versions whose definitions are needed.
  std::vector<int64_t> Present() const {
    std::vector<int64_t> versions;
    for (const auto& [number, newest] : newest_) {
      if (!newest.deleted) versions.push_back(newest.calendar.version);
    }
    return versions;
  }
  void Define(const Session& session, CalendarNo number, std::string_view text) {
    StoredCalendar& calendar = newest_.at(number).calendar;
    auto definition = CalendarFromText(text);
    calendar.readable = definition.ok();
    if (definition.ok()) {
      calendar.definition = std::move(*definition);
    } else {
      session.NoteUnreadable("calendars", calendar.name, definition.error().message);
    }
  }
  CalendarSet Take() {
    std::vector<StoredCalendar> present;
    for (auto& [number, newest] : newest_) {
      if (!newest.deleted) present.push_back(std::move(newest.calendar));
    }
    return CalendarSet(greatest_, std::move(present), std::move(changes_));
  }

 private:
  struct Newest {
    StoredCalendar calendar;
    bool deleted = false;
  };
  std::map<CalendarNo, Newest> newest_;
  std::vector<CalendarChange> changes_;
  int64_t greatest_ = 0;
};

}  // namespace

Result<CalendarSet> ReadCalendars(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT c.calendar_no, c.version, c.name, c.deleted, c.effective_us, "
                    "IF(c.version = m.newest AND c.deleted = 0, c.definition, NULL) "
                    "FROM calendars c JOIN (SELECT calendar_no, MAX(version) AS newest FROM "
                    "calendars GROUP BY calendar_no) m ON m.calendar_no = c.calendar_no "
                    "ORDER BY c.version"));
  Versions versions;
  while (rows.Next()) {
    versions.Add(rows);
    if (!rows.IsNull(6)) versions.Define(session, CalendarNo(rows.Unsigned(1)), rows.Text(6));
  }
  return versions.Take();
}

Result<std::shared_ptr<const CalendarSet>> LockCalendars(Session& session,
                                                         const std::set<std::string>& names) {
  if (names.empty()) return std::make_shared<const CalendarSet>();
  Versions versions;
  JsonRows wanted;
  for (const std::string& name : names) wanted.Begin().Add(name);
  {
    // In ascending order: after a wait for a writer, the scan goes on to the row that it added.
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT c.calendar_no, c.version, c.name, c.deleted, c.effective_us FROM "
                      "JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (n VARCHAR(63) CHARACTER SET ascii COLLATE "
                      "ascii_bin PATH '$[0]')) k STRAIGHT_JOIN calendars c FORCE INDEX (by_name) "
                      "ON c.name = k.n" +
                          ForShareOf("c"),
                      {wanted.Take()}));
    while (rows.Next()) versions.Add(rows);
  }
  JsonRows present;
  for (const int64_t version : versions.Present()) present.Begin().Add(version);
  if (!present.empty()) {
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT c.calendar_no, c.definition FROM JSON_TABLE(" CARILLON_JSON
                      ", '$[*]' COLUMNS (v BIGINT PATH '$[0]')) k STRAIGHT_JOIN calendars c "
                      "FORCE INDEX (by_version) ON c.version = k.v",
                      {present.Take()}));
    while (rows.Next()) versions.Define(session, CalendarNo(rows.Unsigned(1)), rows.Text(2));
  }
  return std::make_shared<const CalendarSet>(versions.Take());
}

Result<Schedule> CompileSchedule(Session& session, const DueSchedule& due, WallTime* place) {
  ScheduleCalendars limits;
  if (due.calendars.any()) {
    CARILLON_ASSIGN_OR_RETURN(const CalendarSet calendars, ReadCalendars(session));
    CARILLON_ASSIGN_OR_RETURN(limits, calendars.Of(due.calendars));
    *place = std::min(*place, calendars.ChangedSince(due.calendars, due.calendar_version));
  }
  ScheduleSpec spec = due.spec;
  // The events that start a run are in the definition alone. Whatever they are, there are no fires.
  if (spec.kind == ScheduleKind::kEvent) spec.event_type = "*";
  return Schedule::Compile(spec, due.dst_gap, due.dst_repeat, std::move(limits));
}

void AddCalendarNames(const JobDefinition& definition, std::set<std::string>* names) {
  for (const ScheduleSpec& spec : definition.schedules) {
    for (const std::string& name : {spec.calendar, spec.blackout}) {
      if (!name.empty()) names->insert(name);
    }
  }
}

}  // namespace carillon::mysql
