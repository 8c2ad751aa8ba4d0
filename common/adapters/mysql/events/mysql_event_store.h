// The port EventStore on MariaDB or MySQL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/events/event_store.h"

namespace carillon::mysql {

class MysqlEventStore final : public EventStore {
 public:
  explicit MysqlEventStore(MysqlDatabase& db) : db_(db) {}

  Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) override;
  Status Refuse(const RefusedEvent& event, WallTime now) override;
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) override;
  Result<EventPage> ListEvents(const EventListFilter& filter) override;
  Result<int64_t> CountOpenEventRuns(int64_t limit) override;
  Result<WallTime> BeginTopic(const std::string& topic, WallTime now) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
