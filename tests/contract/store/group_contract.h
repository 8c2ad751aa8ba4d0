// Contract of GroupStore, and of the claims, results and admissions of jobs that share a group.
#pragma once

#include "tests/contract/store/group_driver.h"

namespace carillon::test {

// ---- groups -------------------------------------------------------------------------------------

TYPED_TEST(GroupContract, AGroupIsMadeChangedListedAndDeleted) {
  GroupDriver s = this->group_driver();
  EXPECT_CODE(s.groups.GetGroup("db", 10, kT0), ErrorCode::kNotFound);
  const Group made = s.v(s.groups.PutGroup("db", {.limit = 2}, kT0));
  EXPECT_EQ(made.name, "db");
  EXPECT_EQ(made.limit, 2);
  EXPECT_EQ(made.updated, kT0);
  s.v(s.groups.PutGroup("api", {.limit = 0}, kT0));
  EXPECT_EQ(s.v(s.groups.PutGroup("db", {.limit = 5}, kT0 + 1s)).limit, 5);
  const auto listed = s.v(s.groups.ListGroups(kT0));
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].name, "api");
  EXPECT_EQ(listed[1].name, "db");
  EXPECT_EQ(listed[1].updated, kT0 + 1s);
  EXPECT_OK(s.groups.DeleteGroup("api"));
  EXPECT_CODE(s.groups.DeleteGroup("api"), ErrorCode::kNotFound);
  EXPECT_EQ(s.v(s.groups.ListGroups(kT0)).size(), 1u);
}

TYPED_TEST(GroupContract, AGroupThatAJobNamesIsNotDeleted) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  StoredJob job = s.Create("a", s.Grouped());
  EXPECT_EQ(s.Detail().group.jobs, 1);
  EXPECT_CODE(s.groups.DeleteGroup("db"), ErrorCode::kConflict);
  s.Edit(job, s.Manual(), kT0 + 1s);
  EXPECT_EQ(s.Detail().group.jobs, 0);
  const StoredJob other = s.Create("b", s.Grouped());
  EXPECT_OK(s.jobs.DeleteJob(other.job_id, other.version, {.now = kT0 + 2s}));
  EXPECT_OK(s.groups.DeleteGroup("db"));
}

TYPED_TEST(GroupContract, AJobMayNotNameAnUnknownGroup) {
  GroupDriver s = this->group_driver();
  EXPECT_CODE(s.jobs.CreateJob(JobId("a"), s.Grouped(), {.now = kT0}), ErrorCode::kInvalid);
  EXPECT_CODE(
      s.jobs.CreateJobs({{JobId("a"), s.Manual()}, {JobId("b"), s.Grouped()}}, {.now = kT0}),
      ErrorCode::kInvalid);
  const StoredJob job = s.Create("a", s.Manual());
  EXPECT_CODE(s.jobs.ReplaceJob(job.job_id, job.version, s.Grouped(), {.now = kT0}),
              ErrorCode::kInvalid);
  s.Limit(1);
  const auto made =
      s.v(s.jobs.CreateJobs({{JobId("b"), s.Grouped()}, {JobId("c"), s.Manual()}}, {.now = kT0}));
  EXPECT_EQ(made.size(), 2u);
  EXPECT_EQ(s.Detail().group.jobs, 1);
}

// ---- the limit ----------------------------------------------------------------------------------

TYPED_TEST(GroupContract, TheLimitCountsTheRunsOfAllJobsOfTheGroup) {
  GroupDriver s = this->group_driver();
  s.Limit(2);
  const StoredJob a = s.Create("a", s.Grouped());
  const StoredJob b = s.Create("b", s.Grouped());
  const StoredJob c = s.Create("c", s.Manual());
  const RunKey first = s.Started(a, kT0 + 1s);
  const RunKey second = s.Started(b, kT0 + 1s);
  const RunKey third = s.Queued(a, kT0 + 2s);
  s.Started(c, kT0 + 2s);
  EXPECT_EQ(s.Holders(), (std::vector<RunKey>{first, second}));
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{third});
  EXPECT_EQ(s.Detail().holders.at(0).row, s.Get(first).row);
  EXPECT_EQ(s.Detail().queue.at(0).row, s.Get(third).row);
  EXPECT_EQ(s.Admit(kT0 + 2s), std::vector<RunKey>{});
  EXPECT_TRUE(s.End(first, RunState::kCompleted, kT0 + 3s).freed_slot);
  EXPECT_EQ(s.Admit(kT0 + 4s), std::vector<RunKey>{third});
  EXPECT_EQ(s.Admit(kT0 + 4s), std::vector<RunKey>{});
  s.ExpectOffer(a, third, kT0 + 5s, ClaimVerdict::kAccepted);
  s.End(second, RunState::kFailed, kT0 + 6s);
  s.End(third, RunState::kCompleted, kT0 + 6s);
  s.ExpectEmpty();
}

TYPED_TEST(GroupContract, TheLimitIsKeptWithinOneBatchTooByPriority) {
  GroupDriver s = this->group_driver();
  s.Limit(2);
  JobDefinition urgent = s.Grouped();
  urgent.priority = 90;
  const StoredJob low = s.Create("a", s.Grouped());
  const StoredJob high = s.Create("b", urgent);
  const RunKey low_first = s.Due(low);
  const RunKey low_second = s.Due(low);
  const RunKey high_only = s.Due(high);
  const auto replies = s.v(s.firing.Claim(
      {s.RequestFor(low, low_second), s.RequestFor(low, low_first), s.RequestFor(high, high_only)},
      s.fence, kT0 + 1s));
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(replies[1].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(replies[2].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{low_second});
}

TYPED_TEST(GroupContract, NothingStartsInAGroupWithLimitZero) {
  GroupDriver s = this->group_driver();
  s.Limit(0);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey key = s.Queued(job, kT0 + 1s);
  EXPECT_EQ(s.Admit(kT0 + 2s), std::vector<RunKey>{});
  s.Limit(1, kT0 + 3s);
  EXPECT_EQ(s.Admit(kT0 + 4s), std::vector<RunKey>{key});
}

TYPED_TEST(GroupContract, ALoweredLimitLetsAttemptsRunAndStartsNoneUntilEnoughHaveEnded) {
  GroupDriver s = this->group_driver();
  s.Limit(3);
  const StoredJob job = s.Create("a", s.Grouped());
  const RunKey first = s.Started(job, kT0 + 1s);
  const RunKey second = s.Started(job, kT0 + 1s);
  const RunKey third = s.Started(job, kT0 + 1s);
  s.Limit(1, kT0 + 2s);
  const RunKey waits = s.Queued(job, kT0 + 3s);
  // Whichever of the three ends first, those that are left are too many.
  s.End(first, RunState::kCompleted, kT0 + 4s);
  EXPECT_EQ(s.Admit(kT0 + 4s), std::vector<RunKey>{});
  const RunKey other = s.Queued(job, kT0 + 4s);
  s.End(second, RunState::kCompleted, kT0 + 5s);
  EXPECT_EQ(s.Admit(kT0 + 5s), std::vector<RunKey>{});
  s.End(third, RunState::kCompleted, kT0 + 6s);
  EXPECT_EQ(s.Admit(kT0 + 6s), std::vector<RunKey>{waits});
  s.ExpectWaits(other);
  s.Limit(2, kT0 + 7s);
  EXPECT_EQ(s.Admit(kT0 + 7s), std::vector<RunKey>{other});
}

TYPED_TEST(GroupContract, AFreeSlotAboveTheOthersIsNotGivenAwayWhileTooManyRun) {
  GroupDriver s = this->group_driver();
  s.Limit(4);
  const StoredJob job = s.Create("a", s.Grouped());
  std::vector<RunKey> keys;
  for (int i = 0; i < 4; ++i) keys.push_back(s.Started(job, kT0 + 1s));
  s.Limit(2, kT0 + 2s);
  s.End(keys[0], RunState::kCompleted, kT0 + 3s);
  s.End(keys[1], RunState::kCompleted, kT0 + 3s);
  // The other two hold the slots with the highest numbers.
  const RunKey next = s.Queued(job, kT0 + 4s);
  s.End(keys[3], RunState::kCompleted, kT0 + 5s);
  EXPECT_EQ(s.Admit(kT0 + 6s), std::vector<RunKey>{next});
  s.Queued(job, kT0 + 6s);
  EXPECT_EQ(s.Detail().group.running, 2);
}

// ---- order --------------------------------------------------------------------------------------

TYPED_TEST(GroupContract, ThePriorityThenTheKeyOrdersTheQueue) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  JobDefinition urgent = s.Grouped();
  urgent.priority = 90;
  StoredJob low = s.Create("a", s.Grouped());
  const StoredJob high = s.Create("b", urgent);
  const RunKey active = s.Started(low, kT0 + 1s);
  const RunKey first = s.Queued(low, kT0 + 1s);
  const RunKey second = s.Queued(low, kT0 + 1s);
  const RunKey overtakes = s.Queued(high, kT0 + 2s);
  EXPECT_EQ(s.QueuedKeys(), (std::vector<RunKey>{overtakes, first, second}));
  const auto place = s.v(s.queues.PlaceOf(first));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->position, 2);
  EXPECT_EQ(place->length, 3);
  EXPECT_EQ(place->since, kT0 + 1s);
  JobDefinition raised = s.Grouped();
  raised.priority = 95;
  s.Edit(low, raised, kT0 + 3s);
  // Runs that a person started keep the priority that they were given.
  EXPECT_EQ(s.QueuedKeys(), (std::vector<RunKey>{overtakes, first, second}));
  s.End(active, RunState::kCompleted, kT0 + 4s);
  EXPECT_EQ(s.Admit(kT0 + 4s), std::vector<RunKey>{overtakes});
}

TYPED_TEST(GroupContract, AClaimDoesNotOvertakeAQueuedRun) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob a = s.Create("a", s.Grouped());
  const StoredJob b = s.Create("b", s.Grouped());
  const RunKey active = s.Started(a, kT0 + 1s);
  const RunKey early = s.Due(b);
  const RunKey waits = s.Queued(a, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  const RunKey late = s.Queued(b, kT0 + 3s);  // although a slot is free
  s.ExpectOffer(b, early, kT0 + 3s, ClaimVerdict::kAccepted);
  s.End(early, RunState::kCompleted, kT0 + 4s);
  EXPECT_EQ(s.Admit(kT0 + 5s), std::vector<RunKey>{waits});
  s.ExpectWaits(late);
}

TYPED_TEST(GroupContract, AnOwnerAdmitsOnlyItsRunsAndKeepsTheOrder) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob a = s.Create("a", s.Grouped());
  const StoredJob b = s.Create("b", s.Grouped());
  ASSERT_NE(a.segment, b.segment);
  const RunKey active = s.Started(b, kT0 + 1s);
  const RunKey of_a = s.Queued(a, kT0 + 1s);
  const RunKey of_b = s.Queued(b, kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  EXPECT_TRUE(s.v(s.queues.ScanGroups({b.segment}, GroupNo{}, 10, kT0)).empty());
  EXPECT_EQ(s.AdmitAs({b.segment}, kT0 + 3s), std::vector<RunKey>{});
  EXPECT_EQ(s.AdmitAs({a.segment}, kT0 + 3s), std::vector<RunKey>{of_a});
  s.Limit(2, kT0 + 4s);
  EXPECT_EQ(s.AdmitAs({b.segment}, kT0 + 4s), std::vector<RunKey>{of_b});
}

// ---- a slot belongs to the attempt --------------------------------------------------------------

TYPED_TEST(GroupContract, ARunHoldsNoSlotBetweenTwoAttempts) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  JobDefinition definition = s.Grouped(OverlapPolicy::kQueueAll);
  definition.retry_count = 1;
  const StoredJob a = s.Create("a", definition);
  const StoredJob b = s.Create("b", s.Grouped());
  const RunKey tried = s.Started(a, kT0 + 1s);
  const RunKey waits = s.Queued(b, kT0 + 1s);
  EXPECT_TRUE(s.End(tried, RunState::kFailed, kT0 + 2s).freed_slot);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 3s), std::vector<RunKey>{waits});
  s.ExpectOffer(b, waits, kT0 + 3s, ClaimVerdict::kAccepted);
  s.ExpectOffer(a, tried, kT0 + 1h, ClaimVerdict::kEnqueued);
  s.ExpectWaits(tried);
  // It keeps the slot of its job: another run of the job waits for that, not for the group.
  const RunKey behind = s.Due(a);
  s.ExpectOffer(a, behind, kT0 + 1h, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.v(s.queues.PlaceOf(behind))->group, "");
  s.End(waits, RunState::kCompleted, kT0 + 1h);
  EXPECT_EQ(s.Admit(kT0 + 1h), std::vector<RunKey>{tried});
  s.ExpectOffer(a, tried, kT0 + 1h, ClaimVerdict::kAccepted);
  s.End(tried, RunState::kCompleted, kT0 + 1h + 1s);
  s.Limit(1, kT0 + 1h + 1s);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{});
}

TYPED_TEST(GroupContract, AHeldRunKeepsItsSlotUntilAPersonDecides) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  JobDefinition definition = s.Grouped();
  definition.on_lost = OnLost::kHold;
  const StoredJob job = s.Create("a", definition);
  const RunKey key = s.Started(job, kT0 + 1s);
  const auto effects = s.Lose(s.Get(key).row, s.fence, kT0 + 2s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_FALSE(effects[0].freed_slot);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{key});
  const RunKey waits = s.Queued(job, kT0 + 3s);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s, .confirm_overlap = true}));
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{});
  EXPECT_EQ(s.Admit(kT0 + 5s), std::vector<RunKey>{waits});
}

TYPED_TEST(GroupContract, ALostAttemptFreesItsSlot) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  JobDefinition definition = s.Grouped();
  definition.retry_count = 3;
  const StoredJob job = s.Create("a", definition);
  const RunKey lost = s.Started(job, kT0 + 1s);
  const RunKey waits = s.Queued(job, kT0 + 1s);
  const auto effects = s.Lose(s.Get(lost).row, s.fence, kT0 + 2s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_TRUE(effects[0].freed_slot);
  EXPECT_EQ(s.Admit(kT0 + 3s), std::vector<RunKey>{waits});
}

// ---- with the slots of the job ------------------------------------------------------------------

TYPED_TEST(GroupContract, ARunThatWaitsForItsGroupHoldsTheSlotOfItsJob) {
  GroupDriver s = this->group_driver();
  s.Limit(1);
  const StoredJob a = s.Create("a", s.Grouped(OverlapPolicy::kQueueAll));
  const StoredJob b = s.Create("b", s.Grouped());
  const RunKey active = s.Started(b, kT0 + 1s);
  const RunKey waits = s.Queued(a, kT0 + 1s);
  const RunKey behind = s.Due(a);
  s.ExpectOffer(a, behind, kT0 + 2s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.v(s.queues.PlaceOf(behind))->group, "");
  const JobQueue queue = s.v(s.queues.ReadQueue(a.job_id, 10));
  EXPECT_EQ(queue.length, 1);
  ASSERT_EQ(queue.holders.size(), 1u);
  EXPECT_EQ(queue.holders[0].key, waits);
  EXPECT_TRUE(s.v(s.queues.ScanQueues(s.All(), JobNo{}, 10)).empty());
  s.End(active, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.Admit(kT0 + 4s), std::vector<RunKey>{waits});
  s.ExpectOffer(a, waits, kT0 + 4s, ClaimVerdict::kAccepted);
  s.End(waits, RunState::kCompleted, kT0 + 5s);
  const AdmissionEffect effect = s.v(s.queues.Admit({a.job_no, a.segment}, s.fence, kT0 + 6s));
  ASSERT_EQ(effect.admitted.size(), 1u);
  s.ExpectOffer(a, behind, kT0 + 6s, ClaimVerdict::kAccepted);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{behind});
}

TYPED_TEST(GroupContract, ARunThatMakesRoomLeavesTheQueueOfItsGroup) {
  GroupDriver s = this->group_driver();
  s.Limit(0);
  const StoredJob job = s.Create("a", s.Grouped(OverlapPolicy::kCancelPrevious));
  const RunKey replaced = s.Queued(job, kT0 + 1s);
  const RunKey newest = s.Due(job);
  s.ExpectOffer(job, newest, kT0 + 2s, ClaimVerdict::kEnqueued);
  s.v(s.queues.Admit({job.job_no, job.segment}, s.fence, kT0 + 3s));
  EXPECT_EQ(s.Get(replaced).row.state, RunState::kSkipped);
  s.v(s.queues.Admit({job.job_no, job.segment}, s.fence, kT0 + 3s));
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{});
  s.ExpectOffer(job, newest, kT0 + 4s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{newest});
}

}  // namespace carillon::test
