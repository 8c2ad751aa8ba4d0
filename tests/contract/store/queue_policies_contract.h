// Contract of QueueStore: policies that end the previous run, edits of the policy, reads.
#pragma once

#include "tests/contract/store/queue_driver.h"

namespace carillon::test {

// ---- policies that end the previous run ---------------------------------------------------------

inline void ExpectActiveRunIsEnded(StoreHandle& store, OverlapPolicy policy, CancelMode mode) {
  QueueDriver s(store);
  s.Make(s.Limited(policy));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 2s);
  const AdmissionEffect effect = s.Admit(kT0 + 3s);
  EXPECT_TRUE(effect.admitted.empty());
  EXPECT_EQ(effect.cancels_requested, 1u);
  EXPECT_EQ(effect.cancelled + effect.replaced, 0u);
  EXPECT_EQ(s.Get(active).row.cancel_requested, mode);
  s.ExpectQueued(waits);
  // It is asked once.
  EXPECT_EQ(s.Admit(kT0 + 4s).cancels_requested, 0u);
  EXPECT_TRUE(s.End(active, RunState::kCancelled, kT0 + 5s).freed_slot);
  EXPECT_EQ(s.Get(active).result.error, ReplacedSentence(OverlapRulesOf(s.job.definition), waits));
  s.ExpectAdmitted(kT0 + 6s, {waits});
}

TYPED_TEST(QueueContract, CancelPreviousAsksTheActiveRunToStop) {
  ExpectActiveRunIsEnded(this->handle(), OverlapPolicy::kCancelPrevious, CancelMode::kGraceful);
}

TYPED_TEST(QueueContract, TerminatePreviousKillsTheActiveRun) {
  ExpectActiveRunIsEnded(this->handle(), OverlapPolicy::kTerminatePrevious, CancelMode::kKill);
}

TYPED_TEST(QueueContract, KillReplacesAUsersCancel) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kTerminatePrevious));
  const RunKey active = s.Started(kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(active, {.now = kT0 + 2s})));
  s.Queued(kT0 + 3s);
  EXPECT_EQ(s.Admit(kT0 + 4s).cancels_requested, 1u);
  EXPECT_EQ(s.Get(active).row.cancel_requested, CancelMode::kKill);
}

TYPED_TEST(QueueContract, RunBetweenTwoAttemptsIsCancelledForTheNewOne) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kCancelPrevious);
  definition.retry_count = 1;
  s.Make(definition);
  const RunKey tried = s.Started(kT0 + 1s);
  s.End(tried, RunState::kFailed, kT0 + 2s);
  const RunKey waits = s.Queued(kT0 + 3s);
  const AdmissionEffect effect = s.AdmitTwice(kT0 + 4s);
  EXPECT_EQ(effect.cancelled, 1u);
  EXPECT_EQ(s.KeysOf(effect.admitted), std::vector<RunKey>{waits});
  s.ExpectEnd(tried, RunState::kCancelled, reason::kCancelRequested);
  EXPECT_EQ(s.Get(tried).result.error, ReplacedSentence(OverlapRulesOf(s.job.definition), waits));
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{waits});
}

TYPED_TEST(QueueContract, AdmittedRunThatNeverStartedIsReplaced) {
  QueueDriver s = this->queue_driver();
  for (const OverlapPolicy policy :
       {OverlapPolicy::kCancelPrevious, OverlapPolicy::kTerminatePrevious}) {
    s.job = s.Create(std::string(Name(policy)), s.Limited(policy));
    const RunKey active = s.Started(kT0 + 1s);
    const RunKey admitted = s.Queued(kT0 + 2s);
    s.End(active, RunState::kCompleted, kT0 + 3s);
    s.ExpectAdmitted(kT0 + 4s, {admitted});
    const RunKey newest = s.Queued(kT0 + 5s);
    const AdmissionEffect effect = s.AdmitTwice(kT0 + 6s);
    EXPECT_EQ(effect.replaced, 1u);
    EXPECT_EQ(effect.cancelled + effect.cancels_requested, 0u);
    EXPECT_EQ(s.KeysOf(effect.admitted), std::vector<RunKey>{newest});
    s.ExpectEnd(admitted, RunState::kSkipped, reason::kReplaced);
    EXPECT_EQ(s.Holders(), std::vector<RunKey>{newest});
  }
}

TYPED_TEST(QueueContract, OfSeveralQueuedRunsOnlyTheNewestIsKept) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kCancelPrevious));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey second = s.Queued(kT0 + 2s);
  const RunKey third = s.Queued(kT0 + 2s);
  const RunKey newest = s.Queued(kT0 + 2s);
  const AdmissionEffect effect = s.Admit(kT0 + 3s);
  EXPECT_EQ(effect.replaced, 2u);
  EXPECT_EQ(effect.cancels_requested, 1u);
  s.ExpectEnd(second, RunState::kSkipped, reason::kReplaced);
  s.ExpectEnd(third, RunState::kSkipped, reason::kReplaced);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{newest});
  s.End(active, RunState::kCompleted, kT0 + 4s);
  s.ExpectAdmitted(kT0 + 5s, {newest});
}

// ---- edits of the policy ------------------------------------------------------------------------

TYPED_TEST(QueueContract, ActiveRunsTakeSlotsWhenAnEditLimitsThem) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  s.Make(definition);
  const RunKey first = s.Started(kT0 + 1s);
  const RunKey tried = s.Started(kT0 + 1s);
  s.End(tried, RunState::kFailed, kT0 + 2s);
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  s.Edit(definition, kT0 + 3s);
  EXPECT_EQ(s.Holders(), (std::vector<RunKey>{first, tried}));
  const RunKey waits = s.Queued(kT0 + 4s);
  EXPECT_TRUE(s.End(first, RunState::kCompleted, kT0 + 5s).freed_slot);
  s.ExpectAdmitted(kT0 + 5s, {});
  s.ExpectOffer(tried, kT0 + 1h, ClaimVerdict::kAccepted);  // it has its slot already
  EXPECT_TRUE(s.End(tried, RunState::kCompleted, kT0 + 2h).freed_slot);
  s.ExpectAdmitted(kT0 + 2h, {waits});
}

TYPED_TEST(QueueContract, ActiveRunsBelowTheLimitLeaveTheOtherSlotsFree) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Manual());
  s.Started(kT0 + 1s);
  s.Edit(s.Limited(OverlapPolicy::kQueueAll, 3), kT0 + 2s);
  s.Started(kT0 + 3s);
  s.Started(kT0 + 3s);
  s.Queued(kT0 + 3s);
  EXPECT_EQ(s.Holders().size(), 3u);
}

TYPED_TEST(QueueContract, EditThatAllowsOverlapAdmitsTheWholeQueue) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  s.Started(kT0 + 1s);
  std::vector<RunKey> queue;
  for (int i = 0; i < 3; ++i) queue.push_back(s.Queued(kT0 + 1s));
  s.Edit(s.Manual(), kT0 + 2s);
  s.ExpectAdmitted(kT0 + 3s, queue);
  EXPECT_TRUE(s.Holders().empty());
  s.ExpectNoQueue(queue[0]);
  for (const RunKey& key : queue) s.ExpectOffer(key, kT0 + 3s, ClaimVerdict::kAccepted);
  s.Edit(s.Limited(OverlapPolicy::kQueueAll), kT0 + 4s);
  EXPECT_EQ(s.Holders().size(), 4u);
  s.Queued(kT0 + 5s);
}

TYPED_TEST(QueueContract, HigherOrLowerLimitAppliesToTheQueueAtOnce) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  std::vector<RunKey> keys{s.Started(kT0 + 1s)};
  for (int i = 0; i < 4; ++i) keys.push_back(s.Queued(kT0 + 1s));
  s.Edit(s.Limited(OverlapPolicy::kQueueAll, 3), kT0 + 2s);
  s.ExpectAdmitted(kT0 + 3s, {keys[1], keys[2]});
  s.Edit(s.Limited(OverlapPolicy::kQueueAll, 2), kT0 + 4s);
  s.End(keys[0], RunState::kCompleted, kT0 + 5s);
  s.ExpectAdmitted(kT0 + 5s, {});  // two are still active
  s.ExpectOffer(keys[1], kT0 + 6s, ClaimVerdict::kAccepted);
  s.End(keys[1], RunState::kCompleted, kT0 + 7s);
  s.ExpectAdmitted(kT0 + 7s, {keys[3]});
}

TYPED_TEST(QueueContract, QueueOutlivesAnEditToAPolicyWithoutOne) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  s.Edit(s.Limited(OverlapPolicy::kSkip), kT0 + 2s);
  s.ExpectQueued(waits);
  s.End(active, RunState::kCompleted, kT0 + 3s);
  s.ExpectAdmitted(kT0 + 3s, {waits});
}

// ---- reads --------------------------------------------------------------------------------------

TYPED_TEST(QueueContract, ScanFindsTheJobsWhoseQueuesMayChange) {
  QueueDriver s = this->queue_driver();
  std::vector<QueuedJob> free;
  std::vector<RunKey> active;
  for (int i = 0; i < 5; ++i) {
    s.job = s.Create("job" + std::to_string(i), s.Limited(OverlapPolicy::kQueueAll));
    active.push_back(s.Started(kT0 + 1s));
    s.Queued(kT0 + 1s);
    s.Queued(kT0 + 1s);
    free.push_back({s.job.job_no, s.job.segment});
  }
  const auto scan = [&](JobNo after, size_t limit) {
    return s.v(s.queues.ScanQueues(s.All(), after, limit));
  };
  EXPECT_TRUE(scan(JobNo(0), 10).empty());
  for (const RunKey& key : active) s.End(key, RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(scan(JobNo(0), 10), free);
  EXPECT_EQ(scan(JobNo(0), 2), (std::vector<QueuedJob>{free[0], free[1]}));
  EXPECT_EQ(scan(free[1].job_no, 2), (std::vector<QueuedJob>{free[2], free[3]}));
  EXPECT_TRUE(scan(free[4].job_no, 2).empty());
  EXPECT_TRUE(s.v(s.queues.ScanQueues({}, JobNo(0), 10)).empty());
  for (const QueuedJob& job : s.v(s.queues.ScanQueues({free[0].segment}, JobNo(0), 10))) {
    EXPECT_EQ(job.segment, free[0].segment);
  }
  s.job = s.v(s.jobs.GetJob(JobId("job0")));
  EXPECT_EQ(s.Admit(kT0 + 3s).admitted.size(), 1u);
  EXPECT_EQ(scan(JobNo(0), 1), std::vector<QueuedJob>{free[1]});  // job0 waits for its slot again
  for (const OverlapPolicy policy : {OverlapPolicy::kAllow, OverlapPolicy::kCancelPrevious}) {
    s.Edit(s.Limited(policy), kT0 + 4s);
    EXPECT_EQ(scan(JobNo(0), 1), std::vector<QueuedJob>{free[0]}) << Name(policy);
  }
}

TYPED_TEST(QueueContract, QueueOfAJobIsReadInItsOrder) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  std::vector<RunKey> queue;
  for (int i = 0; i < 4; ++i) queue.push_back(s.Queued(kT0 + (i + 2) * 1s));
  const JobQueue read = s.v(s.queues.ReadQueue(s.job.job_id, 2));
  ASSERT_EQ(read.holders.size(), 1u);
  EXPECT_EQ(read.holders[0], s.Get(active).row);
  EXPECT_EQ(s.KeysOf(read.queued), (std::vector<RunKey>{queue[0], queue[1]}));
  EXPECT_EQ(read.length, 4);
  const auto place = s.v(s.queues.PlaceOf(queue[2]));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->position, 3);
  EXPECT_EQ(place->length, 4);
  EXPECT_EQ(place->since, kT0 + 4s);
  EXPECT_FALSE(s.v(s.queues.PlaceOf(active)).has_value());
  EXPECT_EQ(s.v(s.queues.CountQueued()), 4);
  EXPECT_CODE(s.queues.ReadQueue(JobId("nobody"), 10), ErrorCode::kNotFound);
}

TYPED_TEST(QueueContract, QueueSurvivesARestart) {
  RunKey waits;
  {
    QueueDriver s = this->queue_driver();
    s.Make(s.Limited(OverlapPolicy::kQueueAll));
    s.Started(kT0 + 1s);
    waits = s.Queued(kT0 + 2s);
  }
  this->Reopen();
  StoreDriver s = this->driver();
  const auto place = s.v(s.queues.PlaceOf(waits));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->since, kT0 + 2s);
}

TYPED_TEST(QueueContract, AdmissionByAFormerOwnerIsFenced) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  const Fence theirs = s.Take(2, "m2", "i2");
  EXPECT_CODE(s.queues.Admit({s.job.job_no, s.job.segment}, s.fence, kT0 + 3s), ErrorCode::kFenced);
  s.ExpectQueued(waits);
  s.fence = theirs;
  s.ExpectAdmitted(kT0 + 4s, {waits});
}

}  // namespace carillon::test
