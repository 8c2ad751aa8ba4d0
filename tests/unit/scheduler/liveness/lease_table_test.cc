#include "scheduler/liveness/lease_table.h"

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

const LeaseHolder kHolder{ExecutorId("x1"), Incarnation("e1")};

class LeaseTableTest : public test::RoomTest {
 protected:
  static HeldAttempt Held(uint64_t n, uint64_t token = 0) {
    return {.key = {.fire = WallTime(1s), .schedule_id = ScheduleId(n)},
            .segment = SegmentId(0),
            .job_no = JobNo(4),
            .attempt = 1,
            .token = {9, token == 0 ? n : token}};
  }
  LeaseTable::Grant Grant(const HeldAttempt& held) {
    return leases_.GrantAll(kHolder, {{held, EpochOf(held.segment)}}, clock_.Steady()).at(0);
  }
  size_t Expired() { return leases_.TakeExpired(clock_.Steady(), 100).size(); }
  void Prove() {
    const auto view = table_.View();
    table_.Proved(view->FenceFor(view->Segments()), clock_.Steady());
  }
  size_t Renew(const HeldAttempt& held, const LeaseHolder& holder = kHolder) {
    return leases_.Renew(holder, {held}, clock_.Steady()).size();
  }
};

TEST_F(LeaseTableTest, ExpiresAfterLeaseAndMarginAndNotBefore) {
  ASSERT_EQ(Grant(Held(1)), LeaseTable::Grant::kGranted);
  clock_.Advance(25s - 1us);
  EXPECT_EQ(Expired(), 0u);
  clock_.Advance(1us);
  EXPECT_EQ(Expired(), 1u);
}

TEST_F(LeaseTableTest, RenewalNeedsAProofYoungerThanItsLimit) {
  Grant(Held(1));
  clock_.Advance(4s);
  EXPECT_EQ(Renew(Held(1)), 0u);
  Prove();
  EXPECT_EQ(Renew(Held(1)), 1u);
}

TEST_F(LeaseTableTest, ProofCountsForItsOwnSegmentOnly) {
  Grant(Held(1));
  clock_.Advance(5s);
  table_.Proved(table_.View()->FenceFor({SegmentId(1)}), clock_.Steady());
  EXPECT_EQ(Renew(Held(1)), 0u);
}

TEST_F(LeaseTableTest, MarkedAttemptIsNeitherRenewedNorGranted) {
  Grant(Held(1));
  clock_.Advance(25s);
  ASSERT_EQ(Expired(), 1u);
  Prove();
  EXPECT_EQ(Renew(Held(1)), 0u);
  EXPECT_EQ(Grant(Held(1)), LeaseTable::Grant::kLost);
  EXPECT_TRUE(leases_.IsLost(Held(1).key, Held(1).token));
  EXPECT_EQ(Expired(), 1u);  // returned again until the store has decided about it
}

TEST_F(LeaseTableTest, LostTokenStaysLostAfterTheStoreDecided) {
  Grant(Held(1));
  clock_.Advance(25s);
  leases_.Resolve(leases_.TakeExpired(clock_.Steady(), 10), clock_.Steady());
  EXPECT_EQ(Expired(), 0u);
  EXPECT_EQ(Grant(Held(1)), LeaseTable::Grant::kLost);
  EXPECT_EQ(Grant(Held(1, 77)), LeaseTable::Grant::kGranted);  // the next attempt's claim
}

TEST_F(LeaseTableTest, BrokenRuleLetsAnExpiredLeaseBeRenewed) {
  failpoint::Break("lost.mark_first");
  Grant(Held(1));
  clock_.Advance(25s);
  ASSERT_EQ(Expired(), 1u);
  Prove();
  EXPECT_EQ(Renew(Held(1)), 1u);
}

TEST_F(LeaseTableTest, NeitherAdoptionNorRenewalShortensALease) {
  RunRow row{.key = Held(1).key,
             .job_no = JobNo(4),
             .segment = SegmentId(0),
             .state = RunState::kRunning,
             .claim_token = Held(1).token,
             .executor = kHolder.executor,
             .incarnation = kHolder.incarnation};
  leases_.AddFound({row}, EpochOf(SegmentId(0)), clock_.Steady() + 60s);
  Prove();
  ASSERT_EQ(Renew(Held(1)), 1u);
  clock_.Advance(59s);
  EXPECT_EQ(Expired(), 0u);
  clock_.Advance(1s);
  EXPECT_EQ(Expired(), 1u);
}

TEST_F(LeaseTableTest, AnotherProcessOfTheSameExecutorAdopts) {
  Grant(Held(1));
  Prove();
  const LeaseHolder again{ExecutorId("x1"), Incarnation("e2")};
  EXPECT_EQ(Renew(Held(1), again), 1u);
  EXPECT_EQ(leases_.HolderOf(Held(1).key, Held(1).token)->incarnation, Incarnation("e2"));
}

TEST_F(LeaseTableTest, WrongTokenOrExecutorRenewsNothing) {
  Grant(Held(1));
  Prove();
  EXPECT_EQ(Renew(Held(1, 5)), 0u);
  EXPECT_EQ(Renew(Held(1), {ExecutorId("x2"), Incarnation("e1")}), 0u);
}

TEST_F(LeaseTableTest, ScanDoesNotReplaceWhatIsKnownUnderTheSameEpoch) {
  Grant(Held(1, 50));
  RunRow old{.key = Held(1).key,
             .job_no = JobNo(4),
             .segment = SegmentId(0),
             .claim_token = Held(1, 49).token,
             .executor = ExecutorId("x9")};
  leases_.AddFound({old}, EpochOf(SegmentId(0)), clock_.Steady() + 1s);
  EXPECT_EQ(leases_.HolderOf(Held(1).key, Held(1, 50).token)->executor, kHolder.executor);
}

TEST_F(LeaseTableTest, MemoryOfAnOlderEpochIsForgotten) {
  Grant(Held(1));
  TakeAll();
  EXPECT_EQ(Renew(Held(1)), 0u);
  clock_.Advance(1h);
  EXPECT_EQ(Expired(), 0u);
  EXPECT_EQ(leases_.size(), 0u);
}

TEST_F(LeaseTableTest, ClaimDecidedUnderAnOlderEpochIsNotGranted) {
  const Epoch old = EpochOf(SegmentId(0));
  TakeAll();
  EXPECT_EQ(leases_.GrantAll(kHolder, {{Held(1), old}}, clock_.Steady()).at(0),
            LeaseTable::Grant::kNotOwned);
}

TEST_F(LeaseTableTest, AnotherRunOfTheJobIsSeenItselfIsNot) {
  Grant(Held(1));
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(1).key), 0);
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(2).key), 1);
  leases_.Erase({Held(1)});
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(2).key), 0);
}

// The own run of such a fire has no lease.
TEST_F(LeaseTableTest, AFireInPartsCountsOnceWhileOneOfThemRuns) {
  const auto part = [](uint64_t fire, uint32_t shard) {
    HeldAttempt held = Held(fire, 10 * fire + shard);
    held.key.shard = shard;
    return held;
  };
  for (const HeldAttempt& one : {part(1, 1), part(1, 2), part(2, 1), part(1, 1)}) Grant(one);
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(3).key), 2);
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(1).key), 1);
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), part(1, 3).key), 1) << "its sisters are no other fire";
  leases_.Erase({part(1, 2)});
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(3).key), 2);
  leases_.Erase({part(1, 1)});
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(3).key), 1);
  leases_.Erase({part(2, 1), part(2, 1)});
  EXPECT_EQ(leases_.OtherRuns(JobNo(4), Held(3).key), 0);
}

TEST_F(LeaseTableTest, ClaimThatIsWrittenGetsItsLeaseAlsoAboveTheLimit) {
  LeaseTable small({.leases_max = 1}, table_);
  const Epoch epoch = EpochOf(SegmentId(0));
  EXPECT_EQ(small.Room(), 1u);
  const auto answers =
      small.GrantAll(kHolder, {{Held(1), epoch}, {Held(2), epoch}}, clock_.Steady());
  EXPECT_EQ(answers[0], LeaseTable::Grant::kGranted);
  EXPECT_EQ(answers[1], LeaseTable::Grant::kGranted);
  EXPECT_EQ(small.Room(), 0u);
  EXPECT_EQ(small.TakeExpired(clock_.Steady() + 1min, 10).size(), 2u);
}

TEST_F(LeaseTableTest, AppliedMemoryForgetsTheOldestAboveItsCapacity) {
  AppliedMemory memory(2);
  memory.Add({Held(1), Held(2), Held(3)});
  EXPECT_TRUE(memory.Among({Held(1)}).empty());
  EXPECT_EQ(memory.Among({Held(2), Held(3), Held(4)}).size(), 2u);
}

}  // namespace
}  // namespace carillon::scheduler
