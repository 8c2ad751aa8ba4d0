// Topics that a producer looks up before its first record. A broker of librdkafka's mock cluster
// creates a topic when it is first asked for it, so its list of topics shows what was asked.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <set>
#include <string>

#include "common/adapters/kafka/kafka_bus.h"
#include "tests/support/process_wait.h"

namespace carillon::test {
namespace {

constexpr int kAnswerMs = 5000;

kafka::Owned<rd_kafka_t> NewClient(const std::string& bootstrap) {
  std::array<char, 256> complaint{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), complaint.data(),
                    complaint.size());
  return kafka::Owned<rd_kafka_t>(
      rd_kafka_new(RD_KAFKA_PRODUCER, conf, complaint.data(), complaint.size()));
}

std::set<std::string> TopicsAt(rd_kafka_t* client) {
  const rd_kafka_metadata_t* answer = nullptr;
  if (rd_kafka_metadata(client, 1, nullptr, &answer, kAnswerMs) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  const kafka::Owned<const rd_kafka_metadata_t> owned(answer);
  std::set<std::string> names;
  for (int i = 0; i < answer->topic_cnt; ++i) names.insert(answer->topics[i].topic);
  return names;
}

TEST(ProducerTopicsTest, NamedTopicsAreLookedUpWithoutARecord) {
  const auto host = NewClient("127.0.0.1:1");
  ASSERT_TRUE(host);
  rd_kafka_mock_cluster_t* const brokers = rd_kafka_mock_cluster_new(host.get(), 1);
  ASSERT_NE(brokers, nullptr);
  const std::string bootstrap = rd_kafka_mock_cluster_bootstraps(brokers);
  {
    Metrics metrics;
    const auto producer = kafka::NewProducer(
        {.kafka = {.bootstrap = bootstrap}, .partitions = 1, .topics = {"tasks", "results"}},
        metrics);
    ASSERT_TRUE(producer.ok());
    const auto observer = NewClient(bootstrap);
    std::set<std::string> seen;
    EXPECT_TRUE(WaitUntil([&] {
      seen = TopicsAt(observer.get());
      return seen.size() >= 2;
    }));
    EXPECT_EQ(seen, (std::set<std::string>{"tasks", "results"}));
  }
  rd_kafka_mock_cluster_destroy(brokers);
}

}  // namespace
}  // namespace carillon::test
