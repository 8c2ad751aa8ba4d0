// Topics of events at a real broker: topics of others, with as many partitions as these chose.
#include "common/cluster/kafka_event_topics.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"
#include "common/adapters/system/system_clock.h"
#include "tests/support/kafka_broker.h"

namespace carillon::test {
namespace {

using cluster::KafkaEventTopics;
using kafka::Owned;

constexpr int kPartitions = 3;
constexpr int kAnswerMs = 20'000;
constexpr BusBegin kFromTheFirst{.at = FromUnixMicros(0), .of = BusBegin::Of::kNewGroup};

// Waits for the answer to a request of an administrator.
bool Answered(rd_kafka_queue_t* queue) {
  const Owned<rd_kafka_event_t> answer(rd_kafka_queue_poll(queue, kAnswerMs));
  return answer && rd_kafka_event_error(answer.get()) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

class EventTopicsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    broker_ = new KafkaBroker;
    broker_->Start();
  }
  static void TearDownTestSuite() {
    delete broker_;
    broker_ = nullptr;
  }
  void SetUp() override {
    topic_ = "outside-" + std::to_string(++made_);
    ASSERT_TRUE(WaitUntil([this] {
      return kafka::EnsureTopics(Options(), {{.name = topic_, .partitions = kPartitions}}, 20s)
          .ok();
    }));
  }
  static kafka::KafkaOptions Options() { return {.bootstrap = broker_->bootstrap()}; }
  static Owned<rd_kafka_t> Administrator() {
    return std::move(kafka::NewClient(RD_KAFKA_PRODUCER, Options(), {})).value();
  }
  // Sends to each partition and waits until the broker has the records.
  void Send(int from, int to, int partitions = kPartitions) {
    Metrics metrics;
    auto producer = kafka::NewProducer(
        {.kafka = Options(), .partitions = partitions, .topics = {topic_}}, metrics);
    ASSERT_TRUE(producer.ok());
    for (int i = from; i < to; ++i) {
      ASSERT_TRUE(
          (*producer)->Send(topic_, static_cast<uint64_t>(i), {std::to_string(i), {}}).ok());
    }
    producer->reset();
    EXPECT_EQ(metrics.counter("carillon_bus_undelivered_total", topic_).value(), 0u);
  }
  // Tries again, because the partitions of a new topic get their leader a moment later.
  std::unique_ptr<BusConsumer> Open(const BusBegin& begin) {
    std::unique_ptr<BusConsumer> consumer;
    EXPECT_TRUE(WaitUntil([&] {
      auto opened = topics_.Open(topic_, begin);
      if (opened.ok()) consumer = std::move(opened).value();
      return consumer != nullptr;
    }));
    return consumer;
  }
  // Reads and commits until all of [from, to) were received.
  bool Reads(BusConsumer& consumer, int from, int to) {
    seen_.clear();
    return WaitUntil([&] {
      const auto polled = consumer.Poll(100);
      EXPECT_TRUE(polled.ok());
      for (const ReceivedRecord& one : *polled) seen_.insert(std::stoi(one.record.payload));
      EXPECT_TRUE(consumer.Commit(*polled).ok());
      for (int i = from; i < to; ++i) {
        if (!seen_.contains(i)) return false;
      }
      return true;
    });
  }
  void ForgetGroup() {
    const auto client = Administrator();
    const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
    std::array<rd_kafka_DeleteGroup_t*, 1> groups = {
        rd_kafka_DeleteGroup_new(KafkaEventTopics::kGroup)};
    rd_kafka_DeleteGroups(client.get(), groups.data(), groups.size(), nullptr, queue.get());
    EXPECT_TRUE(Answered(queue.get()));
    rd_kafka_DeleteGroup_destroy(groups[0]);
  }
  void Grow(size_t partitions) {
    const auto client = Administrator();
    const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.get()));
    std::array<char, 512> complaint{};
    std::array<rd_kafka_NewPartitions_t*, 1> more = {
        rd_kafka_NewPartitions_new(topic_.c_str(), partitions, complaint.data(), complaint.size())};
    ASSERT_NE(more[0], nullptr) << complaint.data();
    rd_kafka_CreatePartitions(client.get(), more.data(), more.size(), nullptr, queue.get());
    EXPECT_TRUE(Answered(queue.get()));
    rd_kafka_NewPartitions_destroy(more[0]);
  }

  static KafkaBroker* broker_;
  static int made_;
  SystemClock clock_;
  KafkaEventTopics topics_{Options()};
  std::string topic_;
  std::set<int> seen_;
};

KafkaBroker* EventTopicsTest::broker_ = nullptr;
int EventTopicsTest::made_ = 0;

TEST_F(EventTopicsTest, AllPartitionsAreReadFromTheFirstBeginAndThenFromThePositions) {
  Send(0, 9);
  const auto between = [this, last = clock_.Wall()] { return clock_.Wall() > last + 20ms; };
  ASSERT_TRUE(WaitUntil(between));
  const BusBegin begin{.at = clock_.Wall(), .of = BusBegin::Of::kNewGroup};
  ASSERT_TRUE(WaitUntil([&] { return clock_.Wall() > begin.at + 20ms; }));
  Send(10, 19);
  {
    const auto consumer = Open(begin);
    EXPECT_TRUE(Reads(*consumer, 10, 19));
    EXPECT_EQ(seen_.size(), 9u) << "nothing older";
  }
  Send(20, 29);
  const auto next = Open(begin);
  EXPECT_TRUE(Reads(*next, 20, 29));
  EXPECT_EQ(seen_.size(), 9u) << "nothing again";
}

// Kafka forgets the positions of a group that has not been read for a week.
TEST_F(EventTopicsTest, AForgottenGroupBeginsWhereItIsTold) {
  Send(0, 9);
  {
    const auto consumer = Open(kFromTheFirst);
    ASSERT_TRUE(Reads(*consumer, 0, 9));
  }
  ForgetGroup();
  const auto consumer = Open(kFromTheFirst);
  EXPECT_TRUE(Reads(*consumer, 0, 9));
}

TEST_F(EventTopicsTest, ATopicThatGrowsIsReadAsAWholeWhenItIsOpenedAgain) {
  auto consumer = Open(kFromTheFirst);
  const auto same = topics_.HasGrown(topic_);
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_FALSE(*same);
  Grow(kPartitions + 2);
  EXPECT_TRUE(WaitUntil([&] { return topics_.HasGrown(topic_).value(); }));
  EXPECT_EQ(kafka::CountPartitions(Options(), topic_, 20s).value(), kPartitions + 2);
  Send(0, 10, kPartitions + 2);
  consumer.reset();
  consumer = Open(kFromTheFirst);
  EXPECT_TRUE(Reads(*consumer, 0, 10));
  EXPECT_FALSE(topics_.HasGrown(topic_).value());
}

TEST_F(EventTopicsTest, ATopicThatIsNotThereIsNotFound) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(topics_.Open("nobody", kFromTheFirst).code(), ErrorCode::kNotFound);
    EXPECT_EQ(topics_.HasGrown("nobody").code(), ErrorCode::kNotFound);
  }
}

TEST_F(EventTopicsTest, SilentBrokersAreWaitedForWithinTheLimit) {
  KafkaEventTopics away({.bootstrap = "127.0.0.1:1"});
  const SteadyTime begun = clock_.Steady();
  EXPECT_EQ(away.Open(topic_, kFromTheFirst).code(), ErrorCode::kUnavailable);
  EXPECT_LT(clock_.Steady() - begun, EventTopics::kOpenWithin);
}

}  // namespace
}  // namespace carillon::test
