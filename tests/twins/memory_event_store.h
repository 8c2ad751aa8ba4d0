// The port EventStore in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/ports/events/event_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryEventStore final : public EventStore {
 public:
  explicit MemoryEventStore(MemoryTables& tables) : tables_(tables) {}

  Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) override;
  Status Refuse(const RefusedEvent& event, WallTime now) override;
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) override;
  Result<EventPage> ListEvents(const EventListFilter& filter) override;
  Result<int64_t> CountOpenEventRuns(int64_t limit) override;
  Result<WallTime> BeginTopic(const std::string& topic, WallTime now) override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
