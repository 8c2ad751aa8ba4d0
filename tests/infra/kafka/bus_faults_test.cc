// The message bus while its broker is unavailable or restarts, or its topics are
// recreated or emptied.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <set>

#include "common/adapters/kafka/kafka_bus.h"
#include "common/adapters/kafka/kafka_topics.h"
#include "tests/support/failpoint_on.h"
#include "tests/support/kafka_broker.h"

namespace carillon::test {
namespace {

constexpr int kPartitions = 2;

class BusFaultsTest : public ::testing::Test {
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
    topic_ = "faults-" + std::to_string(++made_);
    ASSERT_TRUE(MakeTopic());
  }
  void TearDown() override { failpoint::Reset(); }
  static kafka::KafkaOptions Options() { return {.bootstrap = broker_->bootstrap()}; }
  bool MakeTopic() {
    return WaitUntil([this] {
      return kafka::EnsureTopics(Options(), {{.name = topic_, .partitions = kPartitions}}, 20s)
          .ok();
    });
  }
  std::unique_ptr<BusProducer> Producer(size_t queue_records_max = 1000,
                                        Duration message_timeout = 3s) {
    auto made = kafka::NewProducer({.kafka = Options(),
                                    .partitions = kPartitions,
                                    .message_timeout = message_timeout,
                                    .queue_records_max = queue_records_max},
                                   metrics_);
    EXPECT_TRUE(made.ok());
    return std::move(made).value();
  }
  std::unique_ptr<BusConsumer> Consumer() { return ConsumerOf("g-" + topic_, {}); }
  std::unique_ptr<BusConsumer> ConsumerOf(const std::string& group, std::optional<BusBegin> begin) {
    // Tries again, because the partitions of a new topic get their leader a moment later.
    std::unique_ptr<BusConsumer> consumer;
    EXPECT_TRUE(WaitUntil([&] {
      auto made = kafka::NewConsumer({.kafka = Options(),
                                      .topic = topic_,
                                      .group = group,
                                      .partitions = {0, 1},
                                      .begin = begin});
      if (made.ok()) {
        consumer = std::move(made).value();
      } else {
        EXPECT_EQ(made.code(), ErrorCode::kUnavailable) << made.error().message;
      }
      return consumer != nullptr;
    }));
    return consumer;
  }
  void Send(BusProducer& producer, int from, int to) {
    for (int i = from; i < to; ++i) {
      EXPECT_TRUE(producer.Send(topic_, static_cast<uint64_t>(i), {std::to_string(i), {}}).ok());
    }
  }
  // Polls until all of [from, to) were received, in any order.
  bool Sees(BusConsumer& consumer, int from, int to, std::vector<ReceivedRecord>* all = nullptr) {
    return WaitUntil([&] {
      const auto polled = consumer.Poll(100);
      EXPECT_TRUE(polled.ok());
      for (const ReceivedRecord& record : *polled) {
        seen_.insert(std::stoi(record.record.payload));
        if (all != nullptr) all->push_back(record);
      }
      for (int i = from; i < to; ++i) {
        if (!seen_.contains(i)) return false;
      }
      return true;
    });
  }
  uint64_t Undelivered() {
    return metrics_.counter("carillon_bus_undelivered_total", topic_).value();
  }

  static KafkaBroker* broker_;
  static int made_;
  Metrics metrics_;
  std::string topic_;
  std::set<int> seen_;
};

KafkaBroker* BusFaultsTest::broker_ = nullptr;
int BusFaultsTest::made_ = 0;

TEST_F(BusFaultsTest, WhatWasNotCommittedComesAgain) {
  const auto producer = Producer();
  Send(*producer, 0, 20);
  {
    const auto consumer = Consumer();
    ASSERT_TRUE(Sees(*consumer, 0, 20));
  }
  seen_.clear();
  const auto again = Consumer();
  EXPECT_TRUE(Sees(*again, 0, 20));
}

TEST_F(BusFaultsTest, NewGroupBeginsAtTheTimeItIsGivenAndAnOldOneAtItsPosition) {
  const auto producer = Producer();
  Send(*producer, 0, 10);
  std::vector<ReceivedRecord> all;
  {
    const auto old = ConsumerOf("old", BusBegin{.at = FromUnixMicros(0)});
    ASSERT_TRUE(Sees(*old, 0, 10, &all));
    std::map<int, ReceivedRecord> first;  // the first record of each partition
    for (const ReceivedRecord& record : all) first.try_emplace(record.partition, record);
    ASSERT_EQ(first.size(), 2u);
    for (const auto& [partition, record] : first) ASSERT_TRUE(old->Commit({record}).ok());
  }
  seen_.clear();
  const WallTime later = FromUnixMicros(4'000'000'000'000'000);
  const auto fresh = ConsumerOf("fresh", BusBegin{.at = later});
  Send(*producer, 20, 30);
  EXPECT_TRUE(Sees(*fresh, 20, 30));
  EXPECT_EQ(seen_.size(), 10u) << "and nothing older";
  seen_.clear();
  const auto old = ConsumerOf("old", BusBegin{.at = later});
  EXPECT_TRUE(Sees(*old, 20, 30));
  EXPECT_EQ(seen_.size(), 18u);
}

// Records that arrive while a new group looks up its start position are after that position.
TEST_F(BusFaultsTest, NothingIsLostWhileANewGroupAsksWhereToBegin) {
  const auto producer = Producer();
  const auto witness = ConsumerOf("witness", {});
  failpoint::Arm("kafka.begin.between", [&] {
    Send(*producer, 0, 10);
    EXPECT_TRUE(Sees(*witness, 0, 10)) << "the records are there";
    return false;
  });
  const auto fresh = ConsumerOf("fresh", BusBegin{.at = FromUnixMicros(0)});
  EXPECT_EQ(failpoint::Reached("kafka.begin.between"), 1u);
  seen_.clear();
  EXPECT_TRUE(Sees(*fresh, 0, 10));
}

// The broker is killed and restarts with all records that it acknowledged. Records that the
// producer gives up meanwhile are counted, and the stream continues without help.
TEST_F(BusFaultsTest, BrokerThatIsAwayAndComesBack) {
  const auto producer = Producer();
  const auto consumer = Consumer();
  Send(*producer, 0, 10);
  ASSERT_TRUE(Sees(*consumer, 0, 10));
  broker_->process().Signal(SIGKILL);
  Send(*producer, 10, 14);
  // Some of the first ten records may still wait for their acknowledgement although the consumer
  // received them. The producer gives up these too.
  EXPECT_TRUE(WaitUntil([&] { return Undelivered() >= 4; })) << Undelivered();
  const auto nothing = consumer->Poll(10);
  EXPECT_TRUE(nothing.ok() && nothing->empty()) << "being away is not an error of the reader";
  broker_->Start();
  // While the broker starts, a record may still be given up. Then another record is sent.
  int sent = 20;
  uint64_t given_up = Undelivered();
  Send(*producer, sent, sent + 1);
  EXPECT_TRUE(WaitUntil(
      [&] {
        if (Undelivered() > given_up) {
          given_up = Undelivered();
          ++sent;
          Send(*producer, sent, sent + 1);
        }
        const auto polled = consumer->Poll(100);
        for (const ReceivedRecord& record : *polled) seen_.insert(std::stoi(record.record.payload));
        return seen_.contains(sent);
      },
      90s));
  for (const int lost : {10, 11, 12, 13}) EXPECT_FALSE(seen_.contains(lost));
}

TEST_F(BusFaultsTest, WhoAsksIsToldOfARecordThatIsGivenUp) {
  std::atomic<int> stored = 0;
  std::atomic<int> given_up = 0;
  std::atomic<bool> final = false;
  const Delivered tell = [&](const Status& outcome) {
    ++(outcome.ok() ? stored : given_up);
    if (!outcome.ok()) final = final || outcome.code() == ErrorCode::kInvalid;
  };
  auto producer = Producer();
  ASSERT_TRUE(producer->Send(topic_, 0, {"x", {}}, tell).ok());
  EXPECT_TRUE(WaitUntil([&] { return stored == 1; }));
  broker_->process().Signal(SIGSTOP);
  ASSERT_TRUE(producer->Send(topic_, 0, {"y", {}}, tell).ok());
  EXPECT_TRUE(WaitUntil([&] { return given_up == 1; })) << "after the limit of a record";
  ASSERT_TRUE(producer->Send(topic_, 0, {"z", {}}, tell).ok());
  producer.reset();
  EXPECT_EQ(given_up, 2) << "also of what is left when the producer ends";
  EXPECT_EQ(stored, 1);
  EXPECT_FALSE(final) << "the record itself was in order";
  broker_->process().Signal(SIGCONT);
}

// If the broker hangs, Send does not wait for it. When the queue is full, Send returns an error.
TEST_F(BusFaultsTest, FullLocalQueueRefusesAtOnce) {
  const auto producer = Producer(/*queue_records_max=*/10);
  const auto consumer = Consumer();
  Send(*producer, 0, 2);
  ASSERT_TRUE(Sees(*consumer, 0, 2));
  broker_->process().Signal(SIGSTOP);
  Status sent;
  int taken = 0;
  while (taken <= 20 && (sent = producer->Send(topic_, 0, {"x", {}})).ok()) ++taken;
  EXPECT_EQ(sent.code(), ErrorCode::kExhausted);
  EXPECT_LE(taken, 10);
  EXPECT_TRUE(WaitUntil([&] { return Undelivered() > 0; })) << "of " << taken;
  EXPECT_TRUE(WaitUntil([&] {
    return producer->Send(topic_, 0, {"3", {}}).ok();
  })) << "there is room again";
  broker_->process().Signal(SIGCONT);
}

TEST_F(BusFaultsTest, LocalQueueIsBoundedInBytes) {
  constexpr size_t kRecordBytes = 512 << 10;
  constexpr int kFit = 8;
  auto made = kafka::NewProducer({.kafka = Options(),
                                  .partitions = kPartitions,
                                  .message_timeout = 3s,
                                  .queue_bytes_max = kFit * kRecordBytes},
                                 metrics_);
  ASSERT_TRUE(made.ok());
  const auto consumer = Consumer();
  Send(**made, 0, 2);
  ASSERT_TRUE(Sees(*consumer, 0, 2));
  broker_->process().Signal(SIGSTOP);
  const std::string large(kRecordBytes, 'x');
  Status sent;
  int taken = 0;
  while (taken <= 2 * kFit && (sent = (*made)->Send(topic_, 0, {large, {}})).ok()) ++taken;
  EXPECT_EQ(sent.code(), ErrorCode::kExhausted);
  EXPECT_LE(taken, kFit + 1) << "one record may go beyond the limit";
  EXPECT_EQ(metrics_.counter("carillon_queue_rejections_total", "bus").value(), 1u);
  broker_->process().Signal(SIGCONT);
}

TEST_F(BusFaultsTest, ABrokerThatHangsIsSilentAndNothingIsKnownMeanwhile) {
  using enum BusHealth::Contact;
  const auto producer = Producer();
  const auto consumer = Consumer();
  Send(*producer, 0, 5);
  EXPECT_TRUE(WaitUntil([&] { return consumer->Look().behind == 5; }));
  broker_->process().Signal(SIGSTOP);
  EXPECT_TRUE(WaitUntil([&] { return consumer->Look().contact == kSilent; }));
  EXPECT_EQ(consumer->Look().behind, std::nullopt);
  const auto late = Consumer();
  EXPECT_EQ(late->Look().contact, kUnknown) << "nothing was asked yet";
  EXPECT_TRUE(WaitUntil([&] { return late->Look().contact == kSilent; }));
  broker_->process().Signal(SIGCONT);
  EXPECT_TRUE(WaitUntil([&] { return consumer->Look().contact == kAnswers; }));
  EXPECT_EQ(consumer->Look().behind, 5);
}

TEST_F(BusFaultsTest, RecreatedTopicIsReadFromItsBeginning) {
  const auto producer = Producer();
  {
    const auto consumer = Consumer();
    Send(*producer, 0, 50);
    std::vector<ReceivedRecord> all;
    ASSERT_TRUE(Sees(*consumer, 0, 50, &all));
    ASSERT_TRUE(consumer->Commit(all).ok());
  }
  ASSERT_TRUE(kafka::DeleteTopics(Options(), {topic_}, 20s).ok());
  ASSERT_TRUE(MakeTopic());
  const auto fresh = Producer();
  Send(*fresh, 100, 110);
  const auto consumer = Consumer();  // the position of its group is after the end of the new topic
  EXPECT_TRUE(Sees(*consumer, 100, 110));
}

// A position from the deleted topic must not make the reader skip records of the new topic.
TEST_F(BusFaultsTest, RecreatedTopicIsReadFromTheTimeThatIsGiven) {
  const auto producer = Producer();
  {
    const auto consumer = Consumer();
    Send(*producer, 0, 50);
    std::vector<ReceivedRecord> all;
    ASSERT_TRUE(Sees(*consumer, 0, 50, &all));
    ASSERT_TRUE(consumer->Commit(all).ok());
  }
  ASSERT_TRUE(kafka::DeleteTopics(Options(), {topic_}, 20s).ok());
  ASSERT_TRUE(MakeTopic());
  const auto fresh = Producer();
  Send(*fresh, 100, 110);
  ASSERT_TRUE(Sees(*ConsumerOf("witness-" + topic_, {}), 100, 110));
  seen_.clear();
  const auto consumer =
      ConsumerOf("g-" + topic_, BusBegin{.at = FromUnixMicros(0), .of = BusBegin::Of::kAnyGroup});
  EXPECT_TRUE(Sees(*consumer, 100, 110));
}

// A reader that was stopped for longer than records are kept continues with the oldest record.
TEST_F(BusFaultsTest, PositionThatIsNotKeptAnyMore) {
  const auto producer = Producer();
  {
    const auto consumer = Consumer();
    Send(*producer, 0, 4);
    std::vector<ReceivedRecord> all;
    ASSERT_TRUE(Sees(*consumer, 0, 4, &all));
    ASSERT_TRUE(consumer->Commit({all.front()}).ok());
  }
  Send(*producer, 4, 8);
  ASSERT_TRUE(kafka::DeleteRecords(Options(), topic_, {{0, 3}, {1, 3}}, 20s).ok());
  Send(*producer, 8, 10);
  const auto consumer = Consumer();
  EXPECT_TRUE(Sees(*consumer, 6, 10));
  seen_.clear();
  const auto more = consumer->Poll(10);
  EXPECT_TRUE(more.ok() && more->empty());
}

TEST_F(BusFaultsTest, TopicOfAnotherShapeIsRefused) {
  const auto other =
      kafka::EnsureTopics(Options(), {{.name = topic_, .partitions = kPartitions + 1}}, 20s);
  ASSERT_EQ(other.code(), ErrorCode::kConflict);
  EXPECT_NE(other.error().message.find("set kafka.partitions"), std::string::npos);
  const auto outside = kafka::EnsureTopics(
      Options(), {{.name = topic_, .partitions = kPartitions + 1, .cure = "ask its owner"}}, 20s);
  ASSERT_EQ(outside.code(), ErrorCode::kConflict);
  EXPECT_NE(outside.error().message.find("ask its owner"), std::string::npos);
  const auto replicas =
      kafka::EnsureTopics(Options(), {{.name = topic_ + "-r", .replicas = 3}}, 20s);
  EXPECT_EQ(replicas.code(), ErrorCode::kConflict) << "one broker cannot keep three replicas";
  EXPECT_TRUE(
      kafka::EnsureTopics(Options(), {{.name = topic_, .partitions = kPartitions}}, 20s).ok());
}

TEST_F(BusFaultsTest, RecordThatIsTooLargeIsRefusedAlone) {
  const auto producer = Producer();
  EXPECT_EQ(producer->Send(topic_, 0, {std::string(2 << 20, 'x'), {}}).code(), ErrorCode::kInvalid);
  Send(*producer, 0, 2);
  const auto consumer = Consumer();
  EXPECT_TRUE(Sees(*consumer, 0, 2));
}

TEST(BusWithoutBrokerTest, ConstructionNeedsNoBrokerAndAdminSaysThereIsNone) {
  Metrics metrics;
  const kafka::KafkaOptions nobody{.bootstrap = "127.0.0.1:" + std::to_string(FreePort())};
  EXPECT_TRUE(kafka::NewProducer({.kafka = nobody}, metrics).ok());
  EXPECT_EQ(kafka::EnsureTopics(nobody, {{.name = "t"}}, 1s).code(), ErrorCode::kUnavailable);
  kafka::KafkaOptions wrong = nobody;
  wrong.properties["no.such.property"] = "1";
  EXPECT_EQ(kafka::NewProducer({.kafka = wrong}, metrics).code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::test
