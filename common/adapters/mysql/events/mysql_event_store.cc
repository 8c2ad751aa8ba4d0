#include "common/adapters/mysql/events/mysql_event_store.h"

#include <fmt/core.h>

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/events/event_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"

namespace carillon::mysql {

Result<std::vector<EventEffect>> MysqlEventStore::Accept(const NewEvents&, WallTime) {
  return {ErrorCode::kUnavailable, "not built"};
}

Status MysqlEventStore::Refuse(const RefusedEvent& event, WallTime now) {
  return ForgetTimeout(
      InTransaction(db_.pool(), {.operation = "refuse event"},
                    [&](Session& session) { return InsertRefused(session, event, now); }));
}

Result<std::shared_ptr<const TriggerSet>> MysqlEventStore::ReadTriggers(const std::string&) {
  return {ErrorCode::kUnavailable, "not built"};
}

Result<EventPage> MysqlEventStore::ListEvents(const EventListFilter& filter) {
  return InList(db_.pool(), "list events",
                [&](Session& session) { return ReadEventPage(session, filter); });
}

Result<int64_t> MysqlEventStore::CountOpenEventRuns(int64_t limit) {
  static const std::string statement =
      "SELECT COUNT(*) FROM (SELECT 1 FROM job_runs r FORCE INDEX (open_runs) WHERE "
      "r.open_segment IS NOT NULL AND r.state = 'PENDING' AND " +
      KindsIn({RunKind::kEvent}) + " LIMIT ?) x";
  return InRead(db_.pool(), "count event runs", [&](Session& session) -> Result<int64_t> {
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {limit}));
    rows.Next();
    return rows.Int(1);
  });
}

Result<WallTime> MysqlEventStore::BeginTopic(const std::string& topic, WallTime now) {
  return ForgetTimeout(InTransaction(
      db_.pool(), {.operation = "begin topic"}, [&](Session& session) -> Result<WallTime> {
        CARILLON_TRY(session.Execute(
            "INSERT INTO event_topics (topic, since_us) VALUES (?, ?) ON DUPLICATE KEY UPDATE "
            "since_us = since_us",
            {topic, ToUnixMicros(now)}));
        CARILLON_ASSIGN_OR_RETURN(
            Rows rows, session.Query("SELECT since_us FROM event_topics WHERE topic = ?", {topic}));
        if (rows.Next()) return rows.Time(1);
        return {ErrorCode::kBrokenStore, "begin topic: event_topics has no row"};
      }));
}

}  // namespace carillon::mysql
