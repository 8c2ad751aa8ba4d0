#include "common/adapters/mysql/events/mysql_event_store.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/events/accept_batch.h"
#include "common/adapters/mysql/events/event_rows.h"
#include "common/adapters/mysql/events/trigger_rows.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/base/failpoint.h"

namespace carillon::mysql {
namespace {

// The events that match a trigger. The effects of the others are complete.
Result<std::vector<MatchedEvent>> MatchAll(const TriggerSet& triggers, const NewEvents& batch,
                                           std::vector<EventEffect>* effects) {
  std::vector<MatchedEvent> matched;
  for (size_t i = 0; i < batch.events.size(); ++i) {
    const Event& event = batch.events[i];
    Result<EventMatches> matches = MatchEvent(triggers, event);
    if (!matches.ok()) {
      Error error = matches.error();
      error.pointer = fmt::format("/{}", i);
      return error;
    }
    (*effects)[i].not_computable = matches->not_computable;
    if (matches->matched.empty()) continue;
    matched.push_back({.place = i, .event = &event, .matches = std::move(*matches)});
  }
  return matched;
}

using MatchedPlace = std::vector<MatchedEvent>::const_iterator;

// The end of those that one transaction takes.
MatchedPlace EndOfWrite(MatchedPlace begin, MatchedPlace end) {
  size_t runs = 0;
  return std::find_if(begin, end, [&runs](const MatchedEvent& one) {
    runs += one.matches.matched.size();
    return runs > kEventRunsPerWrite;
  });
}

}  // namespace

Result<std::vector<EventEffect>> MysqlEventStore::Accept(const NewEvents& batch, WallTime now) {
  if (batch.events.size() > kEventsPerCall) {
    return {ErrorCode::kExhausted, fmt::format("accept events: more than {}", kEventsPerCall)};
  }
  CARILLON_ASSIGN_OR_RETURN(const std::shared_ptr<const TriggerSet> triggers,
                            ReadTriggers(batch.name_space));
  std::vector<EventEffect> effects(batch.events.size());
  CARILLON_ASSIGN_OR_RETURN(const std::vector<MatchedEvent> matched,
                            MatchAll(*triggers, batch, &effects));
  failpoint::Hit("event.matched");
  for (auto next = matched.begin(); next != matched.end();) {
    const auto end = EndOfWrite(next, matched.end());
    const std::vector<MatchedEvent> write(next, end);
    CARILLON_ASSIGN_OR_RETURN(std::vector<EventEffect> written,
                              AcceptMatched(db_.pool(), batch.name_space, write, now));
    for (size_t i = 0; i < write.size(); ++i) effects[write[i].place] = std::move(written[i]);
    next = end;
  }
  return effects;
}

Status MysqlEventStore::Refuse(const RefusedEvent& event, WallTime now) {
  return ForgetTimeout(
      InTransaction(db_.pool(), {.operation = "refuse event"},
                    [&](Session& session) { return InsertRefused(session, event, now); }));
}

Result<std::shared_ptr<const TriggerSet>> MysqlEventStore::ReadTriggers(
    const std::string& name_space) {
  CARILLON_ASSIGN_OR_RETURN(const SharedTriggers all,
                            PresentTriggers(db_.pool(), db_.caches().triggers));
  const auto found = all->by_namespace.find(name_space);
  if (found != all->by_namespace.end()) return found->second;
  return std::make_shared<const TriggerSet>(std::vector<EventTrigger>());
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
