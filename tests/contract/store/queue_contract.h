// Contract of QueueStore, and of the claims that fill queues: limits, order, admitted runs.
#pragma once

#include "tests/contract/store/queue_driver.h"

namespace carillon::test {

// ---- limits -------------------------------------------------------------------------------------

TYPED_TEST(QueueContract, QueueOneKeepsOneRunAndSkipsTheNext) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueOne));
  s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 2s);
  const RunKey skipped = s.Due();
  const ClaimReply reply = s.Offer(skipped, kT0 + 3s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(Name(reply.reason), Name(ClaimReason::kOverlap));
  s.ExpectEnd(skipped, RunState::kSkipped, reason::kOverlap);
  s.ExpectQueued(waits);
  EXPECT_EQ(s.QueuedKeys(), std::vector<RunKey>{waits});
}

TYPED_TEST(QueueContract, QueueAllQueuesUpToItsMaximum) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.queue_max = 2;
  s.Make(definition);
  s.Started(kT0 + 1s);
  const RunKey second = s.Queued(kT0 + 1s);
  const RunKey third = s.Queued(kT0 + 1s);
  const RunKey full = s.Due();
  const ClaimReply reply = s.Offer(full, kT0 + 1s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(Name(reply.reason), Name(ClaimReason::kQueueFull));
  s.ExpectEnd(full, RunState::kSkipped, reason::kQueueFull);
  EXPECT_EQ(s.QueuedKeys(), (std::vector<RunKey>{second, third}));
}

TYPED_TEST(QueueContract, MaxRunningIsKeptWithinOneBatchToo) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll, 3);
  definition.queue_max = 2;
  s.Make(definition);
  std::vector<RunKey> keys;
  std::vector<ClaimRequest> requests;
  for (int i = 0; i < 6; ++i) {
    keys.push_back(s.Due());
    requests.push_back(s.RequestFor(keys.back()));
  }
  const std::vector<ClaimReply> replies = s.v(s.firing.Claim(requests, s.fence, kT0 + 1s));
  ASSERT_EQ(replies.size(), 6u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(replies[i].verdict, ClaimVerdict::kAccepted) << i;
  for (size_t i = 3; i < 5; ++i) EXPECT_EQ(replies[i].verdict, ClaimVerdict::kEnqueued) << i;
  EXPECT_EQ(Name(replies[5].reason), Name(ClaimReason::kQueueFull));
  EXPECT_EQ(s.Holders(), (std::vector<RunKey>{keys[0], keys[1], keys[2]}));
  EXPECT_TRUE(s.End(keys[1], RunState::kCompleted, kT0 + 2s).freed_slot);
  s.ExpectAdmitted(kT0 + 3s, {keys[3]});
  s.ExpectAdmitted(kT0 + 3s, {});
  s.End(keys[0], RunState::kCompleted, kT0 + 4s);
  s.End(keys[2], RunState::kCompleted, kT0 + 4s);
  s.ExpectAdmitted(kT0 + 5s, {keys[4]});
  EXPECT_EQ(s.Holders(), (std::vector<RunKey>{keys[3], keys[4]}));
  EXPECT_EQ(s.Queue().length, 0);
}

TYPED_TEST(QueueContract, SkipLimitsToMaxRunningWithoutAQueue) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kSkip, 2));
  const RunKey first = s.Started(kT0 + 1s);
  s.Started(kT0 + 1s);
  s.ExpectOffer(s.Due(), kT0 + 1s, ClaimVerdict::kSkipped);
  s.End(first, RunState::kCompleted, kT0 + 2s);
  s.Started(kT0 + 3s);
  s.ExpectOffer(s.Due(), kT0 + 3s, ClaimVerdict::kSkipped);
}

// ---- order --------------------------------------------------------------------------------------

TYPED_TEST(QueueContract, TheEarliestRunIsAdmittedFirstWhenItWasQueuedLast) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey early = s.Due();
  const RunKey late = s.Due();
  s.ExpectOffer(late, kT0 + 1s, ClaimVerdict::kEnqueued);
  s.ExpectOffer(early, kT0 + 2s, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.QueuedKeys(), (std::vector<RunKey>{early, late}));
  s.End(active, RunState::kFailed, kT0 + 3s);
  const AdmissionEffect effect = s.Admit(kT0 + 4s);
  ASSERT_EQ(s.KeysOf(effect.admitted), std::vector<RunKey>{early});
  EXPECT_EQ(effect.waited, std::vector<Duration>{2s});
  EXPECT_EQ(effect.admitted[0], s.Get(early).row);
  EXPECT_EQ(effect.admitted[0].state, RunState::kPending);
  EXPECT_EQ(effect.admitted[0].due, kT0 + 4s);
  s.ExpectQueued(late);
}

TYPED_TEST(QueueContract, RunWithALaterKeyDoesNotOvertakeAQueuedOne) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey early = s.Due();
  const RunKey waits = s.Queued(kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  const RunKey late = s.Queued(kT0 + 3s);  // although the slot is free
  s.ExpectOffer(early, kT0 + 3s, ClaimVerdict::kAccepted);
  s.End(early, RunState::kCompleted, kT0 + 4s);
  s.ExpectAdmitted(kT0 + 5s, {waits});
  s.ExpectQueued(late);
}

// ---- admitted runs ------------------------------------------------------------------------------

TYPED_TEST(QueueContract, AdmittedRunKeepsItsSlotUntilItEnds) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey next = s.Queued(kT0 + 1s);
  s.End(active, RunState::kCompleted, kT0 + 2s);
  s.ExpectAdmitted(kT0 + 3s, {next});
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{next});
  EXPECT_EQ(s.KeysOf(s.Pending(kT0 + 3s)), std::vector<RunKey>{next});
  const RunKey last = s.Queued(kT0 + 4s);
  s.ExpectAdmitted(kT0 + 4s, {});
  s.ExpectOffer(next, kT0 + 5s, ClaimVerdict::kAccepted);
  s.ExpectAdmitted(kT0 + 5s, {});
  EXPECT_TRUE(s.End(next, RunState::kCompleted, kT0 + 6s).freed_slot);
  s.ExpectAdmitted(kT0 + 7s, {last});
}

TYPED_TEST(QueueContract, RunKeepsItsSlotBetweenTwoAttempts) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.retry_count = 1;
  s.Make(definition);
  const RunKey tried = s.Started(kT0 + 1s);
  EXPECT_FALSE(s.End(tried, RunState::kFailed, kT0 + 2s).freed_slot);
  const RunKey waits = s.Queued(kT0 + 3s);
  s.ExpectAdmitted(kT0 + 3s, {});
  s.ExpectOffer(tried, kT0 + 1h, ClaimVerdict::kAccepted);
  s.ExpectAdmitted(kT0 + 1h, {});
  EXPECT_TRUE(s.End(tried, RunState::kFailed, kT0 + 2h).freed_slot);
  s.ExpectAdmitted(kT0 + 2h, {waits});
}

// Two runs hold slots after an edit that allows one. The next attempt of one waits, without
// its slot.
TYPED_TEST(QueueContract, RetryAboveALoweredLimitIsQueuedAndGivesItsSlotBack) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  s.Make(definition);
  const RunKey tried = s.Started(kT0 + 1s);
  const RunKey other = s.Started(kT0 + 1s);
  s.End(tried, RunState::kFailed, kT0 + 2s);
  definition.overlap_policy = OverlapPolicy::kQueueAll;
  s.Edit(definition, kT0 + 3s);
  EXPECT_EQ(s.Holders(), (std::vector<RunKey>{tried, other}));
  s.ExpectOffer(tried, kT0 + 1h, ClaimVerdict::kEnqueued);
  s.ExpectQueued(tried);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{other});
  s.ExpectAdmitted(kT0 + 1h, {});
  EXPECT_TRUE(s.End(other, RunState::kCompleted, kT0 + 1h).freed_slot);
  s.ExpectAdmitted(kT0 + 1h, {tried});
  s.ExpectOffer(tried, kT0 + 1h, ClaimVerdict::kAccepted);
}

// Three runs wait for their next attempts when an edit allows one. No policy ends one of them, and
// they go on in the order of their keys.
TYPED_TEST(QueueContract, ALoweredLimitEndsNoRunAndTheEarliestGoesOnFirst) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kSkip);
  definition.retry_count = 1;
  definition.max_running = 3;
  s.Make(definition);
  const std::vector<RunKey> tried = {s.Started(kT0 + 1s), s.Started(kT0 + 1s), s.Started(kT0 + 1s)};
  for (const RunKey& key : tried) s.End(key, RunState::kFailed, kT0 + 2s);
  definition.max_running = 1;
  s.Edit(definition, kT0 + 3s);
  EXPECT_EQ(s.Holders(), tried);
  s.ExpectOffer(tried[1], kT0 + 1h, ClaimVerdict::kEnqueued);
  s.ExpectOffer(tried[0], kT0 + 1h, ClaimVerdict::kAccepted);
  s.ExpectOffer(tried[2], kT0 + 1h, ClaimVerdict::kEnqueued);
  s.ExpectQueued(tried[1]);
  s.ExpectQueued(tried[2]);
  EXPECT_EQ(s.Holders(), std::vector<RunKey>{tried[0]});
  s.ExpectAdmitted(kT0 + 1h, {});
  EXPECT_TRUE(s.End(tried[0], RunState::kCompleted, kT0 + 2h).freed_slot);
  s.ExpectAdmitted(kT0 + 2h, {tried[1]});
  s.ExpectOffer(tried[1], kT0 + 2h, ClaimVerdict::kAccepted);
}

TYPED_TEST(QueueContract, LossThatEndsARunFreesItsSlot) {
  QueueDriver s = this->queue_driver();
  JobDefinition definition = s.Limited(OverlapPolicy::kQueueAll);
  definition.on_lost = OnLost::kFail;
  s.Make(definition);
  const RunKey lost = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  const std::vector<RunEffect> effects = s.Lose(s.Get(lost).row, s.fence, kT0 + 2s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_TRUE(effects[0].freed_slot);
  s.ExpectAdmitted(kT0 + 3s, {waits});
}

TYPED_TEST(QueueContract, RunThatHeldNoSlotFreesNone) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Manual());
  const RunKey key = s.Started(kT0 + 1s);
  EXPECT_FALSE(s.End(key, RunState::kFailed, kT0 + 2s).freed_slot);
}

// ---- what a queued run is not -------------------------------------------------------------------

TYPED_TEST(QueueContract, ClaimOfAQueuedRunIsRefusedAndWritesNothing) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueOne));
  const RunKey active = s.Started(kT0 + 1s);
  const RunKey waits = s.Queued(kT0 + 1s);
  const RunRow before = s.Get(waits).row;
  s.End(active, RunState::kCompleted, kT0 + 2s);
  const ClaimReply reply = s.Offer(waits, kT0 + 3s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(Name(reply.reason), Name(ClaimReason::kWaitsForSlot));
  EXPECT_EQ(s.Get(waits).row, before);
  const auto place = s.v(s.queues.PlaceOf(waits));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->since, kT0 + 1s);
}

TYPED_TEST(QueueContract, OneRunTwiceInABatchIsQueuedOnce) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  s.Started(kT0 + 1s);
  const RunKey waits = s.Due();
  const std::vector<ClaimReply> replies =
      s.v(s.firing.Claim({s.RequestFor(waits), s.RequestFor(waits)}, s.fence, kT0 + 1s));
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(replies[1].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(s.Queue().length, 1);
}

TYPED_TEST(QueueContract, ScansForDueAndRunningRunsLeaveQueuedOnesOut) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  const RunKey active = s.Started(kT0 + 1s);
  s.Queued(kT0 + 1s);
  EXPECT_TRUE(s.Pending(kNever).empty());
  const JobWindow window{.job_no = s.job.job_no, .from = kT0 - 1h, .to = kT0 + 1h};
  EXPECT_TRUE(s.v(s.firing.ScanPendingOfJob(window, std::nullopt, 10)).runs.empty());
  EXPECT_EQ(s.KeysOf(s.v(s.firing.ScanRunning(s.All(), std::nullopt, 10)).runs),
            std::vector<RunKey>{active});
  const OverdueReport report = s.v(s.firing.ReadOverdue(kT0 + 1h));
  EXPECT_EQ(report.pending_due, 0);
  EXPECT_EQ(report.oldest_pending_due, kNever);
}

}  // namespace carillon::test
