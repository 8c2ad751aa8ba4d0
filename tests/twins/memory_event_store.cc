#include "tests/twins/memory_event_store.h"

namespace carillon::memory {
namespace {

Error NotBuilt() { return {ErrorCode::kUnavailable, "not built"}; }

}  // namespace

Result<std::vector<EventEffect>> MemoryEventStore::Accept(const NewEvents&, WallTime) {
  return NotBuilt();
}

Status MemoryEventStore::Refuse(const RefusedEvent&, WallTime) { return NotBuilt(); }

Result<std::shared_ptr<const TriggerSet>> MemoryEventStore::ReadTriggers(const std::string&) {
  return NotBuilt();
}

Result<EventPage> MemoryEventStore::ListEvents(const EventListFilter&) { return NotBuilt(); }

Result<int64_t> MemoryEventStore::CountOpenEventRuns(int64_t) { return NotBuilt(); }

Result<WallTime> MemoryEventStore::BeginTopic(const std::string&, WallTime) { return NotBuilt(); }

}  // namespace carillon::memory
