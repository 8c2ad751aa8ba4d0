#include "common/domain/run/hanging.h"

#include <gtest/gtest.h>

namespace carillon {
namespace {

const WallTime kHangingNow = FromUnixMicros(1'772'323'200'000'000);
const ClaimToken kHangingToken{1, 2};

RunRow RunningHandler() {
  RunRow row;
  row.key = {kHangingNow - 1h, ScheduleId(7), 0};
  row.state = RunState::kRunning;
  row.due = row.key.fire;
  row.def_version = 3;
  row.claim_token = kHangingToken;
  row.executor = ExecutorId("e1");
  return row;
}

RunRow HeldUntil(WallTime dead_at) {
  RunRow row = RunningHandler();
  row.state = RunState::kHeld;
  row.may_still_run = true;
  row.due = dead_at;
  row.flags |= run_flag::kPresume;
  return row;
}

JobRow HandlerJob(Duration presume_dead, int64_t retry_count = 1) {
  JobRow job;
  job.version = 3;
  job.retry = {.retry_count = retry_count,
               .interval = 10s,
               .on_lost = OnLost::kRetry,
               .presume_dead = presume_dead};
  job.cooperative = true;
  return job;
}

LostReport ReportOf(const RunRow& row) {
  return {.key = row.key, .attempt = row.attempt, .token = row.claim_token};
}

TEST(HangingTest, OnlyACancelledHandlerThatRunsIsGivenUpAndOnlyConfirmed) {
  RunRow row = RunningHandler();
  EXPECT_FALSE(MayGiveUp(row, true)) << "nobody asked it to stop";
  EXPECT_EQ(CheckGiveUp(row, true, Overlap::kConfirmed).error().pointer, "/give_up");
  row.cancel_requested = CancelMode::kGraceful;
  EXPECT_TRUE(MayGiveUp(row, true));
  EXPECT_TRUE(CheckGiveUp(row, true, Overlap::kConfirmed).ok());
  const Status unconfirmed = CheckGiveUp(row, true, Overlap::kUnconfirmed);
  ASSERT_FALSE(unconfirmed.ok());
  EXPECT_EQ(unconfirmed.code(), ErrorCode::kConflict);
  EXPECT_EQ(unconfirmed.error().pointer, "/confirm_overlap");
  EXPECT_FALSE(MayGiveUp(row, false)) << "a process can be killed";
  EXPECT_FALSE(CheckGiveUp(row, false, Overlap::kConfirmed).ok());
  for (const RunState state : {RunState::kPending, RunState::kHeld, RunState::kCancelled}) {
    row.state = state;
    EXPECT_FALSE(MayGiveUp(row, true)) << Name(state);
  }
}

TEST(HangingTest, GivenUpAttemptEndsCancelledWithAnUnknownOutcome) {
  RunRow row = RunningHandler();
  row.cancel_requested = CancelMode::kGraceful;
  for (const RunState state : {RunState::kRunning, RunState::kHeld}) {
    row.state = state;
    const auto change = DecideGivenUp(&row, ReportOf(row));
    ASSERT_TRUE(change.has_value()) << Name(state);
    EXPECT_EQ(change->state, RunState::kCancelled);
    EXPECT_EQ(change->reason, reason::kOutcomeUnknown);
    EXPECT_TRUE(MayStillRun(change->state, change->reason));
    EXPECT_FALSE(change->dead_letter);
  }
}

TEST(HangingTest, NothingIsGivenUpThatMovedOn) {
  RunRow row = RunningHandler();
  row.cancel_requested = CancelMode::kGraceful;
  LostReport other = ReportOf(row);
  other.attempt = 2;
  EXPECT_FALSE(DecideGivenUp(&row, other));
  other = ReportOf(row);
  other.token = {3, 4};
  EXPECT_FALSE(DecideGivenUp(&row, other));
  EXPECT_FALSE(DecideGivenUp(nullptr, ReportOf(row)));
  row.state = RunState::kCancelled;
  EXPECT_FALSE(DecideGivenUp(&row, ReportOf(row)));
  row.state = RunState::kRunning;
  row.claim_token = {};
  EXPECT_FALSE(DecideGivenUp(&row, ReportOf(row))) << "no attempt";
}

TEST(HangingTest, SentenceNamesTheUserOnlyWithAReason) {
  EXPECT_EQ(GiveUpSentence("anna", "it hangs"), "given up by anna: it hangs");
  EXPECT_EQ(GiveUpSentence("", "it hangs"), "given up by an unknown user: it hangs");
  EXPECT_EQ(GiveUpSentence("anna", ""), "");
}

TEST(HangingTest, LossUnderPresumeDeadIsHeldUntilThen) {
  const RunRow row = RunningHandler();
  auto change = DecideLost(&row, HandlerJob(300s), ReportOf(row), kHangingNow);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->state, RunState::kHeld);
  EXPECT_EQ(change->due, kHangingNow + 300s);
  change = DecideLost(&row, HandlerJob(0s), ReportOf(row), kHangingNow);
  EXPECT_EQ(change->due, kNever) << "a person decides";
}

TEST(HangingTest, LossOfAnAttemptThatStartedUnderHoldIsNotPresumed) {
  const RunRow row = RunningHandler();
  JobRow job = HandlerJob(300s);
  job.attempt_rules = LossRules{.on_lost = OnLost::kHold, .cooperative = true};
  EXPECT_EQ(DecideLost(&row, job, ReportOf(row), kHangingNow)->due, kNever);
  job.attempt_rules = LossRules{.on_lost = OnLost::kHold, .cooperative = false};
  EXPECT_EQ(DecideLost(&row, job, ReportOf(row), kHangingNow)->due, kNever);
}

TEST(HangingTest, PresumedRunHasItsNextAttemptOrIsLost) {
  const RunRow row = HeldUntil(kHangingNow);
  auto change = DecidePresumed(&row, HandlerJob(300s), ReportOf(row), kHangingNow);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->state, RunState::kPending);
  EXPECT_EQ(change->attempt, 2);
  EXPECT_EQ(change->due, kHangingNow);
  EXPECT_TRUE(change->record_attempt);
  change = DecidePresumed(&row, HandlerJob(300s, 0), ReportOf(row), kHangingNow);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->state, RunState::kLost);
  EXPECT_TRUE(change->dead_letter);
}

TEST(HangingTest, NobodyIsPresumedDeadTooEarlyOrWithoutTheFlag) {
  RunRow row = HeldUntil(kHangingNow + 1us);
  EXPECT_EQ(PresumedDeadAt(row), kHangingNow + 1us);
  EXPECT_FALSE(DecidePresumed(&row, HandlerJob(300s), ReportOf(row), kHangingNow));
  row = HeldUntil(kHangingNow);
  row.flags = 0;
  EXPECT_FALSE(PresumedDeadAt(row));
  EXPECT_FALSE(DecidePresumed(&row, HandlerJob(300s), ReportOf(row), kHangingNow));
  row = HeldUntil(kHangingNow);
  row.state = RunState::kRunning;
  EXPECT_FALSE(DecidePresumed(&row, HandlerJob(300s), ReportOf(row), kHangingNow));
  row = HeldUntil(kHangingNow);
  LostReport other = ReportOf(row);
  other.attempt = 2;
  EXPECT_FALSE(DecidePresumed(&row, HandlerJob(300s), other, kHangingNow));
}

TEST(HangingTest, EditKeepsAPresumedRunHeldForAPerson) {
  const RunRow row = HeldUntil(kHangingNow);
  std::vector<JobRow> edited(3, HandlerJob(300s));
  edited[0].retry.presume_dead = 0s;
  edited[1].retry.on_lost = OnLost::kHold;
  edited[2].cooperative = false;
  for (const JobRow& job : edited) {
    const auto change = DecidePresumed(&row, job, ReportOf(row), kHangingNow);
    ASSERT_TRUE(change.has_value());
    EXPECT_EQ(change->state, RunState::kHeld);
    EXPECT_EQ(change->due, kNever);
    EXPECT_FALSE(change->record_attempt);
  }
}

TEST(HangingTest, PresumedRunWithACancelEndsCancelled) {
  RunRow row = HeldUntil(kHangingNow);
  row.cancel_requested = CancelMode::kGraceful;
  const auto change = DecidePresumed(&row, HandlerJob(300s), ReportOf(row), kHangingNow);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->state, RunState::kCancelled);
  EXPECT_EQ(change->reason, reason::kOutcomeUnknown);
}

TEST(HangingTest, PresumedRunOfADeletedJobIsLost) {
  const RunRow row = HeldUntil(kHangingNow);
  JobRow job = HandlerJob(300s);
  job.deleted = true;
  const auto change = DecidePresumed(&row, job, ReportOf(row), kHangingNow);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->state, RunState::kLost);
  EXPECT_FALSE(change->dead_letter);
}

}  // namespace
}  // namespace carillon
