// The contract of SegmentStore: ownership of segments; only the owner can write (P5).
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class SegmentStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(SegmentStoreContract, StoreFactories);

TYPED_TEST(SegmentStoreContract, ClusterTimeDoesNotGoBack) {
  StoreDriver s = this->driver();
  const WallTime first = s.v(s.segments.Now());
  EXPECT_GE(s.v(s.segments.Now()), first);
  EXPECT_GT(ToUnixMicros(first), 0);
}

TYPED_TEST(SegmentStoreContract, NewStoreHasNoOwners) {
  StoreDriver s = this->driver();
  const std::vector<SegmentRecord> all = s.v(s.segments.ListSegments());
  ASSERT_EQ(all.size(), kSegments);
  for (uint32_t i = 0; i < kSegments; ++i) {
    EXPECT_EQ(all[i].segment, SegmentId(i));
    EXPECT_TRUE(all[i].owner.empty());
  }
}

TYPED_TEST(SegmentStoreContract, TakeRaisesTheEpochAndNamesTheOwner) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take(1, "m1", "i1");
  ASSERT_EQ(fence.size(), kSegments);
  const std::vector<SegmentRecord> records = s.v(s.segments.ReadEpochs(s.All()));
  ASSERT_EQ(records.size(), kSegments);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].owner, MemberId("m1"));
    EXPECT_EQ(records[i].incarnation, Incarnation("i1"));
    EXPECT_EQ(records[i].epoch, fence[i].epoch);
    EXPECT_EQ(records[i].assign_gen, Generation(1));
  }
}

TYPED_TEST(SegmentStoreContract, OlderGenerationTakesNothing) {
  StoreDriver s = this->driver();
  const Fence newer = s.Take(5, "m1", "i1");
  EXPECT_TRUE(s.Take(4, "m2", "i2").empty());
  EXPECT_TRUE(s.Take(4, "m1", "i1").empty());
  EXPECT_EQ(s.v(s.segments.ReadEpochs(s.All()))[0].epoch, newer[0].epoch);
}

TYPED_TEST(SegmentStoreContract, SameGenerationIsForTheSameProcessOnly) {
  StoreDriver s = this->driver();
  const Fence first = s.Take(5, "m1", "i1");
  EXPECT_TRUE(s.Take(5, "m2", "i2").empty());
  EXPECT_TRUE(s.Take(5, "m1", "i2").empty());  // the same member, restarted
  const Fence again = s.Take(5, "m1", "i1");
  ASSERT_EQ(again.size(), kSegments);
  EXPECT_GT(again[0].epoch, first[0].epoch);
}

TYPED_TEST(SegmentStoreContract, NewerGenerationTakesOver) {
  StoreDriver s = this->driver();
  const Fence first = s.Take(5, "m1", "i1");
  const Fence second = s.Take(6, "m2", "i2");
  ASSERT_EQ(second.size(), kSegments);
  EXPECT_GT(second[0].epoch, first[0].epoch);
  EXPECT_EQ(s.v(s.segments.ReadEpochs(s.All()))[0].owner, MemberId("m2"));
}

TYPED_TEST(SegmentStoreContract, TakeTellsTheLongestLeaseOfOwnersBefore) {
  StoreDriver s = this->driver();
  const auto take = [&](uint64_t generation, const std::string& member, Duration lease) {
    const TakenSegments taken = s.v(s.segments.Take({.member = MemberId(member),
                                                     .incarnation = Incarnation(member),
                                                     .generation = Generation(generation),
                                                     .segments = s.All(),
                                                     .lease = lease}));
    EXPECT_EQ(taken.fence.size(), kSegments);
    return taken.lease_before;
  };
  EXPECT_EQ(take(1, "m1", 60s), Duration{});
  EXPECT_EQ(take(2, "m2", 20s), 60s);
  EXPECT_EQ(take(2, "m2", 20s), 60s) << "again, after an unknown outcome";
  EXPECT_EQ(take(3, "m3", 10s), 60s) << "of the owner before the one before";
  const SegmentRecord third = s.v(s.segments.ReadEpochs(s.All())).at(1);
  EXPECT_EQ(third.lease_before, 60s);
  EXPECT_EQ(third.lease, 10s);
  EXPECT_GT(third.taken, WallTime{});
}

TYPED_TEST(SegmentStoreContract, TakeTellsTheLongestLeaseOfAllThatItTook) {
  StoreDriver s = this->driver();
  const auto take = [&](uint64_t generation, const std::vector<SegmentId>& segments,
                        Duration lease) {
    return s
        .v(s.segments.Take({.member = MemberId("m1"),
                            .incarnation = Incarnation("i1"),
                            .generation = Generation(generation),
                            .segments = segments,
                            .lease = lease}))
        .lease_before;
  };
  take(1, {SegmentId(0)}, 20s);
  take(1, {SegmentId(1)}, 60s);
  take(1, {SegmentId(2)}, 30s);
  EXPECT_EQ(take(2, {SegmentId(0), SegmentId(2)}, 20s), 30s);
  EXPECT_EQ(take(3, {SegmentId(0), SegmentId(1)}, 20s), 60s);
  EXPECT_EQ(take(1, {SegmentId(2)}, 20s), Duration{}) << "of an older generation: not taken";
}

TYPED_TEST(SegmentStoreContract, ReleaseIsSeenUntilTheNextTake) {
  StoreDriver s = this->driver();
  EXPECT_TRUE(s.v(s.segments.ListSegments())[0].released);
  const Fence first = s.Take(5, "m1", "i1");
  EXPECT_FALSE(s.v(s.segments.ListSegments())[0].released);
  ASSERT_TRUE(s.segments.Release({first[0], first[2]}).ok());
  const std::vector<SegmentRecord> records = s.v(s.segments.ListSegments());
  EXPECT_TRUE(records[0].released);
  EXPECT_FALSE(records[1].released);
  EXPECT_TRUE(records[2].released);
  EXPECT_EQ(records[0].epoch, first[0].epoch);
  s.Take(6, "m2", "i2");
  EXPECT_FALSE(s.v(s.segments.ListSegments())[0].released);
}

TYPED_TEST(SegmentStoreContract, ReleaseOfAnEpochThatIsOverChangesNothing) {
  StoreDriver s = this->driver();
  const Fence first = s.Take(5, "m1", "i1");
  s.Take(6, "m2", "i2");
  ASSERT_TRUE(s.segments.Release(first).ok());
  EXPECT_FALSE(s.v(s.segments.ListSegments())[0].released);
}

TYPED_TEST(SegmentStoreContract, TakeLeavesOutWhatItMayNotHave) {
  StoreDriver s = this->driver();
  ASSERT_EQ(s.v(s.segments.Take({MemberId("m2"), Incarnation("i2"), Generation(9), {SegmentId(1)}}))
                .fence.size(),
            1u);
  const Fence rest = s.Take(8, "m1", "i1");
  ASSERT_EQ(rest.size(), kSegments - 1);
  for (const FencedSegment& held : rest) EXPECT_NE(held.segment, SegmentId(1));
}

TYPED_TEST(SegmentStoreContract, OwnershipSurvivesARestart) {
  const Fence fence = this->driver().Take(3, "m1", "i1");
  this->Reopen();
  StoreDriver s = this->driver();
  const std::vector<SegmentRecord> records = s.v(s.segments.ReadEpochs(s.All()));
  ASSERT_EQ(records.size(), kSegments);
  EXPECT_EQ(records[2].epoch, fence[2].epoch);
  EXPECT_EQ(records[2].owner, MemberId("m1"));
}

TYPED_TEST(SegmentStoreContract, ReadEpochsAnswersOnlyWhatWasAsked) {
  StoreDriver s = this->driver();
  s.Take();
  const std::vector<SegmentRecord> records = s.v(s.segments.ReadEpochs({SegmentId(2)}));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].segment, SegmentId(2));
}

// ---- a deposed owner cannot write ---------------------------------------------------------------

TYPED_TEST(SegmentStoreContract, DeposedOwnerCannotPlan) {
  StoreDriver s = this->driver();
  const Fence old = s.Take(1, "m1", "i1");
  const StoredJob job = s.Create("a", s.Every(1s));
  const PlanBatch batch = s.BatchOf(kT0 + 3s, kT0);
  ASSERT_EQ(batch.runs.size(), 3u);
  const Fence fresh = s.Take(2, "m2", "i2");
  EXPECT_CODE(s.firing.Plan(batch, old, kT0), ErrorCode::kFenced);
  EXPECT_TRUE(s.Pending(kT0 + 1h).empty());
  EXPECT_OK(s.firing.Plan(batch, fresh, kT0));
}

TYPED_TEST(SegmentStoreContract, DeposedOwnerCannotClaimSkipApplyOrLose) {
  StoreDriver s = this->driver();
  const Fence old = s.Take(1, "m1", "i1");
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow waiting = s.Execute(job, kT0);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, old, kT0 + 1s);
  s.Take(2, "m2", "i2");
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(waiting, 2)}, old, kT0 + 2s), ErrorCode::kFenced);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(running, 1)}, old, kT0 + 2s), ErrorCode::kFenced);
  EXPECT_CODE(s.firing.Skip({{waiting.key, waiting.segment, waiting.job_no, 1, waiting.def_version,
                              reason::kMisfire}},
                            old, kT0 + 2s),
              ErrorCode::kFenced);
  EXPECT_CODE(s.firing.ApplyResults({s.ReportOf(running, RunState::kCompleted)}, old, kT0 + 2s),
              ErrorCode::kFenced);
  EXPECT_CODE(s.firing.MarkLost({s.LostOf(running)}, old, kT0 + 2s), ErrorCode::kFenced);
  EXPECT_EQ(s.Get(waiting.key).row, waiting);
  EXPECT_EQ(s.Get(running.key).row, running);
}

TYPED_TEST(SegmentStoreContract, OneStaleSegmentFencesTheWholeBatch) {
  StoreDriver s = this->driver();
  Fence fence = s.Take(1, "m1", "i1");
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  ASSERT_NE(a.segment, b.segment);
  const RunRow ours = s.Execute(a, kT0);
  const RunRow theirs = s.Execute(b, kT0);
  ASSERT_EQ(s.v(s.segments.Take({MemberId("m2"), Incarnation("i2"), Generation(2), {b.segment}}))
                .fence.size(),
            1u);
  EXPECT_CODE(s.firing.Claim({s.ClaimOf(ours, 1), s.ClaimOf(theirs, 2)}, fence, kT0 + 1s),
              ErrorCode::kFenced);
  EXPECT_EQ(s.Get(ours.key).row.state, RunState::kPending);
  std::erase_if(fence, [&b](const FencedSegment& held) { return held.segment == b.segment; });
  EXPECT_EQ(s.Claim(s.ClaimOf(ours, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
}

}  // namespace carillon::test
