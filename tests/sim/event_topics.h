// Topics outside to which others write events, and the check that each record is handled: at the
// end an event has been accepted, and a record that is no event has been refused once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/adapters/memory/memory_bus.h"
#include "common/base/clock.h"
#include "common/base/rng.h"
#include "common/ports/events/event_topics.h"
#include "tests/sim/events_check.h"

namespace carillon::sim {

class EventTopicsCheck {
 public:
  static std::vector<EventTopic> Topics();

  struct Ports {
    const Clock& clock;
    EventStore& store;
    memory::MemoryTables& tables;
    memory::MemoryBus& bus;
    EventsCheck& events;
  };
  EventTopicsCheck(const Ports& ports, uint64_t seed);
  ~EventTopicsCheck();

  // The store of the members. Each of its answers is judged, as those to the actor are.
  EventStore& store();
  // Somebody sends a record, now and then one that was sent before.
  void Write();
  // A record that has not been handled; nullopt: none.
  std::optional<std::string> Missing();

 private:
  class Witness;
  struct Record {
    EventTopic topic;
    std::string text;
    WallTime sent;
  };
  using EventName = std::tuple<std::string, std::string, std::string>;  // namespace, source, id

  std::string NewEvent(const std::string& name_space);
  size_t Refused() const;

  const Ports ports_;
  Rng rng_;
  const std::unique_ptr<BusProducer> producer_;
  const std::unique_ptr<Witness> witness_;
  int made_ = 0;
  std::vector<Record> records_;
  std::map<EventName, std::string> bodies_;  // of the events among them
};

}  // namespace carillon::sim
