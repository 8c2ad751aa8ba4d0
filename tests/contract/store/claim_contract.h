// The contract of FiringStore::Claim and Skip: one start per attempt (P3), no start of an outdated
// version (P8), overlap policies.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ClaimContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(ClaimContract, StoreFactories);

inline void ExpectRefused(StoreDriver& s, const ClaimRequest& request, const Fence& fence,
                          WallTime now, ClaimReason why) {
  const ClaimReply reply = s.Claim(request, fence, now);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(Name(reply.reason), Name(why));
}

TYPED_TEST(ClaimContract, AcceptedClaimIsWrittenWithItsTokenAndExecutor) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow pending = s.Execute(job, kT0);
  const RunRow running = s.Start(pending, 1, fence, kT0 + 5s);
  EXPECT_EQ(running.state, RunState::kRunning);
  EXPECT_EQ(running.claim_token, s.Token(1));
  EXPECT_EQ(running.executor, ExecutorId("e1"));
  EXPECT_EQ(running.incarnation, Incarnation("x1"));
  EXPECT_EQ(running.claimed, kT0 + 5s);
  EXPECT_EQ(running.attempt, 1);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
  const RunningPage page = s.v(s.firing.ScanRunning(s.All(), std::nullopt, 10));
  ASSERT_EQ(page.runs.size(), 1u);
  EXPECT_EQ(page.runs[0], running);
  EXPECT_FALSE(page.next.has_value());
}

TYPED_TEST(ClaimContract, RepeatedClaimWithTheSameTokenIsAcceptedAgain) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow pending = s.Execute(s.Create("a", s.Manual()), kT0);
  const ClaimRequest request = s.ClaimOf(pending, 1);
  const RunRow running = s.Start(pending, 1, fence, kT0 + 1s);
  EXPECT_EQ(s.Claim(request, fence, kT0 + 2s).verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(s.Get(pending.key).row, running);
  ExpectRefused(s, s.ClaimOf(pending, 2), fence, kT0 + 2s, ClaimReason::kNotPending);
  EXPECT_EQ(s.Get(pending.key).row, running);
}

TYPED_TEST(ClaimContract, HeldBackClaimBeginsNothingAndIsAcceptedAgain) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition alone = s.Manual();
  alone.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("a", alone);
  const RunRow running = s.Execute(job, kT0);
  const RunRow pending = s.Execute(job, kT0);
  s.Start(running, 1, fence, kT0 + 1s);
  ClaimRequest again = s.ClaimOf(running, 1);
  again.hold_back = ClaimReason::kClusterPaused;
  EXPECT_EQ(s.Claim(again, fence, kT0 + 2s).verdict, ClaimVerdict::kAcceptedAgain);
  ClaimRequest held_back = s.ClaimOf(pending, 2);
  held_back.overlap.policy = OverlapPolicy::kSkip;
  held_back.hold_back = ClaimReason::kClusterPaused;
  ExpectRefused(s, held_back, fence, kT0 + 2s, ClaimReason::kClusterPaused);
  EXPECT_EQ(s.Get(pending.key).row, pending);
}

TYPED_TEST(ClaimContract, ClaimSurvivesARestartAndIsAcceptedAgainByTheNextOwner) {
  RunRow pending;
  {
    StoreDriver s = this->driver();
    const Fence fence = s.Take(1, "m1", "i1");
    pending = s.Execute(s.Create("a", s.Manual()), kT0);
    s.Start(pending, 1, fence, kT0 + 1s);
  }
  this->Reopen();
  StoreDriver s = this->driver();
  const Fence fence = s.Take(2, "m2", "i2");
  EXPECT_EQ(s.Claim(s.ClaimOf(pending, 1), fence, kT0 + 2s).verdict, ClaimVerdict::kAcceptedAgain);
  ExpectRefused(s, s.ClaimOf(pending, 2), fence, kT0 + 2s, ClaimReason::kNotPending);
}

TYPED_TEST(ClaimContract, TwoClaimsForOneRunInABatchAreDecidedOneAfterTheOther) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow first = s.Execute(job, kT0);
  const RunRow second = s.Execute(job, kT0);
  const std::vector<ClaimReply> replies = s.v(s.firing.Claim(
      {s.ClaimOf(second, 1), s.ClaimOf(first, 2), s.ClaimOf(second, 3), s.ClaimOf(second, 1)},
      fence, kT0 + 1s));
  ASSERT_EQ(replies.size(), 4u);
  EXPECT_EQ(replies[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(replies[1].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(replies[2].verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(replies[2].reason, ClaimReason::kNotPending);
  EXPECT_EQ(replies[3].verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(s.Get(second.key).row.claim_token, s.Token(1));
}

TYPED_TEST(ClaimContract, ClaimOfAnotherAttemptVersionOrTimeIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(10s));
  s.Plan(kT0 + 10s, fence);
  const RunRow pending = s.OnlyPending(kT0 + 10s);
  ClaimRequest request = s.ClaimOf(pending, 1);
  ExpectRefused(s, request, fence, kT0 + 10s - 1us, ClaimReason::kNotDue);
  request.attempt = 2;
  ExpectRefused(s, request, fence, kT0 + 10s, ClaimReason::kAttemptMoved);
  request = s.ClaimOf(pending, 1);
  request.def_version = 99;
  ExpectRefused(s, request, fence, kT0 + 10s, ClaimReason::kVersionMoved);
  request = s.ClaimOf(pending, 1);
  request.key.fire += 1us;
  ExpectRefused(s, request, fence, kT0 + 11s, ClaimReason::kGone);
  EXPECT_EQ(s.Get(pending.key).row, pending);
  EXPECT_EQ(s.Claim(s.ClaimOf(pending, 1), fence, kT0 + 10s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, PinnedRunIsForItsExecutorOnly) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const CreatedRun created =
      s.v(s.runs.ExecuteJob({.job_id = job.job_id, .executor = ExecutorId("e2")}, {.now = kT0}));
  const RunRow pending = s.Get(created.key).row;
  EXPECT_EQ(pending.pinned_executor, ExecutorId("e2"));
  ExpectRefused(s, s.ClaimOf(pending, 1), fence, kT0 + 1s, ClaimReason::kWrongExecutor);
  ClaimRequest right = s.ClaimOf(pending, 2);
  right.executor = ExecutorId("e2");
  EXPECT_EQ(s.Claim(right, fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, DisabledOrDrainingExecutorClaimsNothing) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const ExecutorId executor("e1");
  ASSERT_OK(s.executors.RegisterExecutor({.id = executor, .incarnation = Incarnation("x1")}));
  const RunRow pending = s.Execute(s.Create("a", s.Manual()), kT0);
  ASSERT_OK(s.executors.SetExecutorEnabled(executor, false));
  ExpectRefused(s, s.ClaimOf(pending, 1), fence, kT0 + 1s, ClaimReason::kExecutorDisabled);
  ASSERT_OK(s.executors.SetExecutorEnabled(executor, true));
  ASSERT_OK(s.executors.SetExecutorDraining(executor, true));
  ExpectRefused(s, s.ClaimOf(pending, 1), fence, kT0 + 1s, ClaimReason::kExecutorDisabled);
  ASSERT_OK(s.executors.SetExecutorDraining(executor, false));
  EXPECT_EQ(s.Claim(s.ClaimOf(pending, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
  // A repeated claim of a running attempt is confirmed, because the first reply may have been lost.
  ASSERT_OK(s.executors.SetExecutorEnabled(executor, false));
  EXPECT_EQ(s.Claim(s.ClaimOf(pending, 1), fence, kT0 + 2s).verdict, ClaimVerdict::kAcceptedAgain);
}

TYPED_TEST(ClaimContract, EmptyBatchHasNoReplies) {
  StoreDriver s = this->driver();
  EXPECT_TRUE(s.v(s.firing.Claim({}, s.Take(), kT0)).empty());
}

// ---- edits are obeyed ---------------------------------------------------------------------------

TYPED_TEST(ClaimContract, ClaimAfterAnEditNeedsTheNewVersion) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 10s, fence);
  const RunRow before = s.OnlyPending(kT0 + 10s);
  JobDefinition edited = job.definition;
  edited.command = "echo edited";
  job = s.Replace(job, edited, kT0 + 10s);
  ExpectRefused(s, s.ClaimOf(before, 1), fence, kT0 + 10s, ClaimReason::kVersionMoved);
  const RunRow after = s.OnlyPending(kT0 + 10s);
  EXPECT_EQ(after.key, before.key);
  EXPECT_EQ(after.def_version, job.version);
  EXPECT_EQ(s.Claim(s.ClaimOf(after, 2), fence, kT0 + 10s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, ClaimAfterPauseDeleteOrCancelIsRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob paused = s.Create("paused", s.Every(10s));
  const StoredJob deleted = s.Create("deleted", s.Every(10s));
  const StoredJob cancelled = s.Create("cancelled", s.Every(10s));
  s.Plan(kT0 + 10s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 10s);
  ASSERT_EQ(rows.size(), 3u);
  const WallTime now = kT0 + 10s;
  s.Pause(paused, now);
  ASSERT_OK(s.jobs.DeleteJob(deleted.job_id, deleted.version, {.now = now}));
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(cancelled.job_id, {.now = now})), 1);
  for (const RunRow& row : rows) {
    EXPECT_EQ(s.Claim(s.ClaimOf(row, 1), fence, now).verdict, ClaimVerdict::kRefused);
    EXPECT_TRUE(IsFinal(s.Get(row.key).row.state));
  }
}

TYPED_TEST(ClaimContract, ClaimOfAnUnplannedRunIsRefusedAsGone) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Every(10s));
  s.Plan(kT0 + 10s, fence);
  const RunRow row = s.OnlyPending(kT0 + 10s);
  s.Pause(job, kT0 + 5s);
  ExpectRefused(s, s.ClaimOf(row, 1), fence, kT0 + 10s, ClaimReason::kGone);
}

TYPED_TEST(ClaimContract, HeldBackRetryIsRefusedAsPausedUntilItsJobResumes) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  definition.retry_interval_s = 1;
  StoredJob job = s.Create("a", definition);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0);
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 1s);
  job = s.Pause(job, kT0 + 2s);
  const RunRow held = s.Get(running.key).row;
  EXPECT_EQ(held.due, kNever);
  EXPECT_EQ(held.def_version, job.version);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
  ExpectRefused(s, s.ClaimOf(held, 2), fence, kT0 + 10s, ClaimReason::kPaused);
  job = s.Resume(job, kT0 + 20s);
  const RunRow released = s.OnlyPending(kT0 + 20s);
  EXPECT_EQ(released.due, kT0 + 20s);
  EXPECT_EQ(released.attempt, 2);
  EXPECT_EQ(released.def_version, job.version);
  EXPECT_EQ(s.Claim(s.ClaimOf(released, 3), fence, kT0 + 20s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, RetryConditionsAreThoseOfThePresentDefinition) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 5;
  definition.retry_on = {"exit:75", "exit:100-110"};
  definition.no_retry_on = {"exit:105", "signal"};
  const StoredJob job = s.Create("a", definition);
  RunRow row = s.Execute(job, kT0);
  uint64_t token = 0;
  const auto fail_with = [&](int code) {
    const RunRow running = s.Start(row, ++token, fence, row.due);
    ResultReport report = s.ReportOf(running, RunState::kFailed);
    report.result.exit_code = code;
    s.Apply(report, fence, row.due + 1s);
    row = s.Get(running.key).row;
    return row.state;
  };
  EXPECT_EQ(fail_with(75), RunState::kPending);
  EXPECT_EQ(fail_with(100), RunState::kPending);
  definition.retry_on = {};
  s.v(s.jobs.ReplaceJob(job.job_id, job.version, definition, {.now = row.due}));
  row = s.Get(row.key).row;
  EXPECT_EQ(fail_with(3), RunState::kPending);
  EXPECT_EQ(fail_with(105), RunState::kFailed);
  EXPECT_EQ(s.Get(row.key).result.reason, "not_retryable");
}

// ---- overlap ------------------------------------------------------------------------------------

// A job with overlap=skip and two due runs of it.
struct TwoDueRuns {
  StoredJob job;
  RunRow first;
  RunRow second;
};
inline TwoDueRuns SkipOverlap(StoreDriver& s, JobDefinition definition = StoreDriver::Manual()) {
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob job = s.Create("a", definition);
  const RunRow first = s.Execute(job, kT0);
  return {job, first, s.Execute(job, kT0)};
}

inline ClaimReply ClaimSkipping(StoreDriver& s, const RunKey& key, uint64_t token,
                                const Fence& fence, WallTime now) {
  return s.Claim(s.ClaimOf(s.Get(key).row, token, OverlapPolicy::kSkip), fence, now);
}

TYPED_TEST(ClaimContract, OverlapSkipRunsOneAndSkipsTheOther) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const TwoDueRuns due = SkipOverlap(s);
  EXPECT_EQ(ClaimSkipping(s, due.first.key, 1, fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
  const ClaimReply reply = ClaimSkipping(s, due.second.key, 2, fence, kT0 + 1s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(reply.reason, ClaimReason::kOverlap);
  const RunDetail skipped = s.Get(due.second.key);
  EXPECT_EQ(skipped.row.state, RunState::kSkipped);
  EXPECT_EQ(skipped.result.reason, reason::kOverlap);
  ExpectRefused(s, s.ClaimOf(due.second, 3, OverlapPolicy::kSkip), fence, kT0 + 2s,
                ClaimReason::kNotPending);
}

TYPED_TEST(ClaimContract, OverlapIsDecidedWithinOneBatchToo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const TwoDueRuns due = SkipOverlap(s);
  const std::vector<ClaimReply> replies =
      s.v(s.firing.Claim({s.ClaimOf(due.first, 1, OverlapPolicy::kSkip),
                          s.ClaimOf(due.second, 2, OverlapPolicy::kSkip),
                          s.ClaimOf(due.first, 1, OverlapPolicy::kSkip)},
                         fence, kT0 + 1s));
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(replies[1].verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(replies[2].verdict, ClaimVerdict::kAcceptedAgain);
}

TYPED_TEST(ClaimContract, OverlapOfOtherJobsOrWithPolicyAllowDoesNotMatter) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const TwoDueRuns due = SkipOverlap(s);
  s.Start(s.Execute(s.Create("other", s.Manual()), kT0), 9, fence, kT0 + 1s);
  EXPECT_EQ(ClaimSkipping(s, due.first.key, 1, fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
  const StoredJob allow = s.Create("allow", s.Manual());
  s.Start(s.Execute(allow, kT0), 2, fence, kT0 + 1s);
  s.Start(s.Execute(allow, kT0), 3, fence, kT0 + 1s);
}

TYPED_TEST(ClaimContract, EveryEndFreesTheOverlapSlot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.overlap_policy = OverlapPolicy::kSkip;
  definition.on_lost = OnLost::kFail;
  const StoredJob job = s.Create("a", definition);
  uint64_t token = 0;
  const auto start = [&] {
    const RunRow row = s.Execute(job, kT0);
    EXPECT_EQ(ClaimSkipping(s, row.key, ++token, fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
    return s.Get(row.key).row;
  };
  for (const RunState state : {RunState::kCompleted, RunState::kFailed, RunState::kTimedOut,
                               RunState::kCancelled, RunState::kLost}) {
    s.Apply(s.ReportOf(start(), state), fence, kT0 + 2s);
  }
  EXPECT_EQ(s.Lose(start(), fence, kT0 + 2s).size(), 1u);
  start();
}

TYPED_TEST(ClaimContract, WaitingForARetryKeepsTheOverlapSlot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  const TwoDueRuns due = SkipOverlap(s, definition);
  ClaimSkipping(s, due.first.key, 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(s.Get(due.first.key).row, RunState::kFailed), fence, kT0 + 2s);
  ASSERT_EQ(s.Get(due.first.key).row.state, RunState::kPending);
  EXPECT_EQ(ClaimSkipping(s, due.second.key, 2, fence, kT0 + 3s).verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(ClaimSkipping(s, due.first.key, 3, fence, kT0 + 1h).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, HeldRunKeepsTheOverlapSlotUntilAPersonEndsIt) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const TwoDueRuns due = SkipOverlap(s, definition);
  ClaimSkipping(s, due.first.key, 1, fence, kT0 + 1s);
  s.Lose(s.Get(due.first.key).row, fence, kT0 + 2s);
  ASSERT_EQ(s.Get(due.first.key).row.state, RunState::kHeld);
  EXPECT_EQ(ClaimSkipping(s, due.second.key, 2, fence, kT0 + 3s).verdict, ClaimVerdict::kSkipped);
  EXPECT_TRUE(s.v(s.runs.CancelRun(due.first.key, {.now = kT0 + 4s, .confirm_overlap = true})));
  const RunRow third = s.Execute(due.job, kT0 + 5s);
  EXPECT_EQ(ClaimSkipping(s, third.key, 3, fence, kT0 + 5s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, WaitingRunThatIsCancelledFreesTheOverlapSlot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  const TwoDueRuns due = SkipOverlap(s, definition);
  ClaimSkipping(s, due.first.key, 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(s.Get(due.first.key).row, RunState::kFailed), fence, kT0 + 2s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(due.first.key, {.now = kT0 + 3s})));
  EXPECT_EQ(ClaimSkipping(s, due.second.key, 2, fence, kT0 + 4s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, RunBetweenTwoAttemptsCountsAfterAnEditToSkip) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  StoredJob job = s.Create("a", definition);
  const RunRow waiting = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(waiting, RunState::kFailed), fence, kT0 + 2s);
  // A run that a user retries after its end has not started again yet.
  const RunRow by_hand = s.Start(s.Execute(job, kT0), 2, fence, kT0 + 1s);
  s.Apply(s.ReportOf(by_hand, RunState::kCancelled), fence, kT0 + 2s);
  s.v(s.runs.RetryRun({.key = by_hand.key}, {.now = kT0 + 2s}));
  definition.overlap_policy = OverlapPolicy::kSkip;
  job = s.Replace(job, definition, kT0 + 3s);
  const RunRow other = s.Execute(job, kT0 + 4s);
  EXPECT_EQ(ClaimSkipping(s, other.key, 3, fence, kT0 + 5s).verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(ClaimSkipping(s, waiting.key, 4, fence, kT0 + 1h).verdict, ClaimVerdict::kAccepted);
  s.Apply(s.ReportOf(s.Get(waiting.key).row, RunState::kCompleted), fence, kT0 + 2h);
  EXPECT_EQ(ClaimSkipping(s, by_hand.key, 5, fence, kT0 + 3h).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(ClaimContract, RunsThatBeganUnderAllowCountAfterAnEditToSkip) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  JobDefinition edited = job.definition;
  edited.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob after = s.Replace(job, edited, kT0 + 2s);
  const RunRow next = s.Execute(after, kT0 + 3s);
  EXPECT_EQ(ClaimSkipping(s, next.key, 2, fence, kT0 + 3s).verdict, ClaimVerdict::kSkipped);
  s.Apply(s.ReportOf(running, RunState::kCompleted), fence, kT0 + 4s);
  const RunRow last = s.Execute(after, kT0 + 5s);
  EXPECT_EQ(ClaimSkipping(s, last.key, 3, fence, kT0 + 5s).verdict, ClaimVerdict::kAccepted);
}

// ---- skips --------------------------------------------------------------------------------------

TYPED_TEST(ClaimContract, SkipWritesOnlyPendingRunsAtThatAttempt) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow waiting = s.Execute(job, kT0);
  const RunRow moved = s.Execute(job, kT0);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  const auto item = [](const RunRow& row, int attempt) {
    return SkipItem{row.key, row.segment,     row.job_no,
                    attempt, row.def_version, reason::kQueueTimeout};
  };
  RunRow missing = waiting;
  missing.key.fire += 1h;
  EXPECT_EQ(
      s.v(s.firing.Skip({item(waiting, 1), item(moved, 2), item(running, 1), item(missing, 1)},
                        fence, kT0 + 2s)),
      std::vector{waiting.key});
  const RunDetail skipped = s.Get(waiting.key);
  EXPECT_EQ(skipped.row.state, RunState::kSkipped);
  EXPECT_EQ(skipped.result.reason, reason::kQueueTimeout);
  EXPECT_EQ(s.Get(moved.key).row, moved);
  EXPECT_EQ(s.Get(running.key).row, running);
}

TYPED_TEST(ClaimContract, SkipThatWasDecidedBeforeAnEditIsLeftAlone) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow row = s.Execute(job, kT0);
  const SkipItem item{row.key, row.segment, row.job_no, 1, row.def_version, reason::kQueueTimeout};
  s.Replace(job, job.definition, kT0 + 1s);
  EXPECT_EQ(s.v(s.firing.Skip({item}, fence, kT0 + 2s)).size(), 0u);
  EXPECT_EQ(s.Get(row.key).row.state, RunState::kPending);
}

TYPED_TEST(ClaimContract, RunThatIsSkippedAfterItWasTriedLeavesADeadLetter) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 3;
  const TwoDueRuns due = SkipOverlap(s, definition);
  ClaimSkipping(s, due.first.key, 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(s.Get(due.first.key).row, RunState::kFailed), fence, kT0 + 2s);
  const RunRow waiting = s.Get(due.first.key).row;
  ASSERT_EQ(waiting.attempt, 2);
  const auto skip = [&](const RunRow& row) {
    return SkipItem{row.key,     row.segment,     row.job_no,
                    row.attempt, row.def_version, reason::kQueueTimeout};
  };
  EXPECT_EQ(s.v(s.firing.Skip({skip(waiting), skip(due.second)}, fence, kT0 + 1h)).size(), 2u);
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.limit = 10}));
  EXPECT_EQ(s.v(s.runs.GetDeadLetter(letters.at(0).id)).key, letters[0].key);
  ASSERT_EQ(letters.size(), 1u);  // the other run had no attempt
  EXPECT_EQ(letters[0].key, waiting.key);
  EXPECT_EQ(letters[0].state, RunState::kSkipped);
  EXPECT_EQ(letters[0].attempts, 1);
  EXPECT_EQ(letters[0].reason, reason::kQueueTimeout);
}

TYPED_TEST(ClaimContract, RetryThatMeetsAnotherRunWaitsForItsSlot) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  const RunRow first = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  const RunRow second = s.Start(s.Execute(job, kT0), 2, fence, kT0 + 1s);
  s.Apply(s.ReportOf(first, RunState::kFailed), fence, kT0 + 2s);
  definition.overlap_policy = OverlapPolicy::kSkip;
  s.Replace(job, definition, kT0 + 3s);
  EXPECT_EQ(ClaimSkipping(s, first.key, 3, fence, kT0 + 1h).verdict, ClaimVerdict::kEnqueued);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
  EXPECT_EQ(s.Get(second.key).row.state, RunState::kRunning);
  s.Apply(s.ReportOf(second, RunState::kCompleted), fence, kT0 + 2h);
  const AdmissionEffect admitted = s.v(s.queues.Admit({job.job_no, job.segment}, fence, kT0 + 2h));
  ASSERT_EQ(admitted.admitted.size(), 1u);
  EXPECT_EQ(admitted.admitted[0].key, first.key);
  EXPECT_EQ(ClaimSkipping(s, first.key, 4, fence, kT0 + 2h).verdict, ClaimVerdict::kAccepted);
}

}  // namespace carillon::test
