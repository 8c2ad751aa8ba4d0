#include "scheduler/assign/session_proof.h"

#include "tests/unit/scheduler/assign/segment_owner_fixture.h"

namespace carillon::scheduler {
namespace {

using SessionProofTest = SegmentOwnerTest;

TEST_F(SessionProofTest, SessionProvesOwnershipWhileTheStoreIsAway) {
  Assign("m1");
  Step();
  segments_.away = true;
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
  ensemble_.Suspend(Incarnation("i1"));
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_FALSE(MayRenew());
  EXPECT_EQ(owned(), 4u);  // goes on: the fence decides
}

// A statement on a connection that was open takes 15 s to fail, a new connection 5 s; the loop that
// waits for them is not the one that proves.
TEST_F(SessionProofTest, StoreThatHangsStopsNoRenewal) {
  Assign("m1");
  Step();
  Duration hung = 15s;
  Duration refused{};
  Duration refused_longest{};
  const auto pass = [&](Duration time) {
    for (Duration passed{}; passed < time; passed += 100ms) {
      clock_.Advance(100ms);
      session_.Step(clock_.Steady());
      refused = MayRenew() ? Duration{} : refused + 100ms;
      refused_longest = std::max(refused_longest, refused);
    }
  };
  segments_.away = true;
  segments_.hang = [&] { pass(std::exchange(hung, 5s)); };
  for (int i = 0; i < 10; ++i) {
    pass(1s);
    owner_.Step(clock_.Steady());
  }
  EXPECT_LE(refused_longest, 2s);
  EXPECT_EQ(owned(), 4u);
}

TEST_F(SessionProofTest, SessionIsNotAskedWhileTheStoreProves) {
  Assign("m1");
  Step();
  ensemble_.Suspend(Incarnation("i1"));
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
  EXPECT_GT(session_.Step(clock_.Steady()), clock_.Steady() + 1s);
}

TEST_F(SessionProofTest, SessionProvesWhatWasKeptWhenMembersChanged) {
  Assign("m1");
  Step();
  const Epoch taken = table_.View()->all().at(0).epoch;
  Assign("m1");
  Step();
  segments_.away = true;
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
  Assign("m1");  // also while the store is away
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
  EXPECT_EQ(table_.View()->all().at(0).epoch, taken);
}

TEST_F(SessionProofTest, SessionProvesWhatWasKeptAndSuspended) {
  Assign("m1");
  Step();
  Assign("m1");
  Step();
  const OwnedSegment first = table_.View()->all().at(0);
  segments_.away = true;
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kStoreHeld);
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(table_.MayRenew(first.segment, first.epoch, clock_.Steady()));
}

// Somebody else may have been told to take it by the generation that was not seen.
TEST_F(SessionProofTest, SessionProvesNothingAfterAGenerationThatWasNotSeen) {
  Assign("m1");
  Step();
  segments_.away = true;
  Assign("m2");
  Assign("m1");
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_FALSE(MayRenew());
}

}  // namespace
}  // namespace carillon::scheduler
