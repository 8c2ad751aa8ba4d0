#include "common/cluster/kafka_event_topics.h"

#include <numeric>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"

namespace carillon::cluster {

Result<std::unique_ptr<BusConsumer>> KafkaEventTopics::Open(const std::string& topic,
                                                            const BusBegin& begin) {
  CARILLON_ASSIGN_OR_RETURN(const int count,
                            kafka::CountPartitions(options_, topic, kOpenWithin / 2));
  if (count <= 0) return Error{ErrorCode::kUnavailable, "kafka: topic " + topic + " is not ready"};
  std::vector<int> partitions(static_cast<size_t>(count));
  std::iota(partitions.begin(), partitions.end(), 0);
  CARILLON_ASSIGN_OR_RETURN(auto consumer, kafka::NewConsumer({.kafka = options_,
                                                               .topic = topic,
                                                               .group = kGroup,
                                                               .partitions = std::move(partitions),
                                                               .begin = begin}));
  opened_[topic] = count;
  return consumer;
}

Result<bool> KafkaEventTopics::HasGrown(const std::string& topic) {
  CARILLON_ASSIGN_OR_RETURN(const int count,
                            kafka::CountPartitions(options_, topic, kOpenWithin / 2));
  const auto opened = opened_.find(topic);
  return opened != opened_.end() && count > opened->second;
}

}  // namespace carillon::cluster
