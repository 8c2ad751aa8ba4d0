#include "common/cluster/late_bus.h"

#include <gtest/gtest.h>

namespace carillon::cluster {
namespace {

class FakeProducer final : public BusProducer {
 public:
  explicit FakeProducer(int& sent) : sent_(sent) {}
  Status Send(std::string_view, uint64_t, BusRecord, Delivered delivered) override {
    ++sent_;
    if (delivered) delivered(Status());
    return {};
  }

 private:
  int& sent_;
};

class FakeConsumer final : public BusConsumer {
 public:
  Result<std::vector<ReceivedRecord>> Poll(size_t) override {
    return std::vector<ReceivedRecord>(1);
  }
  Status Commit(const std::vector<ReceivedRecord>&) override {
    return {ErrorCode::kExhausted, "the opened one answers"};
  }
  void OnReadable(std::function<void()> wake) override { wake_ = std::move(wake); }
  BusHealth Look() override { return {.contact = BusHealth::Contact::kAnswers, .behind = 7}; }
  std::function<void()> wake_;
};

class LateBusTest : public ::testing::Test {
 protected:
  Status topics_;  // the result of the check
  Status begins_;  // the result of opening a consumer
  int checks_ = 0;
  int sent_ = 0;
  FakeConsumer* opened_ = nullptr;
  LateBus bus_{{.check_topics =
                    [this](Duration) {
                      ++checks_;
                      return topics_;
                    },
                .open_producer = [this]() -> Result<std::unique_ptr<BusProducer>> {
                  return std::unique_ptr<BusProducer>(std::make_unique<FakeProducer>(sent_));
                }}};
  BusConsumer& consumer_ = bus_.AddConsumer([this]() -> Result<std::unique_ptr<BusConsumer>> {
    if (!begins_.ok()) return begins_.error();
    auto opened = std::make_unique<FakeConsumer>();
    opened_ = opened.get();
    return std::unique_ptr<BusConsumer>(std::move(opened));
  });
  SteadyTime now_{1s};
};

TEST_F(LateBusTest, BrokersThatAnswerAreOpenedAtTheStart) {
  ASSERT_TRUE(bus_.Open().ok());
  EXPECT_TRUE(bus_.opened());
  EXPECT_TRUE(bus_.producer().Send("t", 1, {}).ok());
  EXPECT_EQ(sent_, 1);
  bool delivered = false;
  EXPECT_TRUE(bus_.producer().Send("t", 1, {}, [&](const Status&) { delivered = true; }).ok());
  EXPECT_TRUE(delivered) << "who asks gets the answer of the opened one";
  bus_.Step(now_);
  EXPECT_EQ(checks_, 1);
}

TEST_F(LateBusTest, BrokersThatAreAwayAreOpenedLater) {
  const Status away(ErrorCode::kUnavailable, "no broker answers");
  topics_ = away;
  int wakes = 0;
  consumer_.OnReadable([&wakes] { ++wakes; });
  EXPECT_EQ(consumer_.Look().contact, BusHealth::Contact::kUnknown);
  ASSERT_TRUE(bus_.Open().ok()) << "the daemon starts";
  EXPECT_EQ(consumer_.Look().contact, BusHealth::Contact::kSilent);
  EXPECT_EQ(bus_.producer().Send("t", 1, {}).code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(consumer_.Poll(10)->empty());
  EXPECT_TRUE(consumer_.Commit({}).ok());

  topics_ = {};
  begins_ = away;
  EXPECT_EQ(bus_.Step(now_), now_ + 1s);
  EXPECT_FALSE(bus_.opened());
  EXPECT_TRUE(bus_.producer().Send("t", 1, {}).ok());
  begins_ = {};
  bus_.Step(now_);
  EXPECT_TRUE(bus_.opened());
  EXPECT_EQ(checks_, 2) << "topics that were found right are not asked for again";
  EXPECT_EQ(wakes, 1) << "there may be something to read by now";
  EXPECT_EQ(consumer_.Poll(10)->size(), 1u);
  EXPECT_EQ(consumer_.Commit({}).code(), ErrorCode::kExhausted);
  EXPECT_EQ(consumer_.Look().behind, 7);
  opened_->wake_();
  EXPECT_EQ(wakes, 2);
  EXPECT_TRUE(bus_.failure().ok());
}

TEST_F(LateBusTest, TopicsThatDoNotFitEndTheDaemonAlsoLater) {
  topics_ = {ErrorCode::kConflict, "another number of partitions"};
  EXPECT_EQ(bus_.Open().code(), ErrorCode::kConflict);
  topics_ = {ErrorCode::kUnavailable, "no broker answers"};
  ASSERT_TRUE(bus_.Open().ok());
  topics_ = {ErrorCode::kConflict, "another number of partitions"};
  for (int i = 0; i < 29; ++i) bus_.Step(now_);
  EXPECT_TRUE(bus_.failure().ok()) << "brokers that come back one by one say so for a while";
  bus_.Step(now_);
  EXPECT_EQ(bus_.failure().code(), ErrorCode::kConflict);
  EXPECT_FALSE(bus_.opened());
}

TEST(OptionalLateBus, IsTriedForEver) {
  Status opens(ErrorCode::kInvalid, "the file of the certificate cannot be read");
  int sent = 0;
  LateBus bus({.check_topics = [](Duration) { return Status(); },
               .open_producer = [&]() -> Result<std::unique_ptr<BusProducer>> {
                 if (!opens.ok()) return opens.error();
                 return std::unique_ptr<BusProducer>(std::make_unique<FakeProducer>(sent));
               },
               .required = false});
  const SteadyTime now{1s};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bus.Step(now), now + 1s);
  EXPECT_TRUE(bus.failure().ok());
  EXPECT_FALSE(bus.opened());
  opens = {};
  bus.Step(now);
  EXPECT_TRUE(bus.opened());
  EXPECT_TRUE(bus.producer().Send("t", 1, {}).ok());
  EXPECT_EQ(sent, 1);
}

TEST_F(LateBusTest, TopicsThatFitAfterAWhileEndNothing) {
  topics_ = {ErrorCode::kUnavailable, "no broker answers"};
  ASSERT_TRUE(bus_.Open().ok());
  topics_ = {ErrorCode::kNotFound, "no such topic yet"};
  for (int i = 0; i < 29; ++i) bus_.Step(now_);
  topics_ = {};
  bus_.Step(now_);
  EXPECT_TRUE(bus_.opened());
  EXPECT_TRUE(bus_.failure().ok());
}

}  // namespace
}  // namespace carillon::cluster
