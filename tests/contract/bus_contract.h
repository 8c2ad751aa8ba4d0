// The contract of the message bus.
//
// To run it against an adapter, define before including:
//   struct MyBusFactory {
//     std::unique_ptr<BusProducer> Producer();
//     std::unique_ptr<BusConsumer> Consumer(std::string_view topic, std::string_view group);
//     static constexpr int kPartitions = …;   // of every topic; partition = key mod kPartitions
//   };
//   using BusFactories = ::testing::Types<MyBusFactory>;      // in carillon::test
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/ports/message_bus.h"

namespace carillon::test {

template <typename Factory>
class BusContract : public ::testing::Test {
 protected:
  // Polls until nothing more comes.
  std::vector<ReceivedRecord> Drain(BusConsumer& consumer, size_t max = 7) {
    std::vector<ReceivedRecord> all;
    for (int empty = 0; empty < 2;) {
      const auto polled = consumer.Poll(max);
      EXPECT_TRUE(polled.ok());
      if (!polled.ok()) return all;
      EXPECT_LE(polled->size(), max);
      empty = polled->empty() ? empty + 1 : 0;
      all.insert(all.end(), polled->begin(), polled->end());
    }
    return all;
  }
  void Send(BusProducer& producer, uint64_t key, const std::string& payload) {
    EXPECT_TRUE(producer.Send(kTasksTopic, key, {payload, {{"n", payload}}}).ok());
  }
  Factory factory_;
};
TYPED_TEST_SUITE(BusContract, BusFactories);

TYPED_TEST(BusContract, RecordsArriveWithTheirBytesAndHeaders) {
  const auto producer = this->factory_.Producer();
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  const std::string bytes("a\0\xff", 3);
  ASSERT_TRUE(producer->Send(kTasksTopic, 3, {bytes, {{"signature", bytes}, {"k", ""}}}).ok());
  const std::vector<ReceivedRecord> got = this->Drain(*consumer);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].record.payload, bytes);
  EXPECT_EQ(got[0].record.headers.at("signature"), bytes);
  EXPECT_EQ(got[0].partition, 3 % TypeParam::kPartitions);
}

TYPED_TEST(BusContract, OrderHoldsWithinAPartition) {
  const auto producer = this->factory_.Producer();
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  for (int i = 0; i < 100; ++i) {
    this->Send(*producer, static_cast<uint64_t>(i % 3), std::to_string(i));
  }
  std::map<int, int64_t> offsets;
  std::map<int, int> last;
  size_t count = 0;
  for (const ReceivedRecord& received : this->Drain(*consumer)) {
    ++count;
    if (offsets.contains(received.partition)) {
      EXPECT_GT(received.offset, offsets[received.partition]);
      EXPECT_GT(std::stoi(received.record.payload), last[received.partition]);
    }
    offsets[received.partition] = received.offset;
    last[received.partition] = std::stoi(received.record.payload);
  }
  EXPECT_EQ(count, 100u);
}

TYPED_TEST(BusContract, ConsumerGoesOnFromWhatItsGroupCommitted) {
  const auto producer = this->factory_.Producer();
  {
    const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
    for (int i = 0; i < 5; ++i) this->Send(*producer, 0, std::to_string(i));
    std::vector<ReceivedRecord> got = this->Drain(*consumer);
    ASSERT_EQ(got.size(), 5u);
    got.resize(2);
    ASSERT_TRUE(consumer->Commit(got).ok());
  }
  const auto again = this->factory_.Consumer(kTasksTopic, "g");
  const std::vector<ReceivedRecord> rest = this->Drain(*again);
  ASSERT_EQ(rest.size(), 3u);  // handled twice rather than never
  EXPECT_EQ(rest[0].record.payload, "2");
}

TYPED_TEST(BusContract, EachGroupGetsEveryRecord) {
  const auto producer = this->factory_.Producer();
  const auto one = this->factory_.Consumer(kTasksTopic, "one");
  const auto two = this->factory_.Consumer(kTasksTopic, "two");
  for (uint64_t i = 0; i < 10; ++i) this->Send(*producer, i, "x");
  const std::vector<ReceivedRecord> first = this->Drain(*one);
  EXPECT_EQ(first.size(), 10u);
  ASSERT_TRUE(one->Commit(first).ok());
  EXPECT_EQ(this->Drain(*two).size(), 10u);
}

TYPED_TEST(BusContract, TopicsAreApart) {
  const auto producer = this->factory_.Producer();
  const auto results = this->factory_.Consumer(kResultsTopic, "g");
  this->Send(*producer, 0, "task");
  EXPECT_TRUE(this->Drain(*results).empty());
}

}  // namespace carillon::test
