// Driver of the contract of concurrency groups: some jobs of one group, and short forms of what
// happens to their runs.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

class GroupDriver : public StoreDriver {
 public:
  explicit GroupDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  static JobDefinition Grouped(OverlapPolicy policy = OverlapPolicy::kAllow) {
    JobDefinition definition = Manual();
    definition.concurrency_group = "db";
    definition.overlap_policy = policy;
    return definition;
  }
  void Limit(int64_t limit, WallTime now = kT0) {
    EXPECT_OK(groups.PutGroup("db", {.limit = limit}, now));
  }
  void Limit(int64_t limit, Duration per, WallTime now) {
    EXPECT_OK(groups.PutGroup("db", {.limit = limit, .per = per}, now));
  }
  void Edit(StoredJob& job, const JobDefinition& definition, WallTime now) {
    job = Replace(job, definition, now);
  }

  RunKey Due(const StoredJob& job) { return Execute(job, kT0).key; }
  ClaimRequest RequestFor(const StoredJob& job, const RunKey& key) {
    ClaimRequest request = ClaimOf(Get(key).row, ++token_);
    request.overlap = OverlapRulesOf(job.definition);
    request.group = job.definition.concurrency_group;
    return request;
  }
  ClaimReply Offer(const StoredJob& job, const RunKey& key, WallTime now) {
    return Claim(RequestFor(job, key), fence, now);
  }
  void ExpectOffer(const StoredJob& job, const RunKey& key, WallTime now, ClaimVerdict verdict) {
    EXPECT_EQ(Offer(job, key, now).verdict, verdict);
  }
  RunKey Started(const StoredJob& job, WallTime now) {
    const RunKey key = Due(job);
    ExpectOffer(job, key, now, ClaimVerdict::kAccepted);
    return key;
  }
  RunKey Queued(const StoredJob& job, WallTime now) {
    const RunKey key = Due(job);
    ExpectOffer(job, key, now, ClaimVerdict::kEnqueued);
    ExpectWaits(key);
    return key;
  }
  RunEffect End(const RunKey& key, RunState state, WallTime now) {
    return Apply(ReportOf(Get(key).row, state), fence, now);
  }
  // Admits in all groups, as the owner of all segments.
  std::vector<RunKey> Admit(WallTime now) { return AdmitAs(All(), now); }
  std::vector<RunKey> AdmitAs(const std::vector<SegmentId>& own, WallTime now) {
    std::vector<RunKey> admitted;
    for (const QueuedGroup& group : v(queues.ScanGroups(own, GroupNo{}, 100, now)).groups) {
      const AdmissionEffect effect = v(queues.AdmitGroup(group, FenceOf(group.segments), now));
      for (const RunRow& row : effect.admitted) {
        EXPECT_EQ(row, Get(row.key).row);
        EXPECT_GE(row.due, now);
        EXPECT_LE(row.due, now + kGroupAhead - kGroupLead);
        admitted.push_back(row.key);
      }
    }
    return admitted;
  }
  Fence FenceOf(const std::vector<SegmentId>& wanted) const {
    Fence part;
    for (const FencedSegment& held : fence) {
      if (std::find(wanted.begin(), wanted.end(), held.segment) != wanted.end()) {
        part.push_back(held);
      }
    }
    return part;
  }
  size_t Reclaim(WallTime now) {
    return v(queues.ReclaimSlots(v(queues.ScanUnusedSlots(All(), now, 100)), fence, now));
  }

  GroupDetail Detail(WallTime now = kT0) { return v(groups.GetGroup("db", 100, now)); }
  static std::vector<RunKey> KeysOf(const std::vector<GroupRun>& runs) {
    std::vector<RunKey> keys;
    for (const GroupRun& run : runs) keys.push_back(run.row.key);
    return keys;
  }
  std::vector<RunKey> Holders() { return KeysOf(Detail().holders); }
  std::vector<RunKey> QueuedKeys() { return KeysOf(Detail().queue); }
  void ExpectWaits(const RunKey& key) {
    const RunRow row = Get(key).row;
    EXPECT_EQ(row.state, RunState::kPending);
    EXPECT_EQ(row.due, kQueued);
    EXPECT_EQ(row.group, GroupNo{});
    const auto place = v(queues.PlaceOf(key));
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->group, "db");
  }
  // The group has neither holders nor a queue, and nobody waits anywhere.
  void ExpectEmpty() {
    EXPECT_EQ(Holders(), std::vector<RunKey>{});
    EXPECT_EQ(QueuedKeys(), std::vector<RunKey>{});
    EXPECT_EQ(Detail().group.running, 0);
    EXPECT_EQ(v(queues.CountQueued()), 0);
  }

  Fence fence;

 private:
  uint64_t token_ = 0;
};

template <typename Factory>
class GroupContract : public StoreContract<Factory> {
 protected:
  GroupDriver group_driver() { return GroupDriver(this->handle()); }
};
TYPED_TEST_SUITE(GroupContract, StoreFactories);

}  // namespace carillon::test
