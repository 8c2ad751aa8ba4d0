// Answers of a broker after which librdkafka refuses to continue with an idempotent producer.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <string>

#include "common/adapters/kafka/kafka_bus.h"
#include "tests/support/process_wait.h"

namespace carillon::test {
namespace {

// Numbers of requests in the protocol.
constexpr int16_t kProduce = 0;
constexpr int16_t kInitProducerId = 22;

struct Refusal {
  int16_t request;
  rd_kafka_resp_err_t error;
};

class ProducerFatalTest : public ::testing::TestWithParam<Refusal> {
 protected:
  void SetUp() override {
    std::array<char, 256> complaint{};
    client_ =
        rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), complaint.data(), complaint.size());
    ASSERT_NE(client_, nullptr) << complaint.data();
    brokers_ = rd_kafka_mock_cluster_new(client_, 1);
    ASSERT_NE(brokers_, nullptr);
    rd_kafka_mock_topic_create(brokers_, "t", 1, 1);
  }
  void TearDown() override {
    rd_kafka_mock_cluster_destroy(brokers_);
    rd_kafka_destroy(client_);
  }
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* brokers_ = nullptr;
};

TEST_P(ProducerFatalTest, ANewProducerIsMadeAndWhatWasHeldIsCounted) {
  const kafka::KafkaOptions options{.bootstrap = rd_kafka_mock_cluster_bootstraps(brokers_)};
  Metrics metrics;
  auto consumer =
      kafka::NewConsumer({.kafka = options, .topic = "t", .group = "g", .partitions = {0}});
  ASSERT_TRUE(consumer.ok());
  rd_kafka_mock_push_request_errors(brokers_, GetParam().request, 1, GetParam().error);
  auto producer = kafka::NewProducer({.kafka = options, .partitions = 1}, metrics);
  ASSERT_TRUE(producer.ok());
  ASSERT_TRUE((*producer)->Send("t", 0, {"first", {}}).ok());
  EXPECT_TRUE(WaitUntil(
      [&] { return metrics.counter("carillon_bus_undelivered_total", "t").value() == 1; }));
  EXPECT_TRUE(WaitUntil([&] { return (*producer)->Send("t", 0, {"second", {}}).ok(); }));
  std::string seen;
  EXPECT_TRUE(WaitUntil([&] {
    const auto records = (*consumer)->Poll(10);
    if (records.ok() && !records->empty()) seen = records->back().record.payload;
    return seen == "second";
  }));
}

INSTANTIATE_TEST_SUITE_P(
    Answers, ProducerFatalTest,
    ::testing::Values(Refusal{kProduce, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER},
                      Refusal{kInitProducerId, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED}));

}  // namespace
}  // namespace carillon::test
