// The contract of the coordinator: membership, election, assignment, settings.
//
// To run it against an adapter, define before including:
//   struct MyCoordinatorFactory {
//     std::unique_ptr<Coordinator> Client();              // all clients share one ensemble
//     void Expire(const Incarnation& incarnation);        // the server ends the member's session
//     void Settle(const std::function<bool()>& seen);     // waits until `seen`, with a time limit
//   };
//   using CoordinatorFactories = ::testing::Types<MyCoordinatorFactory>;   // in carillon::test
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "common/ports/coordinator.h"

namespace carillon::test {

template <typename Factory>
class CoordinatorContract : public ::testing::Test {
 protected:
  std::unique_ptr<Coordinator> Joined(const std::string& name) {
    std::unique_ptr<Coordinator> client = factory_.Client();
    EXPECT_TRUE(client->Join(Info(name)).ok());
    return client;
  }
  static MemberInfo Info(const std::string& name) {
    return {MemberId(name), Incarnation("inc-" + name), "http://" + name, name + ":1"};
  }
  void Settle(const std::function<bool()>& seen) {
    factory_.Settle(seen);
    EXPECT_TRUE(seen());
  }
  Factory factory_;
};
TYPED_TEST_SUITE(CoordinatorContract, CoordinatorFactories);

TYPED_TEST(CoordinatorContract, FirstToJoinLeadsAndAllSeeIt) {
  const auto a = this->Joined("a");
  this->Settle([&] { return a->IsLeader(); });
  const auto b = this->Joined("b");
  this->Settle([&] { return b->Members().size() == 2 && a->Members().size() == 2; });
  EXPECT_FALSE(b->IsLeader());
  EXPECT_EQ(b->Leader(), MemberId("a"));
  EXPECT_EQ(a->State(), SessionState::kConnected);
}

TYPED_TEST(CoordinatorContract, LeavingHandsTheLeadOver) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  this->Settle([&] { return a->IsLeader(); });
  a->Leave();
  this->Settle([&] { return b->IsLeader() && b->Members().size() == 1; });
  EXPECT_FALSE(a->IsLeader());
}

TYPED_TEST(CoordinatorContract, ExpiredMemberStopsLeadingAndCanRejoin) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  this->Settle([&] { return a->IsLeader(); });
  this->factory_.Expire(Incarnation("inc-a"));
  this->Settle([&] { return a->State() == SessionState::kExpired && b->IsLeader(); });
  EXPECT_FALSE(a->IsLeader());
  EXPECT_FALSE(a->ProveSession().ok());
  ASSERT_TRUE(a->Join(this->Info("a")).ok());
  this->Settle([&] { return a->State() == SessionState::kConnected && b->Members().size() == 2; });
  EXPECT_TRUE(b->IsLeader());
}

TYPED_TEST(CoordinatorContract, OnlyTheLeaderWritesTheNextGeneration) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  this->Settle([&] { return a->IsLeader(); });
  const auto empty = b->ReadAssignment();
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->generation, Generation(0));
  const Assignment first{Generation(1),
                         {{SegmentId(0), MemberId("a")}, {SegmentId(1), MemberId("b")}}};
  EXPECT_EQ(b->WriteAssignment(first).code(), ErrorCode::kFenced);
  Assignment leap = first;
  leap.generation = Generation(2);
  EXPECT_EQ(a->WriteAssignment(leap).code(), ErrorCode::kConflict);
  ASSERT_TRUE(a->WriteAssignment(first).ok());
  EXPECT_EQ(a->WriteAssignment(first).code(), ErrorCode::kConflict);
  this->Settle([&] { return b->ReadAssignment().value_or({}) == first; });
  const auto proof = b->ProveSession();
  ASSERT_TRUE(proof.ok());
  EXPECT_EQ(*proof, Generation(1));
}

TYPED_TEST(CoordinatorContract, FormerLeaderIsFenced) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  this->Settle([&] { return a->IsLeader(); });
  this->factory_.Expire(Incarnation("inc-a"));
  EXPECT_FALSE(a->WriteAssignment({Generation(1), {}}).ok());
  this->Settle([&] { return b->IsLeader(); });
  EXPECT_TRUE(b->WriteAssignment({Generation(1), {}}).ok());
}

TYPED_TEST(CoordinatorContract, MembersTellWhetherTheyArePausedUntilTheyJoinAnew) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  const auto seen = [&](std::optional<bool> of_a, std::optional<bool> of_b) {
    const auto members = b->Members();
    return members.size() == 2 && members[0].paused == of_a && members[1].paused == of_b;
  };
  this->Settle([&] { return seen(std::nullopt, std::nullopt); });
  ASSERT_TRUE(a->AnnouncePaused(true).ok());
  ASSERT_TRUE(a->AnnouncePaused(true).ok());
  this->Settle([&] { return seen(true, std::nullopt); });
  ASSERT_TRUE(b->AnnouncePaused(false).ok());
  ASSERT_TRUE(a->AnnouncePaused(false).ok());
  this->Settle([&] { return seen(false, false); });
  EXPECT_EQ(b->Leader(), MemberId("a"));
  ASSERT_TRUE(b->AnnouncePaused(true).ok());
  ASSERT_TRUE(b->Join(this->Info("b")).ok());
  this->Settle([&] { return seen(false, std::nullopt); });
  const auto outside = this->factory_.Client();
  EXPECT_EQ(outside->AnnouncePaused(true).code(), ErrorCode::kUnavailable);
}

TYPED_TEST(CoordinatorContract, AnyMemberWritesNewerSettingsAndAllSeeThem) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  EXPECT_EQ(b->ReadSettings().value_or({.version = 9}), ClusterSettings{});
  const ClusterSettings first{.version = 1, .values = {{"log.level", "debug"}}};
  const ClusterSettings third{.version = 3, .values = {}};
  ASSERT_TRUE(b->WriteSettings(first).ok());
  this->Settle([&] { return a->ReadSettings().value_or({}) == first; });
  ASSERT_TRUE(a->WriteSettings(third).ok());
  // A write of an older version changes nothing, and is not an error.
  EXPECT_TRUE(b->WriteSettings({.version = 2, .values = {{"log.level", "warn"}}}).ok());
  EXPECT_TRUE(b->WriteSettings({.version = 3, .values = {{"log.level", "off"}}}).ok());
  this->Settle([&] { return b->ReadSettings().value_or({}) == third; });
  const auto late = this->Joined("c");
  EXPECT_EQ(late->ReadSettings().value_or({}), third);
}

TYPED_TEST(CoordinatorContract, SettingsNeedASession) {
  const auto a = this->factory_.Client();
  EXPECT_EQ(a->WriteSettings({.version = 1}).code(), ErrorCode::kUnavailable);
  const auto b = this->Joined("b");
  this->factory_.Expire(Incarnation("inc-b"));
  this->Settle([&] { return b->State() == SessionState::kExpired; });
  EXPECT_EQ(b->WriteSettings({.version = 1}).code(), ErrorCode::kUnavailable);
}

TYPED_TEST(CoordinatorContract, SettingsWakeTheOthers) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  this->Settle([&] { return a->Members().size() == 2 && b->Members().size() == 2; });
  std::atomic<bool> woken = false;
  a->OnChange([&woken] { woken = true; });
  ASSERT_TRUE(b->WriteSettings({.version = 1}).ok());
  this->Settle([&] { return woken.load(); });
}

TYPED_TEST(CoordinatorContract, TrustIsReplacedOnlyByWhoeverReadIt) {
  const auto a = this->Joined("a");
  const auto b = this->Joined("b");
  const auto none = b->ReadTrust();
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_FALSE(none->has_value());
  const StoreTrust first{.store_id = "s", .server_id = "v", .mark = 7};
  EXPECT_EQ(b->WriteTrust(first, first).code(), ErrorCode::kConflict);
  ASSERT_TRUE(b->WriteTrust(first, std::nullopt).ok());
  StoreTrust accepted = first;
  accepted.mark = 3;
  accepted.accepted = FromUnixMicros(1'772'323'200'000'001);
  EXPECT_EQ(a->WriteTrust(accepted, std::nullopt).code(), ErrorCode::kConflict);
  this->Settle([&] { return a->ReadTrust().value_or(std::nullopt) == first; });
  ASSERT_TRUE(a->WriteTrust(accepted, first).ok());
  EXPECT_EQ(b->WriteTrust(first, first).code(), ErrorCode::kConflict);
  this->Settle([&] { return b->ReadTrust().value_or(std::nullopt) == accepted; });
}

TYPED_TEST(CoordinatorContract, TrustOutlivesTheMembersAndNeedsAMembership) {
  const auto outside = this->factory_.Client();
  EXPECT_EQ(outside->ReadTrust().code(), ErrorCode::kUnavailable);
  const StoreTrust trust{.store_id = "s", .server_id = "v", .mark = 1};
  EXPECT_EQ(outside->WriteTrust(trust, std::nullopt).code(), ErrorCode::kUnavailable);
  {
    const auto a = this->Joined("a");
    ASSERT_TRUE(a->WriteTrust(trust, std::nullopt).ok());
    a->Leave();
    EXPECT_FALSE(a->ReadTrust().ok());
  }
  const auto b = this->Joined("b");
  this->Settle([&] { return b->ReadTrust().value_or(std::nullopt) == trust; });
}

TYPED_TEST(CoordinatorContract, ChangesWakeTheOthers) {
  const auto a = this->Joined("a");
  bool woken = false;
  a->OnChange([&woken] { woken = true; });
  const auto b = this->Joined("b");
  this->Settle([&] { return woken; });
}

}  // namespace carillon::test
