// Port of topics outside, from which events are read. Their records are written by others.
//
// Threads  One thread.
// Errors   Open: kNotFound, there is no such topic; kUnavailable, the bus did not answer in time.
#pragma once

#include <memory>
#include <string>

#include "common/ports/message_bus.h"

namespace carillon {

struct EventTopic {
  std::string topic;
  std::string name_space;

  bool operator==(const EventTopic&) const = default;
};

class EventTopics {
 public:
  static constexpr Duration kOpenWithin = 10s;

  virtual ~EventTopics() = default;

  // A consumer of all partitions.
  virtual Result<std::unique_ptr<BusConsumer>> Open(const std::string& topic,
                                                    const BusBegin& begin) = 0;
  // True if the topic has more partitions than when it was opened.
  virtual Result<bool> HasGrown(const std::string& topic) = 0;
};

}  // namespace carillon
