#include "common/adapters/mysql/operations/calendar_retention.h"

#include <set>
#include <vector>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/domain/calendar/calendar_set.h"

namespace carillon::mysql {
namespace {

Result<std::vector<CalendarChange>> ReadChanges(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT calendar_no, version, effective_us FROM calendars"));
  std::vector<CalendarChange> changes;
  while (rows.Next()) {
    changes.push_back({.number = CalendarNo(rows.Unsigned(1)),
                       .version = rows.Int(2),
                       .effective = rows.Time(3)});
  }
  return changes;
}

// Also of paused jobs, whose schedules are planned anew when they are resumed.
Result<std::set<CalendarUse>> ReadUses(Session& session) {
  std::set<CalendarUse> uses;
  for (const char* statement : {"SELECT DISTINCT calendar_no, calendar_version FROM job_schedules "
                                "FORCE INDEX (by_calendar) WHERE calendar_no > 0",
                                "SELECT DISTINCT blackout_no, calendar_version FROM job_schedules "
                                "FORCE INDEX (by_blackout) WHERE blackout_no > 0"}) {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement));
    while (rows.Next()) uses.insert({CalendarNo(rows.Unsigned(1)), rows.Int(2)});
  }
  return uses;
}

}  // namespace

Status DeleteOldCalendars(Pool& pool, WallTime before) {
  return InTransaction(pool, {.operation = "retention"}, [&](Session& session) -> Status {
    // Before the uses: a schedule that is written meanwhile is planned by the newest version, or by
    // a later one.
    CARILLON_ASSIGN_OR_RETURN(const std::vector<CalendarChange> changes, ReadChanges(session));
    CARILLON_ASSIGN_OR_RETURN(const std::set<CalendarUse> uses, ReadUses(session));
    JsonRows unused;
    for (const int64_t version : UnusedVersions(changes, uses, before)) unused.Begin().Add(version);
    if (unused.empty()) return {};
    CARILLON_TRY(session.Execute(
        "DELETE c FROM JSON_TABLE(" CARILLON_JSON
        ", '$[*]' COLUMNS (v BIGINT PATH '$[0]')) k STRAIGHT_JOIN calendars c FORCE INDEX "
        "(by_version) ON c.version = k.v",
        {unused.Take()}));
    return {};
  });
}

}  // namespace carillon::mysql
