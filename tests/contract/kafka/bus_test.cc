// The contract of the message bus on a real Kafka broker.
#include <gtest/gtest.h>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"
#include "common/adapters/system/system_clock.h"
#include "tests/support/kafka_broker.h"

namespace carillon::test {

// One broker for all tests. Each test creates the topics again, so that there are no records and no
// valid positions.
struct KafkaBusFactory {
  static constexpr int kPartitions = 4;
  static constexpr bool kConfirms = true;

  static kafka::KafkaOptions Options() {
    static KafkaBroker* broker = [] {
      static KafkaBroker made;
      made.Start();
      return &made;
    }();
    return {.bootstrap = broker->bootstrap()};
  }
  KafkaBusFactory() {
    const std::vector<std::string> names = {std::string(kTasksTopic), std::string(kResultsTopic)};
    std::vector<kafka::TopicOptions> topics;
    for (const std::string& name : names)
      topics.push_back({.name = name, .partitions = kPartitions});
    Settle([&] { return kafka::DeleteTopics(Options(), names, 20s).ok(); });
    bool made = false;
    Settle([&] { return made = kafka::EnsureTopics(Options(), topics, 20s).ok(); });
    EXPECT_TRUE(made);
  }
  std::unique_ptr<BusProducer> Producer() {
    auto made = kafka::NewProducer({.kafka = Options(), .partitions = kPartitions}, metrics);
    EXPECT_TRUE(made.ok());
    return std::move(made).value();
  }
  std::unique_ptr<BusConsumer> Consumer(std::string_view topic, std::string_view group,
                                        std::optional<BusBegin> begin = {}) {
    static int made_factories = 0;
    if (suffix.empty()) suffix = "-" + std::to_string(++made_factories);
    // Tries again, because the partitions of a new topic have no leader at first.
    std::unique_ptr<BusConsumer> consumer;
    Settle([&] {
      auto made = kafka::NewConsumer({.kafka = Options(),
                                      .topic = std::string(topic),
                                      .group = std::string(group) + suffix,
                                      .partitions = {0, 1, 2, 3},
                                      .begin = begin});
      if (made.ok()) consumer = std::move(made).value();
      return consumer != nullptr;
    });
    EXPECT_NE(consumer, nullptr);
    return consumer;
  }
  // Kafka stores times in milliseconds.
  WallTime Mark() {
    const SystemClock clock;
    const WallTime sent = clock.Wall();
    Settle([&] { return clock.Wall() >= sent + 2ms; });
    return clock.Wall();
  }
  void Settle(const std::function<bool()>& seen) { WaitUntil(seen); }

  Metrics metrics;
  std::string suffix;
};
using BusFactories = ::testing::Types<KafkaBusFactory>;

}  // namespace carillon::test

#include "tests/contract/messaging/bus_contract.h"
