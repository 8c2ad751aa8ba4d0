// The contract of the executors' directory of members.
//
// To run it against an adapter, define before including:
//   struct MyDirectoryFactory {
//     std::unique_ptr<MemberDirectory> Directory();       // all share one ensemble
//     std::unique_ptr<Coordinator> Member();              // in the same ensemble
//     void Expire(const Incarnation& incarnation);        // the server ends the executor's session
//     void Settle(const std::function<bool()>& seen);     // waits until `seen`, with a time limit
//   };
//   using DirectoryFactories = ::testing::Types<MyDirectoryFactory>;   // in carillon::test
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "common/ports/member_directory.h"

namespace carillon::test {

template <typename Factory>
class DirectoryContract : public ::testing::Test {
 protected:
  static MemberInfo Info(const std::string& name) {
    return {MemberId(name), Incarnation("inc-" + name), "http://" + name, name + ":1"};
  }
  void Settle(const std::function<bool()>& seen) {
    factory_.Settle(seen);
    EXPECT_TRUE(seen());
  }
  const ExecutorId host_{"host"};
  const Incarnation first_{"first"};
  const Incarnation second_{"second"};
  Factory factory_;
};
TYPED_TEST_SUITE(DirectoryContract, DirectoryFactories);

TYPED_TEST(DirectoryContract, SeesMembersComeAndGo) {
  const auto directory = this->factory_.Directory();
  std::atomic<int> woken = 0;
  directory->OnChange([&woken] { ++woken; });
  ASSERT_TRUE(directory->Announce(this->host_, this->first_).ok());
  EXPECT_TRUE(directory->Members().empty());
  const auto a = this->factory_.Member();
  ASSERT_TRUE(a->Join(this->Info("a")).ok());
  this->Settle([&] { return directory->Members().size() == 1 && woken > 0; });
  ASSERT_EQ(directory->Members().size(), 1u);
  EXPECT_EQ(directory->Members()[0], this->Info("a"));
  const auto b = this->factory_.Member();
  ASSERT_TRUE(b->Join(this->Info("b")).ok());
  a->Leave();
  this->Settle([&] {
    const auto members = directory->Members();
    return members.size() == 1 && members[0] == this->Info("b");
  });
  EXPECT_EQ(directory->State(), SessionState::kConnected);
}

TYPED_TEST(DirectoryContract, ExecutorIsNoMember) {
  const auto directory = this->factory_.Directory();
  ASSERT_TRUE(directory->Announce(this->host_, this->first_).ok());
  const auto a = this->factory_.Member();
  ASSERT_TRUE(a->Join(this->Info("a")).ok());
  this->Settle([&] { return a->IsLeader() && directory->Members().size() == 1; });
  EXPECT_EQ(a->Members().size(), 1u);
}

TYPED_TEST(DirectoryContract, SecondStartOfAnExecutorIsRefusedUntilTheFirstIsGone) {
  auto first = this->factory_.Directory();
  ASSERT_TRUE(first->Announce(this->host_, this->first_).ok());
  EXPECT_TRUE(first->Announce(this->host_, this->first_).ok()) << "it is there already";
  const auto second = this->factory_.Directory();
  EXPECT_EQ(second->Announce(this->host_, this->second_).code(), ErrorCode::kConflict);
  EXPECT_TRUE(second->Announce(ExecutorId("other"), Incarnation("third")).ok());
  first->Withdraw();
  const auto third = this->factory_.Directory();
  this->Settle([&] { return third->Announce(this->host_, this->second_).ok(); });
}

TYPED_TEST(DirectoryContract, ExpiredExecutorSaysSoAndCanComeBack) {
  const auto directory = this->factory_.Directory();
  ASSERT_TRUE(directory->Announce(this->host_, this->first_).ok());
  this->factory_.Expire(this->first_);
  this->Settle([&] { return directory->State() == SessionState::kExpired; });
  const auto second = this->factory_.Directory();
  this->Settle([&] { return second->Announce(this->host_, this->second_).ok(); });
  EXPECT_EQ(directory->Announce(this->host_, this->first_).code(), ErrorCode::kConflict);
  second->Withdraw();
  this->Settle([&] { return directory->Announce(this->host_, this->first_).ok(); });
  EXPECT_EQ(directory->State(), SessionState::kConnected);
}

}  // namespace carillon::test
