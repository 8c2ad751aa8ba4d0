// The port of events, paired: each call goes to both stores (pairing.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/ports/events/event_store.h"
#include "tests/histories/pairing.h"

namespace carillon::test {

class PairedEventStore final : public Paired<EventStore> {
 public:
  using Paired::Paired;
  Result<std::vector<EventEffect>> Accept(const NewEvents& batch, WallTime now) override {
    return Both("Accept", &EventStore::Accept, batch, now);
  }
  Status Refuse(const RefusedEvent& event, WallTime now) override {
    return Both("Refuse", &EventStore::Refuse, event, now);
  }
  Result<std::shared_ptr<const TriggerSet>> ReadTriggers(const std::string& name_space) override {
    return Both("ReadTriggers", &EventStore::ReadTriggers, name_space);
  }
  Result<EventPage> ListEvents(const EventListFilter& filter) override {
    return Both("ListEvents", &EventStore::ListEvents, filter);
  }
  Result<int64_t> CountOpenEventRuns(int64_t limit) override {
    return Both("CountOpenEventRuns", &EventStore::CountOpenEventRuns, limit);
  }
  Result<WallTime> BeginTopic(const std::string& topic, WallTime now) override {
    return Both("BeginTopic", &EventStore::BeginTopic, topic, now);
  }
};

}  // namespace carillon::test
