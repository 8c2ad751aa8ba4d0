// Topics of events on the Kafka of kafka.bootstrap. Others create them and write to them.
//
// Place    Composition root of a cluster's scheduler; the leader reads (scheduler/events).
// Time     A call waits for silent brokers up to kOpenWithin / 2. Brokers that fall silent between
//          its requests may let Open wait for longer.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "common/adapters/kafka/kafka_client.h"
#include "common/ports/events/event_topics.h"

namespace carillon::cluster {

class KafkaEventTopics final : public EventTopics {
 public:
  // Its positions are those of the cluster, whoever leads it.
  static constexpr const char* kGroup = "carillon-events";

  explicit KafkaEventTopics(kafka::KafkaOptions options) : options_(std::move(options)) {}

  Result<std::unique_ptr<BusConsumer>> Open(const std::string& topic,
                                            const BusBegin& begin) override;
  Result<bool> HasGrown(const std::string& topic) override;

 private:
  const kafka::KafkaOptions options_;
  std::map<std::string, int> opened_;  // by topic: its partitions when it was opened
};

}  // namespace carillon::cluster
