// The contract of IdentityStore: the identity of the store, and the mark of its history.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class IdentityStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(IdentityStoreContract, StoreFactories);

TYPED_TEST(IdentityStoreContract, IdentityAndMarkStayTheSameAcrossARestart) {
  const StoreIdentity fresh = StoreDriver::v(this->driver().identity.Identify());
  EXPECT_EQ(fresh.segment_count, kSegments);
  EXPECT_FALSE(fresh.store_id.empty());
  EXPECT_FALSE(fresh.server_id.empty());
  EXPECT_EQ(fresh.mark, 0u);
  EXPECT_EQ(StoreDriver::v(this->driver().identity.AdvanceMark(fresh)), 1u);
  StoreIdentity before = StoreDriver::v(this->driver().identity.Identify());
  EXPECT_FALSE(before.software.empty());
  before.software = "an older version";  // which is the same store
  this->Reopen();
  EXPECT_EQ(StoreDriver::v(this->driver().identity.Identify()), before);
  EXPECT_EQ(before.mark, 1u);
}

TYPED_TEST(IdentityStoreContract, MarkMovesOnlyFromWhatWasSeen) {
  StoreDriver s = this->driver();
  const StoreIdentity seen = s.v(s.identity.Identify());
  EXPECT_EQ(s.v(s.identity.AdvanceMark(seen)), 1u);
  EXPECT_CODE(s.identity.AdvanceMark(seen), ErrorCode::kConflict);
  StoreIdentity now = s.v(s.identity.Identify());
  EXPECT_EQ(now.mark, 1u);
  EXPECT_EQ(s.v(s.identity.AdvanceMark(now)), 2u);
  now.mark = 2;
  StoreIdentity other = now;
  other.store_id = "another";
  EXPECT_CODE(s.identity.AdvanceMark(other), ErrorCode::kConflict);
  other = now;
  other.server_id = "another";
  EXPECT_CODE(s.identity.AdvanceMark(other), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.identity.Identify()), now);
}

TYPED_TEST(IdentityStoreContract, AcceptingFencesWhoeverOwned) {
  StoreDriver s = this->driver();
  const Fence before = s.Take(1, "m1", "i1");
  ASSERT_EQ(before.size(), kSegments);
  s.Create("a", s.Every(1s));
  const PlanBatch batch = s.BatchOf(kT0 + 3s, kT0);
  ASSERT_FALSE(batch.runs.empty());
  const StoreIdentity seen = s.v(s.identity.Identify());
  EXPECT_EQ(s.v(s.identity.Accept(seen, Epoch(1'000))), seen.mark + 1);
  for (const SegmentRecord& record : s.v(s.segments.ListSegments())) {
    EXPECT_EQ(record.epoch, Epoch(1'000));
    EXPECT_EQ(record.owner, MemberId("m1"));
  }
  EXPECT_CODE(s.firing.Plan(batch, before, kT0), ErrorCode::kFenced);
  // Accepting again with a lower epoch, as after a clock was set back: epochs still increase.
  const StoreIdentity again = s.v(s.identity.Identify());
  EXPECT_EQ(again.mark, seen.mark + 1);
  EXPECT_EQ(s.v(s.identity.Accept(again, Epoch(5))), again.mark + 1);
  EXPECT_EQ(s.v(s.segments.ListSegments())[0].epoch, Epoch(1'001));
  const Fence taken = s.Take(1, "m1", "i1");
  ASSERT_EQ(taken.size(), kSegments);
  EXPECT_EQ(taken[0].epoch, Epoch(1'002));
}

TYPED_TEST(IdentityStoreContract, OnlyWhatWasShownIsAccepted) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take(1, "m1", "i1");
  StoreIdentity shown = s.v(s.identity.Identify());
  ASSERT_OK(s.identity.AdvanceMark(shown));
  EXPECT_CODE(s.identity.Accept(shown, Epoch(1'000)), ErrorCode::kConflict);
  EXPECT_EQ(s.v(s.segments.ListSegments())[0].epoch, fence[0].epoch);
}

}  // namespace carillon::test
