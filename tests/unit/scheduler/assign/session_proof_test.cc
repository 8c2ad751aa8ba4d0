#include "scheduler/assign/session_proof.h"

#include "tests/unit/scheduler/assign/segment_owner_fixture.h"

namespace carillon::scheduler {
namespace {

using SessionProofTest = SegmentOwnerTest;

TEST_F(SessionProofTest, SessionProvesOwnershipWhileTheStoreIsAway) {
  Assign("m1");
  Step();
  SetAway();
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
  ensemble_.Suspend(Incarnation("i1"));
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_FALSE(MayRenew());
  EXPECT_EQ(owned(), 4u);  // still owned until a fenced write is refused
}

// If the store hangs, a statement fails after 15 s and a new connection after 5 s. The session
// proofs have a loop of their own, so they do not wait for that.
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
  SetAway();
  faults_.OnFault([&] { pass(std::exchange(hung, 5s)); });
  for (int i = 0; i < 10; ++i) {
    pass(1s);
    owner_.Step(clock_.Steady());
  }
  EXPECT_LE(refused_longest, 2s);
  EXPECT_EQ(owned(), 4u);
}

// Members change while the loop that takes and releases segments waits for the store.
TEST_F(SessionProofTest, MembersThatChangeWhileTheStoreHangsStopNoRenewal) {
  Assign("m1");
  Step();
  Duration refused{};
  Duration refused_longest{};
  bool hangs = true;
  SetAway();
  faults_.OnFault([&] {
    if (!std::exchange(hangs, false)) return;
    Assign("m1", "m2");
    for (Duration passed{}; passed < 20s; passed += 100ms) {
      clock_.Advance(100ms);
      session_.Step(clock_.Steady());
      refused = MayRenew() ? Duration{} : refused + 100ms;
      refused_longest = std::max(refused_longest, refused);
    }
    EXPECT_EQ(owned(), 3u) << "the next owner may have taken the last one";
  });
  StepOwner();
  EXPECT_LE(refused_longest, 2s);
}

TEST_F(SessionProofTest, SegmentGivenAwayWhileTheStoreHangsIsReleasedAfterwards) {
  Assign("m1");
  Step();
  bool hangs = true;
  SetAway();
  faults_.OnFault([&] {
    if (!std::exchange(hangs, false)) return;
    Assign("m1", "m2");
    session_.Step(clock_.Steady());
    faults_.Recover();
  });
  StepOwner();
  EXPECT_EQ(table_.View()->Find(SegmentId(3)), nullptr);
  const auto records = stores_.segments.ListSegments();
  ASSERT_TRUE(records.ok());
  EXPECT_TRUE(records->at(3).released);
  EXPECT_FALSE(records->at(2).released);
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
  SetAway();
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
  Assign("m1");  // also while the store is unavailable
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
  SetAway();
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kStoreHeld);
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(table_.MayRenew(first.segment, first.epoch, clock_.Steady()));
}

// A Take under the previous assignment may return after the current assignment was applied.
TEST_F(SessionProofTest, SessionDoesNotProveWhatWasTakenTooLate) {
  Assign("m1");
  Step();
  const OwnedSegment last = *table_.View()->Find(SegmentId(3));
  const SteadyTime taken = clock_.Steady();
  Assign("m1", "m2");
  Step();
  ASSERT_EQ(owned(), 3u);
  table_.Add({{last.segment, last.epoch}}, last.generation, taken, taken, last.joins);
  table_.Keep(Generation(generation_), last.joins, {SegmentId(0), SegmentId(1), SegmentId(2)});
  SetAway();
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(1s);
    const auto generation = coordinator_->ProveSession();
    ASSERT_TRUE(generation.ok());
    table_.ProvedBySession(*generation, coordinator_->Joins(), clock_.Steady());
  }
  EXPECT_FALSE(table_.MayRenew(last.segment, last.epoch, clock_.Steady()));
}

// In a generation that this member did not see, the segment may have belonged to another member.
TEST_F(SessionProofTest, SessionProvesNothingAfterAGenerationThatWasNotSeen) {
  Assign("m1");
  Step();
  SetAway();
  Assign("m2");
  Assign("m1");
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_FALSE(MayRenew());
}

}  // namespace
}  // namespace carillon::scheduler
