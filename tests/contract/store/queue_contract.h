// The contract of QueueStore, and of the claims that fill queues: limits, order, admission, and that
// no run stays in a queue once it no longer waits.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

// One job, and short forms of what happens to its runs. Runs are numbered by the order in which they
// are made, which is the order of their keys.
class QueueDriver : public StoreDriver {
 public:
  explicit QueueDriver(StoreHandle& store) : StoreDriver(store), fence(Take()) {}

  static JobDefinition Limited(OverlapPolicy policy, int64_t max_running = 1) {
    JobDefinition definition = Manual();
    definition.overlap_policy = policy;
    definition.max_running = max_running;
    return definition;
  }
  void Make(const JobDefinition& definition) { job = Create("a", definition); }
  void Edit(const JobDefinition& definition, WallTime now) { job = Replace(job, definition, now); }

  RunKey Due() { return Execute(job, kT0).key; }
  ClaimRequest RequestFor(const RunKey& key) {
    ClaimRequest request = ClaimOf(Get(key).row, ++token_);
    request.overlap = OverlapRulesOf(job.definition);
    return request;
  }
  ClaimReply Offer(const RunKey& key, WallTime now) { return Claim(RequestFor(key), fence, now); }
  void ExpectOffer(const RunKey& key, WallTime now, ClaimVerdict verdict) {
    EXPECT_EQ(Offer(key, now).verdict, verdict);
  }
  RunKey Started(WallTime now) {
    const RunKey key = Due();
    ExpectOffer(key, now, ClaimVerdict::kAccepted);
    return key;
  }
  RunKey Queued(WallTime now) {
    const RunKey key = Due();
    ExpectOffer(key, now, ClaimVerdict::kEnqueued);
    return key;
  }
  RunEffect End(const RunKey& key, RunState state, WallTime now) {
    return Apply(ReportOf(Get(key).row, state), fence, now);
  }
  AdmissionEffect Admit(WallTime now) {
    return v(queues.Admit({job.job_no, job.segment}, fence, now));
  }
  // A store may end holders in one call and admit the run that waits for them in the next.
  AdmissionEffect AdmitTwice(WallTime now) {
    AdmissionEffect sum = Admit(now);
    const AdmissionEffect more = Admit(now);
    sum.admitted.insert(sum.admitted.end(), more.admitted.begin(), more.admitted.end());
    sum.waited.insert(sum.waited.end(), more.waited.begin(), more.waited.end());
    sum.replaced += more.replaced;
    sum.cancelled += more.cancelled;
    sum.cancels_requested += more.cancels_requested;
    return sum;
  }
  static std::vector<RunKey> KeysOf(const std::vector<RunRow>& rows) {
    std::vector<RunKey> keys;
    for (const RunRow& row : rows) keys.push_back(row.key);
    return keys;
  }
  void ExpectAdmitted(WallTime now, const std::vector<RunKey>& expected) {
    EXPECT_EQ(KeysOf(Admit(now).admitted), expected);
  }
  JobQueue Queue() { return v(queues.ReadQueue(job.job_id, 100)); }
  std::vector<RunKey> QueuedKeys() { return KeysOf(Queue().queued); }
  std::vector<RunKey> Holders() { return KeysOf(Queue().holders); }
  void ExpectQueued(const RunKey& key) {
    const RunRow row = Get(key).row;
    EXPECT_EQ(row.state, RunState::kPending);
    EXPECT_EQ(row.due, kQueued);
    EXPECT_TRUE(v(queues.PlaceOf(key)).has_value());
  }
  // The run is in no queue, and it was the only one.
  void ExpectNoQueue(const RunKey& key) {
    EXPECT_FALSE(v(queues.PlaceOf(key)).has_value());
    EXPECT_EQ(v(queues.CountQueued()), 0);
    const auto queue = queues.ReadQueue(job.job_id, 100);
    if (queue.ok()) {
      EXPECT_EQ(queue->length, 0);
      EXPECT_TRUE(queue->queued.empty());
    }
  }
  void ExpectEnd(const RunKey& key, RunState state, std::string_view reason) {
    const RunDetail run = Get(key);
    EXPECT_EQ(run.row.state, state);
    EXPECT_EQ(run.result.reason, reason);
  }

  Fence fence;
  StoredJob job;

 private:
  uint64_t token_ = 0;
};

template <typename Factory>
class QueueContract : public StoreContract<Factory> {
 protected:
  QueueDriver queue_driver() { return QueueDriver(this->handle()); }
};
TYPED_TEST_SUITE(QueueContract, StoreFactories);

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

// Two runs hold slots after an edit that allows one. The next attempt of one waits, without its slot.
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

// ---- ways out of the queue ----------------------------------------------------------------------

TYPED_TEST(QueueContract, SkippedOrCancelledRunLeavesTheQueue) {
  QueueDriver s = this->queue_driver();
  s.Make(s.Limited(OverlapPolicy::kQueueAll));
  s.Started(kT0 + 1s);
  const RunKey skipped = s.Queued(kT0 + 1s);
  const RunRow row = s.Get(skipped).row;
  EXPECT_EQ(s.v(s.firing.Skip({{row.key, row.segment, row.job_no, row.attempt, row.def_version,
                                reason::kQueueTimeout}},
                              s.fence, kT0 + 2s)),
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
  EXPECT_EQ(s.v(s.firing.Skip(items, s.fence, due + 61s)), 1u);
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
  EXPECT_EQ(s.v(s.firing.Skip({item}, s.fence, kT0 + 3s)), 0u);
  s.ExpectQueued(waits);
  item.due = kQueued;
  s.End(active, RunState::kCompleted, kT0 + 4s);
  s.ExpectAdmitted(kT0 + 4s, {waits});
  EXPECT_EQ(s.v(s.firing.Skip({item}, s.fence, kT0 + 5s)), 0u);
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
