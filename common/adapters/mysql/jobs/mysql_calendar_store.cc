#include "common/adapters/mysql/jobs/mysql_calendar_store.h"

#include <optional>

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/job_rows/calendar_rows.h"
#include "common/wire/json/job/calendar_json.h"

namespace carillon::mysql {
namespace {

// From the time that the caller gave to the write. kCalendarDelay allows for it.
constexpr Duration kWriteMax = 5s;

Status CheckQuick(MysqlDatabase& db, WallTime began) {
  CARILLON_ASSIGN_OR_RETURN(const WallTime now, db.Now());
  if (now - began <= kWriteMax) return {};
  return {ErrorCode::kUnavailable, "the write of a calendar had to wait for too long"};
}

struct Newest {
  CalendarNo number;
  WallTime effective;
};

// The newest version of the calendar, nullopt if there is none or it was deleted. Locks all of its
// versions: a job write that has read them ends first (LockCalendars).
Result<std::optional<Newest>> LockNewest(Session& session, const std::string& name) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT calendar_no, deleted, effective_us FROM calendars FORCE "
                               "INDEX (by_name) WHERE name = ? ORDER BY version FOR UPDATE",
                               {name}));
  std::optional<Newest> newest;
  while (rows.Next()) {
    newest.reset();
    if (rows.Int(2) == 0) newest = Newest{CalendarNo(rows.Unsigned(1)), rows.Time(3)};
  }
  return newest;
}

// The next version and number. Two writers may find the same; the second finds its version taken,
// and is repeated.
struct Numbers {
  int64_t version = 0;
  CalendarNo number;
};

Result<Numbers> NextNumbers(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT COALESCE(MAX(version), 0) + 1, COALESCE(MAX(calendar_no), 0) + 1 "
                    "FROM calendars"));
  rows.Next();
  return Numbers{.version = rows.Int(1), .number = CalendarNo(rows.Unsigned(2))};
}

Status CheckRoom(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query("SELECT CAST(COUNT(DISTINCT calendar_no) - "
                                                     "SUM(deleted) AS SIGNED) FROM calendars"));
  const bool full = rows.Next() && !rows.IsNull(1) && rows.Int(1) >= int64_t{kCalendarsMax};
  if (full) return {ErrorCode::kExhausted, "there are too many calendars"};
  return {};
}

struct NewVersion {
  Numbers numbers;
  std::string name;
  std::string definition;
  bool deleted = false;
  WallTime effective;
};

Status Insert(Session& session, const NewVersion& row) {
  CARILLON_TRY(session.Execute(
      "INSERT INTO calendars (calendar_no, version, name, definition, deleted, effective_us) "
      "VALUES (?, ?, ?, ?, ?, ?)",
      {row.numbers.number.value(), row.numbers.version, row.name, row.definition,
       int64_t{row.deleted}, ToUnixMicros(row.effective)}));
  return {};
}

Result<bool> IsInUse(Session& session, CalendarNo number) {
  for (const char* statement :
       {"SELECT 1 FROM job_schedules FORCE INDEX (by_calendar) WHERE calendar_no = ? LIMIT 1",
        "SELECT 1 FROM job_schedules FORCE INDEX (by_blackout) WHERE blackout_no = ? LIMIT 1"}) {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {number.value()}));
    if (rows.Next()) return true;
  }
  return false;
}

}  // namespace

Result<StoredCalendar> MysqlCalendarStore::PutCalendar(const std::string& name,
                                                       const CalendarDefinition& definition,
                                                       WallTime now) {
  const std::string text = CalendarToText(definition);
  CARILLON_ASSIGN_OR_RETURN(const WallTime began, db_.Now());
  return InTransaction(
      db_.pool(), {.operation = "put calendar", .retry_duplicates = true},
      [&](Session& session) -> Result<StoredCalendar> {
        CARILLON_ASSIGN_OR_RETURN(const auto newest, LockNewest(session, name));
        if (!newest) CARILLON_TRY(CheckRoom(session));
        CARILLON_ASSIGN_OR_RETURN(Numbers numbers, NextNumbers(session));
        if (newest) numbers.number = newest->number;
        const WallTime effective = EffectiveTime(newest ? newest->effective : WallTime{}, now);
        CARILLON_TRY(CheckQuick(db_, began));
        CARILLON_TRY(
            Insert(session,
                   {.numbers = numbers, .name = name, .definition = text, .effective = effective}));
        return StoredCalendar{.number = numbers.number,
                              .name = name,
                              .version = numbers.version,
                              .effective = effective,
                              .definition = definition};
      });
}

Status MysqlCalendarStore::DeleteCalendar(const std::string& name, WallTime now) {
  return InTransaction(
      db_.pool(), {.operation = "delete calendar", .retry_duplicates = true},
      [&](Session& session) -> Status {
        CARILLON_ASSIGN_OR_RETURN(const auto newest, LockNewest(session, name));
        if (!newest) return {ErrorCode::kNotFound, "there is no calendar " + name};
        CARILLON_ASSIGN_OR_RETURN(const bool used, IsInUse(session, newest->number));
        if (used) return {ErrorCode::kConflict, "a schedule names calendar " + name};
        CARILLON_ASSIGN_OR_RETURN(Numbers numbers, NextNumbers(session));
        numbers.number = newest->number;
        return Insert(session, {.numbers = numbers,
                                .name = name,
                                .definition = "",
                                .deleted = true,
                                .effective = EffectiveTime(newest->effective, now)});
      });
}

Result<int64_t> MysqlCalendarStore::ReadCalendarVersion() {
  return InRead(db_.pool(), "calendar version", [](Session& session) -> Result<int64_t> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows,
                              session.Query("SELECT COALESCE(MAX(version), 0) FROM calendars"));
    rows.Next();
    return rows.Int(1);
  });
}

Result<CalendarSet> MysqlCalendarStore::LoadCalendars() {
  return InRead(db_.pool(), "calendars", [](Session& session) { return ReadCalendars(session); });
}

Result<std::map<CalendarNo, int64_t>> MysqlCalendarStore::CountCalendarJobs() {
  return InList(
      db_.pool(), "jobs of calendars",
      [](Session& session) -> Result<std::map<CalendarNo, int64_t>> {
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows,
            session.Query("SELECT u.n, COUNT(*) FROM (SELECT calendar_no AS n, job_no FROM "
                          "job_schedules WHERE calendar_no > 0 UNION SELECT blackout_no, job_no "
                          "FROM job_schedules WHERE blackout_no > 0) u GROUP BY u.n"));
        std::map<CalendarNo, int64_t> jobs;
        while (rows.Next()) jobs[CalendarNo(rows.Unsigned(1))] = rows.Int(2);
        return jobs;
      });
}

}  // namespace carillon::mysql
