// The port of events, whose calls go through a CallGate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/ports/events/event_store.h"
#include "tests/support/faults/fault_store.h"

namespace carillon::test {

class FaultEventStore : public FaultStore<EventStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) override {
    return Call("Accept", &EventStore::Accept, batch, now);
  }
  Status Refuse(const RefusedEvent& event, WallTime now) override {
    return Call("Refuse", &EventStore::Refuse, event, now);
  }
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) override {
    return Call("ReadTriggers", &EventStore::ReadTriggers, name_space);
  }
  Result<EventPage> ListEvents(const EventListFilter& filter) override {
    return Call("ListEvents", &EventStore::ListEvents, filter);
  }
  Result<int64_t> CountOpenEventRuns(int64_t limit) override {
    return Call("CountOpenEventRuns", &EventStore::CountOpenEventRuns, limit);
  }
  Result<WallTime> BeginTopic(const std::string& topic, WallTime now) override {
    return Call("BeginTopic", &EventStore::BeginTopic, topic, now);
  }
};

}  // namespace carillon::test
