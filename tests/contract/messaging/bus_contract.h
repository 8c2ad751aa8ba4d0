// The contract of the message bus.
//
// To run it against an adapter, define before including:
//   struct MyBusFactory {
//     std::unique_ptr<BusProducer> Producer();
//     std::unique_ptr<BusConsumer> Consumer(std::string_view topic, std::string_view group,
//                                           std::optional<BusBegin> begin = {});
//     WallTime Mark();   // a time after all records sent so far, and before all later ones
//     void Settle(const std::function<bool()>& seen);   // waits until `seen`, with a time limit
//     static constexpr int kPartitions = …;   // of every topic; partition = key mod kPartitions
//     static constexpr bool kConfirms = …;    // tells who asks, and carries the keys of records
//   };                                        // a new factory has no records and no positions
//   using BusFactories = ::testing::Types<MyBusFactory>;      // in carillon::test
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/ports/message_bus.h"

namespace carillon::test {

template <typename Factory>
class BusContract : public ::testing::Test {
 protected:
  // Polls until `count` records have arrived, and then once more to detect unexpected records.
  std::vector<ReceivedRecord> Take(BusConsumer& consumer, size_t count, size_t max = 7) {
    std::vector<ReceivedRecord> all;
    const auto poll = [&] {
      const auto polled = consumer.Poll(max);
      EXPECT_TRUE(polled.ok());
      if (!polled.ok()) return;
      EXPECT_LE(polled->size(), max);
      all.insert(all.end(), polled->begin(), polled->end());
    };
    factory_.Settle([&] {
      poll();
      return all.size() >= count;
    });
    poll();
    return all;
  }
  void Send(BusProducer& producer, uint64_t key, const std::string& payload) {
    EXPECT_TRUE(producer.Send(kTasksTopic, key, {payload, {{"n", payload}}}).ok());
  }
  // Sends the numbers to all partitions and waits until the bus has stored them.
  void SendSeen(BusProducer& producer, int from, int to) {
    const auto witness =
        factory_.Consumer(kTasksTopic, "witness-" + std::to_string(from), BusBegin{.at = kFarAway});
    for (int i = from; i < to; ++i) Send(producer, static_cast<uint64_t>(i), std::to_string(i));
    EXPECT_EQ(Take(*witness, static_cast<size_t>(to - from)).size(),
              static_cast<size_t>(to - from));
  }
  static std::multiset<int> Numbers(const std::vector<ReceivedRecord>& records) {
    std::multiset<int> numbers;
    for (const ReceivedRecord& one : records) numbers.insert(std::stoi(one.record.payload));
    return numbers;
  }
  static std::multiset<int> Range(int from, int to) {
    std::multiset<int> numbers;
    for (int i = from; i < to; ++i) numbers.insert(i);
    return numbers;
  }
  static constexpr WallTime kFarAway = FromUnixMicros(4'000'000'000'000'000);
  Factory factory_;
};
TYPED_TEST_SUITE(BusContract, BusFactories);

TYPED_TEST(BusContract, RecordsArriveWithTheirBytesAndHeaders) {
  const auto producer = this->factory_.Producer();
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  const std::string bytes("a\0\xff", 3);
  ASSERT_TRUE(producer->Send(kTasksTopic, 3, {bytes, {{"signature", bytes}, {"k", ""}}}).ok());
  const std::vector<ReceivedRecord> got = this->Take(*consumer, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].record.payload, bytes);
  EXPECT_EQ(got[0].record.headers.at("signature"), bytes);
  EXPECT_EQ(got[0].partition, 3 % TypeParam::kPartitions);
}

TYPED_TEST(BusContract, WhoAsksIsToldOnceThatARecordIsStored) {
  const auto producer = this->factory_.Producer();
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  std::atomic<int> stored = 0;
  std::atomic<int> refused = 0;
  const Delivered tell = [&](const Status& outcome) { ++(outcome.ok() ? stored : refused); };
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(producer->Send(kTasksTopic, i, {"x", {}, "job-7"}, tell).ok());
  }
  this->Send(*producer, 3, "nobody asks");
  const std::vector<ReceivedRecord> got = this->Take(*consumer, 4);
  EXPECT_EQ(got.size(), 4u);
  if (!TypeParam::kConfirms) return;
  this->factory_.Settle([&] { return stored == 3; });
  EXPECT_EQ(stored, 3);
  EXPECT_EQ(refused, 0);
  for (const ReceivedRecord& one : got) {
    EXPECT_EQ(one.record.key, one.record.payload == "x" ? "job-7" : "");
  }
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
  for (const ReceivedRecord& received : this->Take(*consumer, 100)) {
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
    std::vector<ReceivedRecord> got = this->Take(*consumer, 5);
    ASSERT_EQ(got.size(), 5u);
    got.resize(2);
    ASSERT_TRUE(consumer->Commit(got).ok());
  }
  const auto again = this->factory_.Consumer(kTasksTopic, "g");
  const std::vector<ReceivedRecord> rest = this->Take(*again, 3);
  ASSERT_EQ(rest.size(), 3u);  // records are delivered again rather than lost
  EXPECT_EQ(rest[0].record.payload, "2");
}

TYPED_TEST(BusContract, NewGroupBeginsAtTheTimeThatIsGiven) {
  const auto producer = this->factory_.Producer();
  this->SendSeen(*producer, 0, 10);
  const BusBegin begin{.at = this->factory_.Mark()};
  this->SendSeen(*producer, 10, 20);
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g", begin);
  EXPECT_EQ(this->Numbers(this->Take(*consumer, 10)), this->Range(10, 20));
  const auto next = this->factory_.Consumer(kTasksTopic, "next", BusBegin{.at = this->kFarAway});
  EXPECT_TRUE(this->Take(*next, 0).empty());
  this->SendSeen(*producer, 20, 24);
  EXPECT_EQ(this->Numbers(this->Take(*next, 4)), this->Range(20, 24)) << "what comes is not lost";
}

// A member that was down for hours skips the results of that time.
TYPED_TEST(BusContract, GroupWithAnOlderPositionSkipsWhatIsTooOld) {
  const auto producer = this->factory_.Producer();
  this->SendSeen(*producer, 0, 8);
  {
    const auto before = this->factory_.Consumer(kTasksTopic, "g");
    ASSERT_TRUE(before->Commit(this->Take(*before, 8)).ok());
  }
  this->SendSeen(*producer, 8, 20);
  BusBegin begin{.at = this->factory_.Mark(), .of = BusBegin::Of::kNewGroup};
  this->SendSeen(*producer, 20, 32);
  {
    const auto all = this->factory_.Consumer(kTasksTopic, "g", begin);
    EXPECT_EQ(this->Numbers(this->Take(*all, 24)), this->Range(8, 32)) << "of new groups only";
  }
  begin.of = BusBegin::Of::kAnyGroup;
  const auto after = this->factory_.Consumer(kTasksTopic, "g", begin);
  const std::vector<ReceivedRecord> got = this->Take(*after, 12);
  EXPECT_EQ(this->Numbers(got), this->Range(20, 32));
  std::optional<int64_t> behind;
  this->factory_.Settle([&] { return (behind = after->Look().behind) == 12; });
  EXPECT_EQ(behind, 12) << "what it skips is not ahead of it";
  ASSERT_TRUE(after->Commit(got).ok());
}

TYPED_TEST(BusContract, GroupWithAYoungerPositionContinuesThere) {
  const auto producer = this->factory_.Producer();
  const BusBegin begin{.at = this->factory_.Mark(), .of = BusBegin::Of::kAnyGroup};
  this->SendSeen(*producer, 0, 8);
  {
    const auto before = this->factory_.Consumer(kTasksTopic, "g");
    ASSERT_TRUE(before->Commit(this->Take(*before, 8)).ok());
  }
  this->SendSeen(*producer, 8, 16);
  const auto after = this->factory_.Consumer(kTasksTopic, "g", begin);
  EXPECT_EQ(this->Numbers(this->Take(*after, 8)), this->Range(8, 16));
}

TYPED_TEST(BusContract, ConsumerKnowsHowFarItIsBehind) {
  const auto producer = this->factory_.Producer();
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  const auto idle = this->factory_.Consumer(kTasksTopic, "idle");
  const auto comes_to = [&](BusConsumer& of, int64_t behind) {
    std::optional<int64_t> seen;
    this->factory_.Settle([&] {
      const BusHealth health = of.Look();
      if (health.contact == BusHealth::Contact::kAnswers) seen = health.behind;
      return seen == behind;
    });
    return seen.value_or(-1);
  };
  EXPECT_EQ(comes_to(*consumer, 0), 0);
  for (uint64_t i = 0; i < 10; ++i) this->Send(*producer, i, "x");
  EXPECT_EQ(comes_to(*consumer, 10), 10);
  const std::vector<ReceivedRecord> got = this->Take(*consumer, 10);
  ASSERT_EQ(got.size(), 10u);
  EXPECT_EQ(consumer->Look().behind, 10) << "taken is not dealt with";
  ASSERT_TRUE(consumer->Commit({got[0]}).ok());
  EXPECT_EQ(consumer->Look().behind, 9);
  ASSERT_TRUE(consumer->Commit(got).ok());
  EXPECT_EQ(consumer->Look().behind, 0) << "a commit shows at once";
  EXPECT_EQ(comes_to(*idle, 10), 10) << "of a group without a position";
}

TYPED_TEST(BusContract, AConsumerThatComesBackKnowsHowFarItIsBehind) {
  const auto producer = this->factory_.Producer();
  auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  for (uint64_t i = 0; i < 4; ++i) this->Send(*producer, i, "x");
  ASSERT_TRUE(consumer->Commit(this->Take(*consumer, 4)).ok());
  consumer.reset();
  for (uint64_t i = 0; i < 3; ++i) this->Send(*producer, i, "y");
  consumer = this->factory_.Consumer(kTasksTopic, "g");
  std::optional<int64_t> behind;
  this->factory_.Settle([&] { return (behind = consumer->Look().behind) == 3; });
  EXPECT_EQ(behind, 3);
}

TYPED_TEST(BusContract, EachGroupGetsEveryRecord) {
  const auto producer = this->factory_.Producer();
  const auto one = this->factory_.Consumer(kTasksTopic, "one");
  const auto two = this->factory_.Consumer(kTasksTopic, "two");
  for (uint64_t i = 0; i < 10; ++i) this->Send(*producer, i, "x");
  const std::vector<ReceivedRecord> first = this->Take(*one, 10);
  EXPECT_EQ(first.size(), 10u);
  ASSERT_TRUE(one->Commit(first).ok());
  EXPECT_EQ(this->Take(*two, 10).size(), 10u);
}

TYPED_TEST(BusContract, TopicsAreApart) {
  const auto producer = this->factory_.Producer();
  const auto results = this->factory_.Consumer(kResultsTopic, "g");
  this->Send(*producer, 0, "task");
  ASSERT_TRUE(producer->Send(kResultsTopic, 0, {"result", {}}).ok());
  const std::vector<ReceivedRecord> got = this->Take(*results, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].record.payload, "result");
}

TYPED_TEST(BusContract, ConsumerIsWokenWhenThereIsSomething) {
  const auto producer = this->factory_.Producer();
  const auto consumer = this->factory_.Consumer(kTasksTopic, "g");
  std::atomic<int> woken = 0;
  consumer->OnReadable([&woken] { ++woken; });
  EXPECT_TRUE(this->Take(*consumer, 0).empty());
  const int before = woken;
  this->Send(*producer, 0, "x");
  this->factory_.Settle([&] { return woken > before; });
  EXPECT_GT(woken.load(), before);
  EXPECT_EQ(this->Take(*consumer, 1).size(), 1u);
}

}  // namespace carillon::test
