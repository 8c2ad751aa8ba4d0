// The contract of the control link: ExecutorLink and ExecutorHub.
//
// To run it against an adapter, define before including:
//   struct MyLinkFactory {
//     std::unique_ptr<ExecutorHub> Hub(const MemberId& member);
//     std::unique_ptr<ExecutorLink> Link(const ExecutorId&, const Incarnation&);  // to every hub
//     void Settle(const std::function<bool()>& seen);     // waits until `seen`, with a time limit
//   };
//   using LinkFactories = ::testing::Types<MyLinkFactory>;      // in carillon::test
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "common/ports/executor_link.h"

namespace carillon::test {

template <typename Factory>
class LinkContract : public ::testing::Test {
 protected:
  void Settle(const std::function<bool()>& seen) {
    factory_.Settle(seen);
    EXPECT_TRUE(seen());
  }
  std::unique_ptr<ExecutorLink> Link(const std::string& id, const std::string& incarnation = "x") {
    return factory_.Link(ExecutorId(id), Incarnation(incarnation));
  }
  static Heartbeat Beat(int64_t sent) { return {.sent_us = sent}; }
  Factory factory_;
};
TYPED_TEST_SUITE(LinkContract, LinkFactories);

TYPED_TEST(LinkContract, ExecutorSeesItsMembers) {
  const auto one = this->factory_.Hub(MemberId("m1"));
  const auto two = this->factory_.Hub(MemberId("m2"));
  const auto link = this->Link("e1");
  this->Settle([&] { return link->Members().size() == 2; });
}

TYPED_TEST(LinkContract, MessagesArriveInOrderWithTheirSender) {
  const auto hub = this->factory_.Hub(MemberId("m1"));
  const auto link = this->Link("e1", "x7");
  this->Settle([&] { return link->Members().size() == 1; });
  for (int64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(link->Send(MemberId("m1"), this->Beat(i)).ok());
  }
  std::vector<ExecutorMessage> got;
  this->Settle([&] {
    for (ExecutorMessage& message : hub->Receive(3)) got.push_back(std::move(message));
    return got.size() == 10;
  });
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].executor, ExecutorId("e1"));
    EXPECT_EQ(got[i].incarnation, Incarnation("x7"));
    EXPECT_EQ(std::get<Heartbeat>(got[i].message).sent_us, static_cast<int64_t>(i));
  }
}

// For example the last message of a process that ends.
TYPED_TEST(LinkContract, WhatWasSentBeforeTheLinkEndsArrives) {
  const auto hub = this->factory_.Hub(MemberId("m1"));
  auto link = this->Link("e1");
  this->Settle([&] { return link->Members().size() == 1; });
  for (int64_t i = 0; i < 100; ++i) {
    Heartbeat beat = this->Beat(i);
    beat.leaving = i == 99;
    ASSERT_TRUE(link->Send(MemberId("m1"), std::move(beat)).ok());
  }
  link.reset();
  std::vector<bool> leaving;
  this->Settle([&] {
    for (const ExecutorMessage& message : hub->Receive(100)) {
      leaving.push_back(std::get<Heartbeat>(message.message).leaving);
    }
    return leaving.size() == 100;
  });
  EXPECT_TRUE(leaving.back());
  EXPECT_FALSE(leaving.front());
}

TYPED_TEST(LinkContract, AnswersGoToTheRightExecutorOnly) {
  const auto hub = this->factory_.Hub(MemberId("m1"));
  const auto one = this->Link("e1");
  const auto two = this->Link("e2");
  this->Settle([&] { return one->Members().size() == 1 && two->Members().size() == 1; });
  ASSERT_TRUE(one->Send(MemberId("m1"), this->Beat(1)).ok());
  ASSERT_TRUE(two->Send(MemberId("m1"), this->Beat(2)).ok());
  size_t seen = 0;
  this->Settle([&] { return (seen += hub->Receive(10).size()) == 2; });
  ASSERT_TRUE(hub->Send(ExecutorId("e2"), Incarnation("x"), HeartbeatReply{.sent_us = 5}).ok());
  std::vector<MemberMessage> got;
  this->Settle([&] {
    for (MemberMessage& message : two->Receive(10)) got.push_back(std::move(message));
    return got.size() == 1;
  });
  EXPECT_EQ(got[0].member, MemberId("m1"));
  EXPECT_EQ(std::get<HeartbeatReply>(got[0].message).sent_us, 5);
  EXPECT_TRUE(one->Receive(10).empty());
}

TYPED_TEST(LinkContract, SendingToNobodyIsUnavailable) {
  const auto hub = this->factory_.Hub(MemberId("m1"));
  const auto link = this->Link("e1");
  EXPECT_EQ(link->Send(MemberId("m9"), this->Beat(1)).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(hub->Send(ExecutorId("e9"), Incarnation("x"), Registered{}).code(),
            ErrorCode::kUnavailable);
  EXPECT_EQ(hub->Send(ExecutorId("e1"), Incarnation("other"), Registered{}).code(),
            ErrorCode::kUnavailable);
}

TYPED_TEST(LinkContract, MessagesWakeTheReceiver) {
  std::atomic<bool> woken = false;  // outlives the hub, which may call until its end
  const auto hub = this->factory_.Hub(MemberId("m1"));
  hub->OnReadable([&woken] { woken = true; });
  const auto link = this->Link("e1");
  this->Settle([&] { return link->Members().size() == 1; });
  ASSERT_TRUE(link->Send(MemberId("m1"), this->Beat(1)).ok());
  this->Settle([&] { return woken.load(); });
}

TYPED_TEST(LinkContract, EndOfAStreamIsToldOnceAndNotOfOneThatIsBack) {
  std::atomic<bool> woken = false;
  const auto hub = this->factory_.Hub(MemberId("m1"));
  auto one = this->Link("e1", "x1");
  const auto two = this->Link("e2", "x1");
  this->Settle([&] { return one->Members().size() == 1 && two->Members().size() == 1; });
  EXPECT_TRUE(hub->TakeEnded().empty());
  hub->OnReadable([&woken] { woken = true; });
  one.reset();
  std::vector<ExecutorProcess> ended;
  this->Settle([&] {
    for (ExecutorProcess& process : hub->TakeEnded()) ended.push_back(std::move(process));
    return !ended.empty();
  });
  EXPECT_EQ(ended, (std::vector{ExecutorProcess{ExecutorId("e1"), Incarnation("x1")}}));
  this->Settle([&] { return woken.load(); });
  EXPECT_TRUE(hub->TakeEnded().empty());
  const auto again = this->Link("e1", "x1");
  this->Settle([&] { return again->Members().size() == 1; });
  EXPECT_TRUE(hub->TakeEnded().empty());
}

// Else a message that was sent before the end would look like one of a new stream.
TYPED_TEST(LinkContract, EndOfAStreamComesAfterItsMessages) {
  const auto hub = this->factory_.Hub(MemberId("m1"));
  auto link = this->Link("e1", "x1");
  this->Settle([&] { return link->Members().size() == 1; });
  ASSERT_TRUE(link->Send(MemberId("m1"), this->Beat(1)).ok());
  link.reset();
  this->Settle([&] { return !hub->Send(ExecutorId("e1"), Incarnation("x1"), Registered{}).ok(); });
  EXPECT_TRUE(hub->TakeEnded().empty());
  EXPECT_EQ(hub->Receive(10).size(), 1u);
  size_t ended = 0;
  this->Settle([&] { return (ended += hub->TakeEnded().size()) > 0; });
  EXPECT_EQ(ended, 1u);
}

TYPED_TEST(LinkContract, DepartedMemberIsSeenAsGone) {
  auto hub = this->factory_.Hub(MemberId("m1"));
  const auto link = this->Link("e1");
  this->Settle([&] { return link->Members().size() == 1; });
  hub.reset();
  this->Settle([&] { return link->Members().empty(); });
  EXPECT_EQ(link->Send(MemberId("m1"), this->Beat(1)).code(), ErrorCode::kUnavailable);
}

}  // namespace carillon::test
