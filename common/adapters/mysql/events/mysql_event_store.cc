#include "common/adapters/mysql/events/mysql_event_store.h"

namespace carillon::mysql {
namespace {

Error NotBuilt() { return {ErrorCode::kUnavailable, "not built"}; }

}  // namespace

Result<std::vector<EventEffect>> MysqlEventStore::Accept(const NewEvents&, WallTime) {
  return NotBuilt();
}

Status MysqlEventStore::Refuse(const RefusedEvent&, WallTime) { return NotBuilt(); }

Result<std::shared_ptr<const TriggerSet>> MysqlEventStore::ReadTriggers(const std::string&) {
  return NotBuilt();
}

Result<EventPage> MysqlEventStore::ListEvents(const EventListFilter&) { return NotBuilt(); }

Result<int64_t> MysqlEventStore::CountOpenEventRuns(int64_t) { return NotBuilt(); }

Result<WallTime> MysqlEventStore::BeginTopic(const std::string&, WallTime) { return NotBuilt(); }

}  // namespace carillon::mysql
