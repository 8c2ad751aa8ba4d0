// Contract of concurrency groups: the ways in which a run leaves a group's queue or gives its slot
// back without an end of its attempt.
#pragma once

#include "tests/contract/store/group_driver.h"

namespace carillon::test {

template <typename Factory>
class GroupExitsContract : public StoreContract<Factory> {
 protected:
  GroupDriver group_driver() { return GroupDriver(this->handle()); }
};
TYPED_TEST_SUITE(GroupExitsContract, StoreFactories);

TYPED_TEST(GroupExitsContract, ACancelledRunLeavesTheQueueAndAnAdmittedOneItsSlot) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  const RunKey queued = s.Queued(job, kT0 + 1s);
  const RunKey admitted = s.Queued(job, kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(queued, {.now = kT0 + 2s})));
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{admitted});
  s.End(active, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.Admit(kT0 + 3s), std::vector<RunKey>{admitted});
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{admitted});
  EXPECT_TRUE(s.v(s.runs.CancelRun(admitted, {.now = kT0 + 4s})));
  s.ExpectEmpty();
}

TYPED_TEST(GroupExitsContract, APausedJobsRunsLeaveTheQueueAndTheirSlots) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  JobDefinition definition = s.Grouped();
  definition.retry_count = 1;
  StoredJob job = s.Create("a", definition);
  const RunKey retried = s.Started(job, kT0 + 1s);
  s.End(retried, RunState::kFailed, kT0 + 2s);
  const RunKey active = s.Started(job, kT0 + 3s);
  s.ExpectOffer(job, retried, kT0 + 1h, ClaimVerdict::kEnqueued);
  const RunKey fresh = s.Queued(job, kT0 + 1h);
  job = s.Pause(job, kT0 + 1h);
  EXPECT_EQ(s.Get(fresh).row.state, RunState::kSkipped);
  EXPECT_EQ(s.Get(retried).row.due, kNever);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{});
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{active});
  job = s.Resume(job, kT0 + 2h);
  EXPECT_EQ(s.Get(retried).row.due, kT0 + 2h);
  s.ExpectOffer(job, retried, kT0 + 2h, ClaimVerdict::kEnqueued);
  s.End(active, RunState::kCompleted, kT0 + 2h);
  EXPECT_EQ(s.Admit(kT0 + 2h), std::vector<RunKey>{retried});
  job = s.Pause(job, kT0 + 2h);
  s.ExpectEmpty();
  job = s.Resume(job, kT0 + 3h);
  s.ExpectOffer(job, retried, kT0 + 3h, ClaimVerdict::kAccepted);
}

TYPED_TEST(GroupExitsContract, ADeletedJobsRunsLeaveTheQueueAndTheirSlots) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob a = s.Create("a", s.Grouped());
  const StoredJob b = s.Create("b", s.Grouped());
  const RunKey active = s.Started(b, kT0 + 1s);
  s.Queued(a, kT0 + 1s);
  s.Queued(a, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 2s).size(), 1u);
  EXPECT_OK(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0 + 3s}));
  s.ExpectEmpty();
}

TYPED_TEST(GroupExitsContract, RunsOfAJobThatLeavesTheGroupAreDueAgain) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  const RunKey admitted = s.Queued(job, kT0 + 1s);
  const RunKey queued = s.Queued(job, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 2s), std::vector<RunKey>{admitted});
  s.Edit(job, s.Manual(), kT0 + 3s);
  s.ExpectEmpty();
  EXPECT_EQ(s.Get(queued).row.due, kT0 + 3s);
  s.ExpectOffer(job, queued, kT0 + 4s, ClaimVerdict::kAccepted);
  s.ExpectOffer(job, admitted, kT0 + 4s, ClaimVerdict::kAccepted);
  s.ExpectEmpty();
}

TYPED_TEST(GroupExitsContract, APartOfAJobThatLeavesTheGroupIsDueAgain) {
  for (const OverlapPolicy policy : {OverlapPolicy::kAllow, OverlapPolicy::kSkip}) {
    GroupDriver s = this->group_driver();
    s.Limit(0);
    JobDefinition definition = s.Grouped(policy);
    definition.shards = Shards{.total = 2};
    StoredJob job = s.Create(policy == OverlapPolicy::kAllow ? "a" : "b", definition);
    const RunKey own = s.Due(job);
    ClaimRequest begin = s.RequestFor(job, own);
    begin.group = "";
    EXPECT_EQ(s.v(s.workflows.BeginParts({begin}, s.fence, kT0)).verdict, ClaimVerdict::kAccepted);
    const auto offer = [&](uint32_t shard, WallTime now) {
      ClaimRequest request = s.RequestFor(job, {own.fire, own.schedule_id, shard});
      request.overlap.policy = OverlapPolicy::kAllow;  // the own run has the slot
      return s.Claim(request, s.fence, now).verdict;
    };
    for (const uint32_t shard : {1U, 2U}) {
      EXPECT_EQ(offer(shard, kT0 + 1s), ClaimVerdict::kEnqueued);
      s.ExpectWaits({own.fire, own.schedule_id, shard});
    }
    definition.concurrency_group = "";
    s.Edit(job, definition, kT0 + 2s);
    EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{});
    for (const uint32_t shard : {1U, 2U}) {
      EXPECT_EQ(s.Get({own.fire, own.schedule_id, shard}).row.due, kT0 + 2s);
      EXPECT_EQ(offer(shard, kT0 + 2s), ClaimVerdict::kAccepted);
    }
    s.ExpectEmpty();
  }
}

TYPED_TEST(GroupExitsContract, ARunWhoseSlotIsReservedAheadIsDueWhenItsJobLeavesTheGroup) {
  GroupDriver s = this->group_driver();
  s.Limit(1, 10s, kT0);
  StoredJob job = s.Create("a", s.Grouped());
  s.End(s.Started(job, kT0 + 1s), RunState::kCompleted, kT0 + 1s);
  const RunKey waits = s.Queued(job, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 10s), std::vector<RunKey>{waits});
  s.Edit(job, s.Manual(), kT0 + 10s);
  s.ExpectEmpty();
  s.ExpectOffer(job, waits, kT0 + 11s - kGroupLead, ClaimVerdict::kAccepted);
}

TYPED_TEST(GroupExitsContract, AJobThatMovesToAnotherGroupWaitsThere) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  s.v(s.groups.PutGroup("api", {.limit = 0}, kT0));
  StoredJob job = s.Create("a", s.Grouped(OverlapPolicy::kQueueAll));
  const StoredJob other = s.Create("b", s.Grouped());
  const RunKey active = s.Started(other, kT0 + 1s);
  const RunKey moves = s.Queued(job, kT0 + 1s);
  JobDefinition moved = s.Grouped(OverlapPolicy::kQueueAll);
  moved.concurrency_group = "api";
  s.Edit(job, moved, kT0 + 2s);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{});
  s.ExpectOffer(job, moves, kT0 + 3s, ClaimVerdict::kEnqueued);
  const auto place = s.v(s.queues.PlaceOf(moves));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->group, "api");
  // A running attempt keeps the slot of the group in which it started.
  StoredJob running = other;
  s.Edit(running, moved, kT0 + 4s);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{active});
  s.End(active, RunState::kCompleted, kT0 + 5s);
  s.Limit(1, kT0 + 5s);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{});
}

// A run that is queued for its job meanwhile does not hold it up, even if its key is earlier.
TYPED_TEST(GroupExitsContract, ARunKeepsTheSlotOfItsJobWhenTheJobLeavesTheGroup) {
  GroupDriver s = this->group_driver();
  s.v(s.groups.PutGroup("api", {.limit = 1}, kT0));
  for (const std::string next : {"", "api"}) {
    SCOPED_TRACE(next);
    s.Limit(0);
    StoredJob job = s.Create("to-" + next, s.Grouped(OverlapPolicy::kQueueAll));
    const RunKey earlier = s.Due(job);
    const RunKey waits = s.Queued(job, kT0 + 1s);
    JobDefinition moved = s.Grouped(OverlapPolicy::kQueueAll);
    moved.concurrency_group = next;
    s.Edit(job, moved, kT0 + 2s);
    s.ExpectOffer(job, earlier, kT0 + 3s, ClaimVerdict::kEnqueued);
    EXPECT_EQ(s.v(s.queues.PlaceOf(earlier))->group, "");
    const JobQueue queue = s.v(s.queues.ReadQueue(job.job_id, 10));
    ASSERT_EQ(queue.holders.size(), 1u);
    EXPECT_EQ(queue.holders[0].key, waits);
    s.ExpectOffer(job, waits, kT0 + 3s, ClaimVerdict::kAccepted);
    s.End(waits, RunState::kCompleted, kT0 + 4s);
    const AdmissionEffect effect =
        s.v(s.queues.Admit({job.job_no, job.segment}, s.fence, kT0 + 4s));
    ASSERT_EQ(effect.admitted.size(), 1u);
    s.ExpectOffer(job, earlier, kT0 + 4s, ClaimVerdict::kAccepted);
    s.End(earlier, RunState::kCompleted, kT0 + 5s);
  }
}

TYPED_TEST(GroupExitsContract, AQueuedRunIsSkippedAfterItsQueueTimeout) {
  GroupDriver s = this->group_driver();
  s.Limit(0);
  JobDefinition definition = s.Grouped();
  definition.queue_timeout_s = 10;
  const StoredJob job = s.Create("a", definition);
  const RunKey key = s.Queued(job, kT0 + 1s);
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), kT0 + 10s, 10)).empty());
  const auto expired = s.v(s.queues.ScanExpired(s.All(), kT0 + 11s, 10));
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(s.v(s.firing.Skip(expired, s.fence, kT0 + 11s)).size(), 1u);
  EXPECT_EQ(s.Get(key).result.reason, reason::kQueueTimeout);
  s.ExpectEmpty();
}

TYPED_TEST(GroupExitsContract, AnAdmittedRunThatNobodyClaimsGivesItsSlotBackAndStaysDue) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  const RunKey stuck = s.Queued(job, kT0 + 1s);
  const RunKey next = s.Queued(job, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 2s), std::vector<RunKey>{stuck});
  EXPECT_EQ(s.Reclaim(kT0 + 31s), 0u);
  EXPECT_EQ(s.Reclaim(kT0 + 32s), 1u);
  EXPECT_EQ(s.Reclaim(kT0 + 32s), 0u);
  EXPECT_EQ(s.Get(stuck).row.due, kT0 + 2s);
  EXPECT_EQ(s.Admit(kT0 + 32s), std::vector<RunKey>{next});
  s.ExpectOffer(job, stuck, kT0 + 33s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{stuck});
}

TYPED_TEST(GroupExitsContract, AClaimedRunKeepsItsSlotHoweverLongItRuns) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey active = s.Started(job, kT0 + 1s);
  EXPECT_EQ(s.Reclaim(kT0 + 24h), 0u);
  const RunKey next = s.Queued(job, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 24h);
  EXPECT_EQ(s.Admit(kT0 + 24h), std::vector<RunKey>{next});
  s.ExpectOffer(job, next, kT0 + 24h, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Reclaim(kT0 + 48h), 0u);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{next});
}

TYPED_TEST(GroupExitsContract, ARepeatedClaimIsAcceptedAgainAndTakesNoSecondSlot) {
  GroupDriver s = this->group_driver();
  s.Limit(2);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey key = s.Due(job);
  const ClaimRequest request = s.RequestFor(job, key);
  EXPECT_EQ(s.Claim(request, s.fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Claim(request, s.fence, kT0 + 2s).verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(s.Detail().group.running, 1);
}

}  // namespace carillon::test
