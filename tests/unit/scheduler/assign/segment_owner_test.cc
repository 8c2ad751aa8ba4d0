#include "scheduler/assign/segment_owner.h"

#include <filesystem>
#include <fstream>

#include "common/base/log.h"
#include "scheduler/assign/rendezvous.h"
#include "scheduler/leader/leader.h"
#include "tests/unit/scheduler/assign/segment_owner_fixture.h"

namespace carillon::scheduler {
namespace {

TEST_F(SegmentOwnerTest, TakesWhatIsAssignedAndGivesUpWhatIsNot) {
  Assign("m1");
  Step();
  EXPECT_EQ(owned(), 4u);
  EXPECT_TRUE(assignment_.Wants(SegmentId(2)));
  EXPECT_FALSE(assignment_.settled());
  ActivateAll();
  EXPECT_TRUE(assignment_.settled());
  Assign("m2");
  Step();
  EXPECT_EQ(owned(), 0u);
  EXPECT_FALSE(assignment_.Wants(SegmentId(2)));
}

TEST_F(SegmentOwnerTest, TheMembersOfTheAssignmentAreCounted) {
  EXPECT_EQ(assignment_.Members(), 1);
  Assign("m1");
  Step();
  EXPECT_EQ(assignment_.Members(), 1);
  Assign("m1", "m2");
  Step();
  EXPECT_EQ(assignment_.Members(), 2);
  Assign("m2");
  Step();
  EXPECT_EQ(assignment_.Members(), 2) << "this member counts itself";
}

TEST_F(SegmentOwnerTest, WhatIsGivenUpIsReleased) {
  Assign("m1");
  Step();
  EXPECT_FALSE(stores_.segments.ListSegments()->at(0).released);
  Assign("m2");
  Step();
  EXPECT_TRUE(stores_.segments.ListSegments()->at(0).released);
}

TEST_F(SegmentOwnerTest, LeavingReleasesEverything) {
  Assign("m1");
  Step();
  owner_.Leave();
  EXPECT_EQ(owned(), 0u);
  const auto records = stores_.segments.ListSegments();
  ASSERT_TRUE(records.ok());
  for (const SegmentRecord& record : *records) EXPECT_TRUE(record.released);
}

TEST_F(SegmentOwnerTest, OwnerThatLivesIsWaitedForUntilItReleases) {
  const auto other = ensemble_.NewClient();
  ASSERT_TRUE(other->Join({.id = MemberId("m2"), .incarnation = Incarnation("i2")}).ok());
  const auto held = stores_.segments.Take({.member = MemberId("m2"),
                                           .incarnation = Incarnation("i2"),
                                           .generation = Generation(1),
                                           .segments = {SegmentId(0), SegmentId(1)}});
  ASSERT_TRUE(held.ok());
  generation_ = 0;
  Assign("m2");
  Assign("m1");
  Step(100ms);
  EXPECT_EQ(owned(), 2u) << "only what nobody had";
  ASSERT_TRUE(stores_.segments.Release({held->fence.at(0)}).ok());
  Step(100ms);
  EXPECT_EQ(owned(), 3u);
  EXPECT_EQ(table_.View()->Find(SegmentId(1)), nullptr);
  Step(1s);
  EXPECT_EQ(owned(), 4u) << "by force, after a while";
}

TEST_F(SegmentOwnerTest, OwnerThatIsGoneIsNotWaitedFor) {
  ASSERT_TRUE(stores_.segments
                  .Take({.member = MemberId("m2"),
                         .incarnation = Incarnation("i2"),
                         .generation = Generation(1),
                         .segments = {SegmentId(0)}})
                  .ok());
  Assign("m2");
  Assign("m1");
  Step(100ms);
  EXPECT_EQ(owned(), 4u);
}

TEST_F(SegmentOwnerTest, TakesNothingBeforeTheClockIsMeasured) {
  Assign("m1");
  SetAway();
  Step();
  EXPECT_FALSE(owner_.clock_trusted());
  faults_.Recover();
  Step();
  EXPECT_EQ(owned(), 4u);
}

TEST_F(SegmentOwnerTest, UnknownOutcomeOfATakeIsRepeatedWithAHigherEpoch) {
  Assign("m1");
  faults_.Arm("Take", test::Fault::kTimeoutAfter);
  Step();
  EXPECT_EQ(owned(), 0u);
  Step();
  ASSERT_EQ(owned(), 4u);
  EXPECT_EQ(table_.View()->all()[0].epoch, Epoch(2));
}

// If another answer were needed, a store that begins to hang after the commit would leave the
// segments without an owner.
TEST_F(SegmentOwnerTest, WhatIsTakenNeedsNoFurtherAnswerOfTheStore) {
  Assign("m1");
  faults_.ArmAlways("ReadEpochs", ErrorCode::kUnavailable);
  Step();
  ASSERT_EQ(owned(), 4u);
  EXPECT_EQ(table_.View()->all()[0].epoch, Epoch(1));
}

TEST_F(SegmentOwnerTest, SegmentDroppedForAnUnknownOutcomeIsTakenAgain) {
  Assign("m1");
  Step();
  const auto view = table_.View();
  table_.Drop(view->FenceFor({SegmentId(1)}), DropCause::kUnknownOutcome);
  Step();
  ASSERT_EQ(owned(), 4u);
  EXPECT_GT(table_.View()->Find(SegmentId(1))->epoch, view->Find(SegmentId(1))->epoch);
  EXPECT_EQ(table_.View()->Find(SegmentId(0))->epoch, view->Find(SegmentId(0))->epoch);
}

TEST_F(SegmentOwnerTest, FenceReadFindsWhatAnotherMemberTook) {
  Assign("m1");
  Step();
  ASSERT_TRUE(stores_.segments
                  .Take({.member = MemberId("m2"),
                         .incarnation = Incarnation("i2"),
                         .generation = Generation(9),
                         .segments = {SegmentId(0)}})
                  .ok());
  Step();
  EXPECT_EQ(table_.View()->Find(SegmentId(0)), nullptr);
  EXPECT_EQ(owned(), 3u);
}

TEST_F(SegmentOwnerTest, ProofAgesFromWhenItsRequestWasSent) {
  Assign("m1");
  Step();
  faults_.OnCall([this](const std::string& operation) {
    if (operation == "ReadEpochs") clock_.Advance(3s);
  });
  StepOwner();
  faults_.OnCall(nullptr);
  SetAway();
  clock_.Advance(999ms);
  EXPECT_TRUE(MayRenew());
  clock_.Advance(1ms);
  EXPECT_FALSE(MayRenew());
}

TEST_F(SegmentOwnerTest, BrokenProofAgesFromItsReceipt) {
  failpoint::Break("proof.from_receipt");
  Assign("m1");
  Step();
  faults_.OnCall([this](const std::string& operation) {
    if (operation == "ReadEpochs") clock_.Advance(3s);
  });
  StepOwner();
  faults_.OnCall(nullptr);
  clock_.Advance(3s);
  EXPECT_TRUE(MayRenew());
}

TEST_F(SegmentOwnerTest, WhatMissedAGenerationIsTakenAgain) {
  Assign("m1");
  Step();
  const Epoch before = table_.View()->all().at(0).epoch;
  Assign("m1");
  Assign("m1");
  for (int i = 0; i < 2; ++i) Step();
  EXPECT_EQ(table_.View()->all().at(0).epoch, Epoch(before.value() + 1));
  SetAway();
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(MayRenew());
}

// While this process was not a member, another process with the same id may have
// taken its segments.
TEST_F(SegmentOwnerTest, WhatWasKeptIsNotProvedByALaterSession) {
  Assign("m1");
  Step();
  Assign("m1");
  Step();
  SetAway();
  for (int i = 0; i < 5; ++i) Step();
  ASSERT_TRUE(MayRenew());
  ASSERT_TRUE(coordinator_->Join({.id = MemberId("m1"), .incarnation = Incarnation("i1")}).ok());
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_FALSE(MayRenew());
  faults_.Recover();
  const Epoch before = table_.View()->all().at(0).epoch;
  for (int i = 0; i < 3; ++i) Step();
  EXPECT_EQ(table_.View()->all().at(0).epoch, Epoch(before.value() + 1));  // taken again
}

TEST_F(SegmentOwnerTest, NothingIsTakenWhileAnotherProcessOfTheNameLives) {
  const auto other = ensemble_.NewClient();
  ASSERT_TRUE(other->Join({.id = MemberId("m1"), .incarnation = Incarnation("i0")}).ok());
  Assign("m1");
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_EQ(owned(), 0u);
  other->Leave();
  Step();
  EXPECT_EQ(owned(), 4u);
}

TEST_F(SegmentOwnerTest, AnotherLivingProcessOfTheNameIsToldEveryTenSeconds) {
  const std::string path = ::testing::TempDir() + "/segment_owner_test.log";
  std::filesystem::remove(path);
  log::Configure({.level = log::Level::kError, .file = path});
  const auto told = [&path] {
    std::ifstream in(path);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto other = ensemble_.NewClient();
  ASSERT_TRUE(other->Join({.id = MemberId("m1"), .incarnation = Incarnation("i0")}).ok());
  Assign("m1");
  for (int i = 0; i < 9; ++i) Step();
  EXPECT_EQ(told(), 0) << "of a process that crashed, it may be the session";
  for (int i = 0; i < 12; ++i) Step();
  EXPECT_EQ(told(), 2);
  log::Configure({});
}

TEST_F(SegmentOwnerTest, UnknownOutcomeAtTheBeginningOfAnOutageStopsNoRenewal) {
  Assign("m1");
  Step();
  const auto view = table_.View();
  const OwnedSegment first = view->all().at(0);
  SetAway();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kUnknownOutcome);
  for (int i = 0; i < 60; ++i) Step();
  EXPECT_EQ(owned(), 0u);
  EXPECT_TRUE(table_.MayRenew(first.segment, first.epoch, clock_.Steady()));
  faults_.Recover();
  for (int i = 0; i < 3; ++i) Step();
  EXPECT_EQ(owned(), 4u);
  EXPECT_FALSE(table_.MayRenew(first.segment, first.epoch, clock_.Steady()));
  EXPECT_TRUE(table_.View()->suspended().empty());
}

TEST_F(SegmentOwnerTest, SuspendedSegmentThatGoesToAnotherMemberIsForgotten) {
  Assign("m1");
  Step();
  const OwnedSegment first = table_.View()->all().at(0);
  table_.Drop({{first.segment, first.epoch}}, DropCause::kUnknownOutcome);
  Assign("m2");
  Step();
  EXPECT_TRUE(table_.View()->suspended().empty());
  EXPECT_FALSE(table_.MayRenew(first.segment, first.epoch, clock_.Steady()));
}

TEST_F(SegmentOwnerTest, ClockBeyondTheLimitReleasesEverything) {
  Assign("m1");
  Step();
  ASSERT_EQ(owned(), 4u);
  segments_.clock_error = 2s;
  for (int i = 0; i < 10; ++i) Step();
  EXPECT_FALSE(owner_.clock_trusted());
  EXPECT_EQ(owned(), 0u);
  segments_.clock_error = Duration{};
  for (int i = 0; i < 10; ++i) Step();
  EXPECT_EQ(owned(), 4u);
}

TEST(LeaseInForceTest, LeasesOfEarlierOwnersAreForgottenWhenTheyAreOver) {
  const WallTime taken = FromUnixMicros(1'772'323'200'000'000);
  const SegmentRecord record{.lease = 20s, .lease_before = 60s, .taken = taken};
  EXPECT_EQ(LeaseInForce(record, taken + 60s), 60s);
  EXPECT_EQ(LeaseInForce(record, taken + 60s + kTakeLongest), 60s);
  EXPECT_EQ(LeaseInForce(record, taken + 61s + kTakeLongest), 20s);
  EXPECT_EQ(LeaseInForce({.lease = 60s, .lease_before = 20s, .taken = taken}, taken + 1h), 60s);
}

TEST(RendezvousTest, MemberThatComesTakesOnlyItsShare) {
  std::vector<MemberId> members{MemberId("a"), MemberId("b"), MemberId("c")};
  const auto before = AssignSegments(256, members);
  members.push_back(MemberId("d"));
  const auto after = AssignSegments(256, members);
  size_t moved = 0;
  for (const auto& [segment, owner] : after) {
    if (owner == before.at(segment)) continue;
    EXPECT_EQ(owner, MemberId("d"));
    ++moved;
  }
  EXPECT_GT(moved, 32u);
  EXPECT_LT(moved, 100u);
}

TEST(RendezvousTest, OrderOfMembersDoesNotMatter) {
  EXPECT_EQ(AssignSegments(64, {MemberId("a"), MemberId("b")}),
            AssignSegments(64, {MemberId("b"), MemberId("a")}));
  EXPECT_TRUE(AssignSegments(64, {}).empty());
}

class LeaderTest : public SegmentOwnerTest {
 protected:
  LeaderLoop Make(const std::string& id, const std::string& incarnation, Coordinator& coordinator) {
    return LeaderLoop({.clock = clock_,
                       .coordinator = coordinator,
                       .segments = stores_.segments,
                       .metrics = metrics_,
                       .fit = [this] { return fit_; }},
                      {.self = {.id = MemberId(id), .incarnation = Incarnation(incarnation)}});
  }
  void StepLeader(LeaderLoop& leader) {
    clock_.Advance(3s);
    leader.Step(clock_.Steady());
  }
  bool fit_ = true;
};

TEST_F(LeaderTest, AssignsEverySegmentToTheMembers) {
  coordinator_->Leave();
  LeaderLoop leader = Make("m1", "i1", *coordinator_);
  StepLeader(leader);
  EXPECT_TRUE(leader.is_leader());
  EXPECT_EQ(ensemble_.assignment().owners.size(), 4u);
  const Generation first = ensemble_.assignment().generation;
  StepLeader(leader);
  EXPECT_EQ(ensemble_.assignment().generation, first);
}

TEST_F(LeaderTest, GenerationRisesAboveWhatTheStoreHasSeen) {
  ASSERT_TRUE(stores_.segments
                  .Take({.member = MemberId("m1"),
                         .incarnation = Incarnation("old"),
                         .generation = Generation(50),
                         .segments = {SegmentId(3)}})
                  .ok());
  coordinator_->Leave();
  LeaderLoop leader = Make("m1", "i1", *coordinator_);
  StepLeader(leader);
  EXPECT_EQ(ensemble_.assignment().generation, Generation(51));
}

TEST_F(LeaderTest, ProcessThatReplacedAnotherOfItsNameCanTakeItsSegments) {
  coordinator_->Leave();
  auto second = ensemble_.NewClient();
  LeaderLoop leader = Make("m1", "i1", *coordinator_);
  StepLeader(leader);
  ASSERT_TRUE(second->Join({.id = MemberId("m2"), .incarnation = Incarnation("i2")}).ok());
  StepLeader(leader);
  const Assignment shared = ensemble_.assignment();
  std::vector<SegmentId> theirs;
  for (const auto& [segment, owner] : shared.owners) {
    if (owner == MemberId("m2")) theirs.push_back(segment);
  }
  if (theirs.empty()) GTEST_FAIL() << "the second member got nothing";
  ASSERT_TRUE(stores_.segments
                  .Take({.member = MemberId("m2"),
                         .incarnation = Incarnation("i2"),
                         .generation = shared.generation,
                         .segments = theirs})
                  .ok());
  second->Leave();
  ASSERT_TRUE(second->Join({.id = MemberId("m2"), .incarnation = Incarnation("i3")}).ok());
  StepLeader(leader);
  EXPECT_GT(ensemble_.assignment().generation, shared.generation);
}

TEST_F(LeaderTest, ExpiredSessionJoinsAgain) {
  coordinator_->Leave();
  LeaderLoop leader = Make("m1", "i1", *coordinator_);
  StepLeader(leader);
  ensemble_.Expire(Incarnation("i1"));
  StepLeader(leader);
  EXPECT_TRUE(leader.is_leader());
  EXPECT_EQ(coordinator_->Members().size(), 1u);
}

TEST_F(LeaderTest, MemberThatIsNotFitStaysAway) {
  coordinator_->Leave();
  fit_ = false;
  LeaderLoop leader = Make("m1", "i1", *coordinator_);
  StepLeader(leader);
  EXPECT_TRUE(coordinator_->Members().empty());
  fit_ = true;
  StepLeader(leader);
  EXPECT_TRUE(leader.is_leader());
  fit_ = false;
  StepLeader(leader);
  EXPECT_FALSE(leader.is_leader());
  EXPECT_TRUE(coordinator_->Members().empty());
}

}  // namespace
}  // namespace carillon::scheduler
