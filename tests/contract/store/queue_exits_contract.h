// Contract of QueueStore: no run stays in a queue once it no longer waits.
#pragma once

#include "tests/contract/store/queue_driver.h"

namespace carillon::test {

// ---- ways out of the queue ----------------------------------------------------------------------

TYPED_TEST(QueueContract, SkippedOrCancelledRunLeavesTheQueue) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  s.Started(kT0 + 1s);
  const RunKey skipped = s.Queued(kT0 + 1s);
  const RunRow row = s.Get(skipped).row;
  EXPECT_EQ(s.v(s.firing.Skip({{row.key, row.segment, row.job_no, row.attempt, row.def_version,
                                reason::kQueueTimeout}},
                              s.fence, kT0 + 2s))
                .size(),
            1u);
  s.ExpectNoQueue(skipped);
  const RunKey cancelled = s.Queued(kT0 + 3s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(cancelled, {.now = kT0 + 4s})));
  s.ExpectEnd(cancelled, RunState::kCancelled, reason::kCancelRequested);
  s.ExpectNoQueue(cancelled);
  const RunKey with_others = s.Queued(kT0 + 5s);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(s.job.job_id, {.now = kT0 + 6s})), 2);
  s.ExpectNoQueue(with_others);
}

TYPED_TEST(QueueContract, EditThatKeepsAQueuedRunLeavesItInTheQueue) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  s.Make(definition);
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  definition.command = "echo edited";
  s.Edit(definition, kT0 + 2s);
  s.ExpectQueued(waits);
  EXPECT_EQ(s.Get(waits).row.def_version, s.job.version);
  s.End(active, RunState::kCompleted, kT0 + 3s);
  s.ExpectAdmitted(kT0 + 4s, {waits});
  s.ExpectOffer(waits, kT0 + 4s, ClaimVerdict::kAccepted);
}

TYPED_TEST(QueueContract, EditThatErasesARunErasesItsPlaceAndItsSlot) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Every(10s);
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  s.Make(definition);
  s.Plan(kT0 + 30s, s.fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 30s);
  ASSERT_EQ(rows.size(), 3u);
  s.ExpectOffer(rows[0].key, kT0 + 30s, ClaimVerdict::kAccepted);
  s.ExpectOffer(rows[1].key, kT0 + 30s, ClaimVerdict::kEnqueued);
  s.ExpectOffer(rows[2].key, kT0 + 30s, ClaimVerdict::kEnqueued);
  s.End(rows[0].key, RunState::kCompleted, kT0 + 31s);
  s.ExpectAdmitted(kT0 + 31s, {rows[1].key});
  // The clock went back, so the fires are ahead again.
  definition.schedules[0].every = 1h;
  s.Edit(definition, kT0 + 15s);
  for (const size_t i : {1, 2}) EXPECT_CODE(s.runs.GetRun(rows[i].key), ErrorCode::kNotFound);
  s.ExpectNoQueue(rows[2].key);
  EXPECT_TRUE(s.Holders().empty());
  const RunKey next = s.Due();
  s.ExpectOffer(next, kT0 + 32s, ClaimVerdict::kAccepted);
}

TYPED_TEST(QueueContract, PauseSkipsQueuedRunsAndFreesTheSlotsOfAdmittedOnes) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey admitted = s.Queued(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  s.ExpectAdmitted(kT0 + 2s, {admitted});
  s.job = s.Pause(s.job, kT0 + 3s);
  s.ExpectEnd(admitted, RunState::kSkipped, reason::kPaused);
  s.ExpectEnd(waits, RunState::kSkipped, reason::kPaused);
  s.ExpectNoQueue(waits);
  EXPECT_TRUE(s.Holders().empty());
  s.ExpectAdmitted(kT0 + 4s, {});
}

// Makes `tried` queue at its second attempt, behind an active run, which is returned.
inline RunKey QueueSecondAttempt(QueueDriver& s, RunKey* tried) {
  *tried = s.Started(kT0 + 1s);
  s.End(*tried, RunState::kFailed, kT0 + 2s);
  const RunKey active = s.Started(kT0 + 3s);
  s.v(s.runs.RetryRun({.key = *tried}, {.now = kT0 + 4s}));
  s.ExpectOffer(*tried, kT0 + 5s, ClaimVerdict::kEnqueued);
  return active;
}

TYPED_TEST(QueueContract, PauseHoldsAQueuedRetryBackOutsideTheQueue) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  RunKey tried;
  const RunKey active = QueueSecondAttempt(s, &tried);
  s.job = s.Pause(s.job, kT0 + 6s);
  EXPECT_EQ(s.Get(tried).row.due, kNever);
  s.ExpectNoQueue(tried);
  s.job = s.Resume(s.job, kT0 + 7s);
  EXPECT_EQ(s.Get(tried).row.due, kT0 + 7s);
  s.ExpectNoQueue(tried);
  s.ExpectOffer(tried, kT0 + 8s, ClaimVerdict::kEnqueued);
  s.ExpectQueued(tried);
  s.End(active, RunState::kCompleted, kT0 + 9s);
  s.ExpectAdmitted(kT0 + 9s, {tried});
}

TYPED_TEST(QueueContract, QueuedRetryIsNotRetriedByHand) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  RunKey tried;
  QueueSecondAttempt(s, &tried);
  EXPECT_CODE(s.runs.RetryRun({.key = tried}, {.now = kT0 + 6s}), ErrorCode::kConflict);
  s.ExpectQueued(tried);
}

TYPED_TEST(QueueContract, LateSuccessOfTheAttemptBeforeTakesTheRunOutOfTheQueue) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.on_lost = OnLost::kRetry;
  s.Make(definition);
  const RunKey lost = s.Started(kT0 + 1s);
  const RunRow first_attempt = s.Get(lost).row;
  s.Lose(first_attempt, s.fence, kT0 + 2s);
  ASSERT_EQ(s.Get(lost).row.state, RunState::kLost);
  s.Started(kT0 + 3s);
  s.v(s.runs.RetryRun({.key = lost}, {.now = kT0 + 4s}));
  s.ExpectOffer(lost, kT0 + 5s, ClaimVerdict::kEnqueued);
  const RunEffect effect =
      s.Apply(s.ReportOf(first_attempt, RunState::kCompleted), s.fence, kT0 + 6s);
  EXPECT_EQ(effect.state, RunState::kCompleted);
  EXPECT_FALSE(effect.freed_slot);
  s.ExpectNoQueue(lost);
}

TYPED_TEST(QueueContract, DeletedJobHasNoQueue) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  RunKey tried;
  QueueSecondAttempt(s, &tried);
  const RunKey waits = s.Queued(kT0 + 6s);
  ASSERT_OK(s.jobs.DeleteJob(s.job.job_id, s.job.version, {.now = kT0 + 7s}));
  s.ExpectEnd(waits, RunState::kSkipped, reason::kDeleted);
  s.ExpectEnd(tried, RunState::kCancelled, reason::kDeleted);
  s.ExpectNoQueue(waits);
  s.ExpectNoQueue(tried);
  EXPECT_CODE(s.queues.ReadQueue(s.job.job_id, 10), ErrorCode::kNotFound);
  s.ExpectAdmitted(kT0 + 8s, {});
}

TYPED_TEST(QueueContract, ExpiredRunsAreFoundAndSkipped) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.queue_timeout_s = 60;
  s.Make(definition);
  s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 30s);
  const WallTime due = kT0 + 30s;
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), due + 59s, 10)).empty());
  const std::vector<SkipItem> items = s.v(s.queues.ScanExpired(s.All(), due + 61s, 10));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].key, waits);
  EXPECT_EQ(items[0].reason, reason::kQueueTimeout);
  EXPECT_TRUE(s.v(s.queues.ScanExpired({}, due + 61s, 10)).empty());
  EXPECT_EQ(s.v(s.firing.Skip(items, s.fence, due + 61s)).size(), 1u);
  s.ExpectEnd(waits, RunState::kSkipped, reason::kQueueTimeout);
  s.ExpectNoQueue(waits);
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), due + 61s, 10)).empty());
}

TYPED_TEST(QueueContract, EditOfTheTimeoutAppliesToQueuedRuns) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  s.Make(definition);
  s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  definition.queue_timeout_s = 60;
  s.Edit(definition, kT0 + 10s);
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), kT0 + 60s, 10)).empty());
  ASSERT_EQ(s.v(s.queues.ScanExpired(s.All(), kT0 + 61s, 10)).size(), 1u);
  definition.queue_timeout_s = 0;
  s.Edit(definition, kT0 + 20s);
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), kT0 + 24h, 10)).empty());
  s.ExpectQueued(waits);
}

// A decision from before the run was queued, or admitted, no longer holds.
TYPED_TEST(QueueContract, SkipOfAnEarlierDueTimeDoesNothing) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Due();
  const RunRow before = s.Get(waits).row;
  SkipItem item{.key = waits,
                .segment = before.segment,
                .job_no = before.job_no,
                .attempt = before.attempt,
                .def_version = before.def_version,
                .reason = reason::kMisfire,
                .due = before.due};
  s.ExpectOffer(waits, kT0 + 2s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.v(s.firing.Skip({item}, s.fence, kT0 + 3s)).size(), 0u);
  s.ExpectQueued(waits);
  item.due = kQueued;
  s.End(active, RunState::kCompleted, kT0 + 4s);
  s.ExpectAdmitted(kT0 + 4s, {waits});
  EXPECT_EQ(s.v(s.firing.Skip({item}, s.fence, kT0 + 5s)).size(), 0u);
}

TYPED_TEST(QueueContract, PausedJobAdmitsWhatIsExecutedByHand) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.enabled = false;
  s.Make(definition);
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 2s);
  s.End(active, RunState::kCompleted, kT0 + 3s);
  EXPECT_EQ(s.v(s.queues.ScanQueues(s.All(), JobNo{}, 10)).size(), 1u);
  s.ExpectAdmitted(kT0 + 3s, {waits});
}

TYPED_TEST(QueueContract, NewerRunIsNotReplacedByAnOlderOne) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kCancelPrevious);
  s.Make(definition);
  const RunKey older = s.Due();
  const RunKey newer = s.Started(kT0 + 1s);
  s.ExpectOffer(older, kT0 + 2s, ClaimVerdict::kEnqueued);
  s.ExpectAdmitted(kT0 + 3s, {});
  EXPECT_FALSE(s.Get(newer).row.cancel_requested);
  s.End(newer, RunState::kCompleted, kT0 + 4s);
  s.ExpectAdmitted(kT0 + 4s, {older});
}

TYPED_TEST(QueueContract, WithoutATimeoutNoRunExpires) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.queue_timeout_s = 0;
  s.Make(definition);
  s.Started(kT0 + 1s);
  s.Queued(kT0 + 1s);
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), kT0 + 1000 * 24h, 10)).empty());
}

TYPED_TEST(QueueContract, AnAdmittedRunExpiresNoMore) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.queue_timeout_s = 60;
  s.Make(definition);
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  s.ExpectAdmitted(kT0 + 2s, {waits});
  EXPECT_TRUE(s.v(s.queues.ScanExpired(s.All(), kT0 + 1h, 10)).empty());
}

}  // namespace carillon::test
