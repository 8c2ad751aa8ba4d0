// Start of a consumer whose group coordinator does not return the committed positions. This happens
// just after the group coordinator has moved or started.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>

#include "common/adapters/kafka/kafka_bus.h"
#include "tests/support/process_wait.h"

namespace carillon::test {
namespace {

constexpr int16_t kOffsetFetch = 9;  // number of this request in the protocol

class ConsumerStartTest : public ::testing::TestWithParam<rd_kafka_resp_err_t> {
 protected:
  void SetUp() override {
    std::array<char, 256> complaint{};
    client_ =
        rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), complaint.data(), complaint.size());
    ASSERT_NE(client_, nullptr) << complaint.data();
    brokers_ = rd_kafka_mock_cluster_new(client_, 1);
    ASSERT_NE(brokers_, nullptr);
    rd_kafka_mock_topic_create(brokers_, "t", 2, 1);
  }
  void TearDown() override {
    rd_kafka_mock_cluster_destroy(brokers_);
    rd_kafka_destroy(client_);
  }
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* brokers_ = nullptr;
};

TEST_P(ConsumerStartTest, RefusedPositionsAreAskedForAgain) {
  const kafka::KafkaOptions options{.bootstrap = rd_kafka_mock_cluster_bootstraps(brokers_)};
  Metrics metrics;
  auto producer = kafka::NewProducer({.kafka = options, .partitions = 2}, metrics);
  ASSERT_TRUE(producer.ok());
  rd_kafka_mock_push_request_errors(brokers_, kOffsetFetch, 1, GetParam());
  auto consumer =
      kafka::NewConsumer({.kafka = options, .topic = "t", .group = "g", .partitions = {0, 1}});
  ASSERT_TRUE(consumer.ok());
  for (uint64_t key : {0, 1}) ASSERT_TRUE((*producer)->Send("t", key, {"x", {}}).ok());
  size_t received = 0;
  EXPECT_TRUE(WaitUntil([&] {
    const auto records = (*consumer)->Poll(10);
    if (records.ok()) received += records->size();
    return received == 2;
  }));
  EXPECT_EQ(received, 2u);
}

INSTANTIATE_TEST_SUITE_P(Refusals, ConsumerStartTest,
                         ::testing::Values(RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                                           RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                                           RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS));

}  // namespace
}  // namespace carillon::test
