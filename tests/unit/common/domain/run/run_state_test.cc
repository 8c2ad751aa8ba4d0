#include "common/domain/run/run_state.h"

#include "common/domain/run/run_kind.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/failpoint_on.h"

namespace carillon {
namespace {

const WallTime kNow = FromUnixMicros(1'772'323'200'000'000);
const ClaimToken kToken{1, 2};
const ClaimToken kOther{3, 4};

RunRow Pending() {
  RunRow row;
  row.key = {kNow - 1s, ScheduleId(7), 0};
  row.due = kNow - 1s;
  row.def_version = 3;
  return row;
}

RunRow Running() {
  RunRow row = Pending();
  row.state = RunState::kRunning;
  row.claim_token = kToken;
  row.executor = ExecutorId("e1");
  return row;
}

JobRow Job(int64_t retry_count, OnLost on_lost = OnLost::kRetry) {
  JobRow job;
  job.version = 5;
  job.retry = {.retry_count = retry_count, .interval = 10s, .on_lost = on_lost};
  return job;
}

ClaimRequest Claim() {
  ClaimRequest request;
  request.key = Pending().key;
  request.def_version = 3;
  request.token = kToken;
  request.executor = ExecutorId("e1");
  return request;
}

ResultReport Report(RunState state, ClaimToken token = kToken, int attempt = 1) {
  ResultReport report;
  report.key = Pending().key;
  report.attempt = attempt;
  report.token = token;
  report.result.state = state;
  report.result.reason = state == RunState::kFailed ? "exit_code" : "";
  return report;
}

LostReport Lost(ClaimToken token = kToken, int attempt = 1) {
  return {.key = Pending().key, .attempt = attempt, .token = token};
}

class RunStateTest : public testing::Test {
 protected:
  void TearDown() override { failpoint::Reset(); }
};

TEST_F(RunStateTest, ClaimAcceptsAPendingDueRunOfTheSameVersion) {
  const RunRow row = Pending();
  EXPECT_EQ(DecideClaim(&row, Claim(), {.now = kNow}).verdict, ClaimVerdict::kAccepted);
}

struct RefusedClaim {
  const char* what;
  std::function<void(RunRow&, ClaimRequest&, ClaimFacts&)> arrange;
  ClaimReason reason;
};

TEST_F(RunStateTest, ClaimRefusesWithTheReason) {
  const RefusedClaim refusals[] = {
      {"final", [](auto& r, auto&, auto&) { r.state = RunState::kCompleted; },
       ClaimReason::kNotPending},
      {"held", [](auto& r, auto&, auto&) { r.state = RunState::kHeld; }, ClaimReason::kNotPending},
      {"running for another",
       [](auto& r, auto&, auto&) {
         r.state = RunState::kRunning;
         r.claim_token = kOther;
       },
       ClaimReason::kNotPending},
      {"older attempt", [](auto& r, auto&, auto&) { r.attempt = 2; }, ClaimReason::kAttemptMoved},
      {"edited", [](auto& r, auto&, auto&) { r.def_version = 4; }, ClaimReason::kVersionMoved},
      {"ruled", [](auto&, auto& c, auto&) { c.rules = "a=1"; }, ClaimReason::kVersionMoved},
      {"paused", [](auto& r, auto&, auto&) { r.due = kNever; }, ClaimReason::kPaused},
      {"blocked", [](auto& r, auto&, auto&) { r.due = kBlocked; }, ClaimReason::kNotDue},
      {"awaiting", [](auto& r, auto&, auto&) { r.due = kAwaiting; }, ClaimReason::kNotDue},
      {"early by a microsecond", [](auto& r, auto&, auto&) { r.due = kNow + 1us; },
       ClaimReason::kNotDue},
      {"cancelled", [](auto& r, auto&, auto&) { r.cancel_requested = CancelMode::kGraceful; },
       ClaimReason::kCancelled},
      {"disabled", [](auto&, auto&, auto& f) { f.executor_enabled = false; },
       ClaimReason::kExecutorDisabled},
      {"pinned elsewhere", [](auto& r, auto&, auto&) { r.pinned_executor = ExecutorId("e2"); },
       ClaimReason::kWrongExecutor},
      {"to run elsewhere", [](auto&, auto& c, auto&) { c.elsewhere = true; },
       ClaimReason::kWrongExecutor},
      {"another job's", [](auto&, auto& c, auto&) { c.job_no = JobNo(c.job_no.value() + 1); },
       ClaimReason::kVersionMoved},
      {"held back", [](auto&, auto& c, auto&) { c.hold_back = ClaimReason::kClusterPaused; },
       ClaimReason::kClusterPaused},
  };
  for (const RefusedClaim& refusal : refusals) {
    RunRow row = Pending();
    ClaimRequest request = Claim();
    ClaimFacts facts{.now = kNow};
    refusal.arrange(row, request, facts);
    const ClaimDecision decision = DecideClaim(&row, request, facts);
    EXPECT_EQ(decision.verdict, ClaimVerdict::kRefused) << refusal.what;
    EXPECT_EQ(decision.reason, refusal.reason) << refusal.what;
  }
  EXPECT_EQ(DecideClaim(nullptr, Claim(), {.now = kNow}).reason, ClaimReason::kGone);
}

TEST_F(RunStateTest, APinOfTheRunGoesBeforeWhatItsJobSays) {
  RunRow row = Pending();
  ClaimRequest request = Claim();
  request.elsewhere = true;
  row.pinned_executor = request.executor;
  EXPECT_EQ(DecideClaim(&row, request, {.now = kNow}).verdict, ClaimVerdict::kAccepted);
  row.key.shard = 1;  // a begin has bound it to an executor that matched then
  EXPECT_EQ(DecideClaim(&row, request, {.now = kNow}).reason, ClaimReason::kWrongExecutor);
}

TEST_F(RunStateTest, ClaimWithTheSameTokenIsAcceptedAgain) {
  const RunRow row = Running();
  EXPECT_EQ(DecideClaim(&row, Claim(), {.now = kNow}).verdict, ClaimVerdict::kAcceptedAgain);
}

TEST_F(RunStateTest, OverlapSkipsOnlyWhereTheJobAsksForIt) {
  const RunRow row = Pending();
  ClaimRequest request = Claim();
  const ClaimFacts taken{.now = kNow, .slots = {.taken = 1}};
  EXPECT_EQ(DecideClaim(&row, request, taken).verdict, ClaimVerdict::kAccepted);
  request.overlap.policy = OverlapPolicy::kSkip;
  EXPECT_EQ(DecideClaim(&row, request, taken).verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(SkipReasonOf(DecideClaim(&row, request, taken)), reason::kOverlap);
}

TEST_F(RunStateTest, OverlapDoesNotSkipALaterAttempt) {
  RunRow row = Pending();
  row.attempt = 2;
  ClaimRequest request = Claim();
  request.attempt = 2;
  request.overlap.policy = OverlapPolicy::kSkip;
  EXPECT_EQ(DecideClaim(&row, request, {.now = kNow, .slots = {.taken = 1}}).verdict,
            ClaimVerdict::kEnqueued);
  request.overlap = {.policy = OverlapPolicy::kQueueAll, .queue_max = 2};
  EXPECT_EQ(DecideClaim(&row, request, {.now = kNow, .slots = {.taken = 1, .queued = 2}}).verdict,
            ClaimVerdict::kEnqueued);
}

TEST_F(RunStateTest, ClaimQueuesARunWithoutASlotOnce) {
  RunRow row = Pending();
  ClaimRequest request = Claim();
  request.overlap = {.policy = OverlapPolicy::kQueueAll, .queue_max = 2};
  ClaimFacts facts{.now = kNow, .slots = {.taken = 1, .queued = 1}};
  EXPECT_EQ(DecideClaim(&row, request, facts).verdict, ClaimVerdict::kEnqueued);
  facts.slots.queued = 2;
  const ClaimDecision full = DecideClaim(&row, request, facts);
  EXPECT_EQ(full.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(SkipReasonOf(full), reason::kQueueFull);
  row.due = kQueued;
  const ClaimDecision again = DecideClaim(&row, request, {.now = kNow});
  EXPECT_EQ(again.verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(again.reason, ClaimReason::kWaitsForSlot);
}

TEST_F(RunStateTest, RetryByHandLeavesAnAttemptThatWaitsForSomethingInItsPlace) {
  for (const WallTime due : {kQueued, kBlocked, kAwaiting}) {
    RunRow row = Pending();
    row.attempt = 2;
    row.due = due;
    const auto change = DecideRetryByHand(row, JobRow{}, Overlap::kUnconfirmed, kNow);
    EXPECT_EQ(change.code(), ErrorCode::kConflict);
  }
}

TEST_F(RunStateTest, LatenessCountsFromTheDueTime) {
  RunRow row = Pending();
  row.key.fire = kNow - 1h;
  row.due = kNow - 1s;
  ClaimRequest request = Claim();
  request.late_after = 10s;
  EXPECT_FALSE(StartsLate(row, request, kNow));
  row.due = kNow - 11s;
  EXPECT_TRUE(StartsLate(row, request, kNow));
}

TEST_F(RunStateTest, SuccessCompletes) {
  const RunRow row = Running();
  const auto decision = DecideResult(&row, nullptr, Report(RunState::kCompleted), kNow);
  EXPECT_EQ(decision.verdict, ResultVerdict::kApplied);
  EXPECT_EQ(decision.change.state, RunState::kCompleted);
  EXPECT_TRUE(decision.change.store_result);
  EXPECT_FALSE(decision.change.dead_letter);
}

TEST_F(RunStateTest, FailureIsRetriedWithTheCurrentVersionWhileAttemptsAreLeft) {
  RunRow row = Running();
  const JobRow job = Job(1);
  const RunChange first = DecideResult(&row, &job, Report(RunState::kFailed), kNow).change;
  EXPECT_EQ(first.state, RunState::kPending);
  EXPECT_EQ(first.attempt, 2);
  EXPECT_EQ(first.due, kNow + 10s);
  EXPECT_EQ(first.def_version, 5);
  EXPECT_TRUE(first.record_attempt);
  row.attempt = 2;
  const RunChange last =
      DecideResult(&row, &job, Report(RunState::kFailed, kToken, 2), kNow).change;
  EXPECT_EQ(last.state, RunState::kFailed);
  EXPECT_TRUE(last.dead_letter);
}

TEST_F(RunStateTest, FailureIsFinalWhenCancelledOrDeletedAndWaitsWhenPaused) {
  RunRow row = Running();
  JobRow job = Job(3);
  job.paused = true;
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kFailed), kNow).change.due, kNever);
  job = Job(3);
  job.deleted = true;
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kTimedOut), kNow).change.state,
            RunState::kTimedOut);
  job = Job(3);
  row.cancel_requested = CancelMode::kGraceful;
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kFailed), kNow).change.state,
            RunState::kFailed);
}

TEST_F(RunStateTest, LateSuccessOfALostAttemptCompletesAnUnclaimedRetry) {
  RunRow row = Running();
  row.state = RunState::kPending;
  row.attempt = 2;
  const JobRow job = Job(3);
  const auto late = DecideResult(&row, &job, Report(RunState::kCompleted), kNow);
  EXPECT_EQ(late.verdict, ResultVerdict::kApplied);
  EXPECT_EQ(late.change.state, RunState::kCompleted);
  EXPECT_EQ(late.change.attempt, 1);
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kFailed), kNow).verdict,
            ResultVerdict::kRecordedOnly);
}

TEST_F(RunStateTest, ResultWithAnotherTokenOrForAFinalRunIsOnlyRecorded) {
  RunRow row = Running();
  const JobRow job = Job(3);
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kCompleted, kOther), kNow).verdict,
            ResultVerdict::kRecordedOnly);
  row.state = RunState::kCompleted;
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kFailed), kNow).verdict,
            ResultVerdict::kRecordedOnly);
  EXPECT_EQ(DecideResult(nullptr, nullptr, Report(RunState::kFailed), kNow).verdict,
            ResultVerdict::kUnknownRun);
}

TEST_F(RunStateTest, LossFollowsThePolicy) {
  const RunRow row = Running();
  const auto retry = DecideLost(&row, Job(1), Lost(), kNow);
  ASSERT_TRUE(retry.has_value());
  EXPECT_EQ(retry->state, RunState::kPending);
  EXPECT_EQ(retry->due, kNow);
  EXPECT_EQ(DecideLost(&row, Job(0), Lost(), kNow)->state, RunState::kLost);
  EXPECT_TRUE(DecideLost(&row, Job(0), Lost(), kNow)->dead_letter);
  EXPECT_EQ(DecideLost(&row, Job(1, OnLost::kFail), Lost(), kNow)->state, RunState::kFailed);
  EXPECT_EQ(DecideLost(&row, Job(1, OnLost::kHold), Lost(), kNow)->state, RunState::kHeld);
}

TEST_F(RunStateTest, LossOfAnAttemptThatMovedIsNothing) {
  RunRow row = Running();
  EXPECT_FALSE(DecideLost(&row, Job(1), Lost(kOther), kNow).has_value());
  EXPECT_FALSE(DecideLost(&row, Job(1), Lost(kToken, 2), kNow).has_value());
  row.state = RunState::kCompleted;
  EXPECT_FALSE(DecideLost(&row, Job(1), Lost(), kNow).has_value());
  EXPECT_FALSE(DecideLost(nullptr, Job(1), Lost(), kNow).has_value());
}

TEST_F(RunStateTest, LossAfterACancelRequestIsCancelled) {
  RunRow row = Running();
  row.cancel_requested = CancelMode::kGraceful;
  EXPECT_EQ(DecideLost(&row, Job(3), Lost(), kNow)->state, RunState::kCancelled);
}

TEST_F(RunStateTest, LossOfACancelledAttemptThatIsNotKilledWaits) {
  RunRow row = Running();
  row.cancel_requested = CancelMode::kGraceful;
  for (const OnLost policy : {OnLost::kHold, OnLost::kFail}) {
    const auto change = DecideLost(&row, Job(3, policy), Lost(), kNow);
    EXPECT_EQ(change->state, RunState::kHeld);
    EXPECT_TRUE(MayStillRun(change->state, change->reason));
    // A report of the warden proves that the process is dead; an expired lease does not.
    ResultReport word = Report(RunState::kLost);
    word.result.reason = reason::kWardenDied;
    const JobRow job = Job(3, policy);
    EXPECT_EQ(DecideResult(&row, &job, word, kNow).change.state, RunState::kCancelled);
  }
  JobRow edited = Job(3, OnLost::kRetry);
  edited.attempt_rules = {OnLost::kHold};  // the policy with which the attempt was started
  EXPECT_EQ(DecideLost(&row, edited, Lost(), kNow)->state, RunState::kHeld);
  edited = Job(3, OnLost::kHold);
  edited.attempt_rules = {OnLost::kRetry};
  EXPECT_EQ(DecideLost(&row, edited, Lost(), kNow)->state, RunState::kCancelled);
}

TEST_F(RunStateTest, OnlyGivenUpAttemptsMayStillRun) {
  EXPECT_TRUE(MayStillRun(RunState::kHeld, reason::kExecutorLost));
  EXPECT_TRUE(MayStillRun(RunState::kFailed, reason::kExecutorLost));
  EXPECT_TRUE(MayStillRun(RunState::kCancelled, reason::kOutcomeUnknown));
  EXPECT_FALSE(MayStillRun(RunState::kLost, reason::kExecutorLost));  // killed when its lease ended
  EXPECT_FALSE(MayStillRun(RunState::kCancelled, reason::kExecutorLost));
  EXPECT_FALSE(MayStillRun(RunState::kHeld, reason::kWardenDied));
  EXPECT_FALSE(MayStillRun(RunState::kFailed, reason::kExitCode));
  EXPECT_FALSE(MayStillRun(RunState::kPending, ""));
}

TEST_F(RunStateTest, HeldRunWhoseProcessMayStillRunEndsOnlyWhenConfirmed) {
  RunRow row = Running();
  row.state = RunState::kHeld;
  row.may_still_run = true;
  EXPECT_EQ(DecideCancel(row, CancelMode::kGraceful, Overlap::kUnconfirmed),
            CancelEffect::kRequested);
  EXPECT_EQ(DecideCancel(row, CancelMode::kGraceful, Overlap::kConfirmed),
            CancelEffect::kCancelledNow);
  EXPECT_EQ(CancelReason(row), reason::kOutcomeUnknown);
  EXPECT_EQ(DecideRetryByHand(row, Job(0), Overlap::kUnconfirmed, kNow).code(),
            ErrorCode::kConflict);
  EXPECT_TRUE(DecideRetryByHand(row, Job(0), Overlap::kConfirmed, kNow).ok());
  row.may_still_run = false;
  EXPECT_EQ(DecideCancel(row, CancelMode::kGraceful, Overlap::kUnconfirmed),
            CancelEffect::kCancelledNow);
  EXPECT_EQ(CancelReason(row), reason::kCancelRequested);
  EXPECT_TRUE(DecideRetryByHand(row, Job(0), Overlap::kUnconfirmed, kNow).ok());
}

TEST_F(RunStateTest, AKillIsNotTakenBack) {
  RunRow row = Running();
  const auto decide = [&row](CancelMode mode) {
    return DecideCancel(row, mode, Overlap::kUnconfirmed);
  };
  for (const RunState state : {RunState::kRunning, RunState::kHeld}) {
    row.state = state;
    row.may_still_run = state == RunState::kHeld;
    row.cancel_requested = CancelMode::kGraceful;
    EXPECT_EQ(decide(CancelMode::kGraceful), CancelEffect::kRequested);
    EXPECT_EQ(decide(CancelMode::kKill), CancelEffect::kRequested);
    row.cancel_requested = CancelMode::kKill;
    EXPECT_EQ(decide(CancelMode::kKill), CancelEffect::kRequested);
    EXPECT_EQ(decide(CancelMode::kGraceful), CancelEffect::kAskedHarder);
  }
  EXPECT_EQ(DecideCancel(row, CancelMode::kGraceful, Overlap::kConfirmed),
            CancelEffect::kCancelledNow);
  row.state = RunState::kCancelled;
  EXPECT_EQ(decide(CancelMode::kKill), CancelEffect::kNothing);
}

TEST_F(RunStateTest, CancelSaysWhoAndWhyAndWhetherItKills) {
  UserCancel word{.mode = CancelMode::kKill, .actor = "ann"};
  EXPECT_EQ(CancelSentence(word) + CancelSentence({}), "killed by ann");
  word.reason = "deaf";
  EXPECT_EQ(CancelSentence(word), "killed by ann: deaf");
  word.effect = CancelEffect::kCancelledNow;  // nothing was running
  EXPECT_EQ(CancelSentence(word), "cancelled by ann: deaf");
  word.actor = "";
  EXPECT_EQ(CancelSentence(word), "cancelled by an unknown user: deaf");
}

TEST_F(RunStateTest, CancelModesAreReadAsTheyAreWritten) {
  for (const CancelMode mode : {CancelMode::kGraceful, CancelMode::kKill}) {
    EXPECT_EQ(*ParseCancelMode(Name(mode)), mode);
  }
  EXPECT_FALSE(ParseCancelMode("KILL").ok());
  EXPECT_FALSE(ParseCancelMode("").ok());
}

TEST_F(RunStateTest, WordThatAHeldProcessIsDeadIsKeptAndEndsACancel) {
  RunRow row = Running();
  row.state = RunState::kHeld;
  row.may_still_run = true;
  const JobRow job = Job(0, OnLost::kHold);
  ResultReport word = Report(RunState::kLost);
  word.result.reason = reason::kWardenDied;
  const auto kept = DecideResult(&row, &job, word, kNow);
  EXPECT_EQ(kept.verdict, ResultVerdict::kApplied);
  EXPECT_EQ(kept.change.state, RunState::kHeld);
  EXPECT_FALSE(MayStillRun(kept.change.state, kept.change.reason));
  row.cancel_requested = CancelMode::kGraceful;
  EXPECT_EQ(DecideResult(&row, &job, word, kNow).change.state, RunState::kCancelled);
}

TEST_F(RunStateTest, ResultOfAHeldRunDecidesIt) {
  RunRow row = Running();
  row.state = RunState::kHeld;
  const JobRow job = Job(0);
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kCompleted), kNow).change.state,
            RunState::kCompleted);
  EXPECT_EQ(DecideResult(&row, &job, Report(RunState::kLost), kNow).verdict,
            ResultVerdict::kRecordedOnly);
}

TEST_F(RunStateTest, RetryByHandOnlyOfEndedOrHeldRuns) {
  for (const RunState state : {RunState::kFailed, RunState::kTimedOut, RunState::kLost,
                               RunState::kCancelled, RunState::kHeld}) {
    RunRow row = Running();
    row.state = state;
    row.attempt = 4;
    const auto change = DecideRetryByHand(row, Job(0), Overlap::kUnconfirmed, kNow);
    ASSERT_TRUE(change.ok()) << Name(state);
    EXPECT_EQ(change->attempt, 5);
    EXPECT_EQ(change->def_version, 5);
    EXPECT_EQ(change->due, kNow);
  }
  for (const RunState state :
       {RunState::kPending, RunState::kRunning, RunState::kCompleted, RunState::kSkipped}) {
    RunRow row = Running();
    row.state = state;
    EXPECT_EQ(DecideRetryByHand(row, Job(0), Overlap::kConfirmed, kNow).code(),
              ErrorCode::kConflict)
        << Name(state);
  }
  JobRow deleted = Job(0);
  deleted.deleted = true;
  RunRow row = Running();
  row.state = RunState::kFailed;
  EXPECT_EQ(DecideRetryByHand(row, deleted, Overlap::kConfirmed, kNow).code(),
            ErrorCode::kNotFound);
}

TEST_F(RunStateTest, RetryByHandMakesAWaitingRetryDueNow) {
  for (const WallTime due : {kNow + 1h, kNever}) {
    RunRow row = Pending();
    row.attempt = 2;
    row.due = due;
    const auto change = DecideRetryByHand(row, Job(0), Overlap::kUnconfirmed, kNow);
    ASSERT_TRUE(change.ok());
    EXPECT_EQ(change->state, RunState::kPending);
    EXPECT_EQ(change->attempt, 2);
    EXPECT_EQ(change->due, kNow);
    EXPECT_EQ(change->def_version, row.def_version);
    EXPECT_EQ(change->priority, row.priority);
    EXPECT_FALSE(change->record_attempt);
  }
  RunRow first = Pending();
  first.due = kNow + 1h;
  EXPECT_EQ(DecideRetryByHand(first, Job(0), Overlap::kConfirmed, kNow).code(),
            ErrorCode::kConflict);
  RunRow due = Pending();
  due.attempt = 2;
  due.due = kNow;
  EXPECT_EQ(DecideRetryByHand(due, Job(0), Overlap::kConfirmed, kNow).code(), ErrorCode::kConflict);
}

TEST_F(RunStateTest, PendingRunsFollowTheTableOfEdits) {
  RunRow ahead = Pending();
  ahead.key.fire = kNow + 5s;
  const RunRow due = Pending();
  RunRow later = Pending();
  later.attempt = 2;
  using enum JobChange;
  using enum PendingEffect;
  EXPECT_EQ(DecidePendingEffect(ahead, kEdited, true, kNow), kKeep);
  EXPECT_EQ(DecidePendingEffect(ahead, kEdited, false, kNow), kUnplan);
  EXPECT_EQ(DecidePendingEffect(due, kEdited, false, kNow), kKeep);
  EXPECT_EQ(DecidePendingEffect(later, kEdited, false, kNow), kKeep);
  EXPECT_EQ(DecidePendingEffect(ahead, kPaused, true, kNow), kUnplan);
  EXPECT_EQ(DecidePendingEffect(due, kPaused, true, kNow), kSkip);
  EXPECT_EQ(DecidePendingEffect(later, kPaused, true, kNow), kHoldBack);
  EXPECT_EQ(DecidePendingEffect(ahead, kDeleted, true, kNow), kUnplan);
  EXPECT_EQ(DecidePendingEffect(due, kDeleted, true, kNow), kSkip);
  EXPECT_EQ(DecidePendingEffect(later, kDeleted, true, kNow), kCancel);
}

TEST_F(RunStateTest, ABackfillWaitsWhereOthersAreSkipped) {
  RunRow row = Pending();
  row.kind = RunKind::kBackfill;
  EXPECT_EQ(DecidePendingEffect(row, JobChange::kPaused, true, kNow), PendingEffect::kHoldBack);
  ClaimRequest claim = Claim();
  claim.overlap = {.policy = OverlapPolicy::kSkip};
  const ClaimFacts full{.now = kNow, .slots = {.taken = 1}};
  EXPECT_EQ(DecideClaim(&row, claim, full).verdict, ClaimVerdict::kEnqueued);
  row.kind = RunKind::kDelay;
  EXPECT_EQ(DecideClaim(&row, claim, full).verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(DecidePendingEffect(row, JobChange::kPaused, true, kNow), PendingEffect::kSkip);
}

TEST_F(RunStateTest, SwitchingTheTokenRuleOffIsVisible) {
  RunRow row = Running();
  row.claim_token = kOther;
  failpoint::Break("claim.token");
  EXPECT_EQ(DecideClaim(&row, Claim(), {.now = kNow}).verdict, ClaimVerdict::kAcceptedAgain);
}

}  // namespace
}  // namespace carillon
