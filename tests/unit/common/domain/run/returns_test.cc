// Attempts that never began: the run is given back, which neither on_lost nor retry_count decides.
#include "common/domain/run/returns.h"

#include <gtest/gtest.h>

#include "common/domain/run/run_state.h"
#include "common/domain/run/skip.h"

namespace carillon::returns_test {
namespace {

constexpr WallTime kNow = WallTime(1'000'000s);
constexpr ClaimToken kToken{7, 9};

RunRow Running(int returns = 0) {
  RunRow row{.key = {.fire = kNow, .schedule_id = ScheduleId(1), .shard = 0},
             .job_no = JobNo(1),
             .state = RunState::kRunning,
             .attempt = 1,
             .claim_token = kToken,
             .flags = run_flag::kHasRequest | run_flag::kBackground};
  for (int i = 0; i < returns; ++i) {
    ++row.attempt;
    CountReturn(row);
  }
  return row;
}
JobRow Job(OnLost on_lost = OnLost::kRetry, int64_t retries = 0) {
  JobRow job{.job_no = JobNo(1), .version = 3};
  job.retry.on_lost = on_lost;
  job.retry.retry_count = retries;
  job.retry.interval = 7s;
  return job;
}
ResultReport Word(const RunRow& row, RunState state = RunState::kLost,
                  std::string_view why = reason::kNotStarted) {
  return {.key = row.key,
          .job_no = row.job_no,
          .attempt = row.attempt,
          .token = row.claim_token,
          .result = {.state = state, .reason = std::string(why)}};
}
RunChange Next(const RunRow& row, const JobRow& job) {
  return DecideResult(&row, &job, Word(row), kNow).change;
}

TEST(ReturnsTest, TheRunWaitsForItsNextAttemptWhateverOnLostSays) {
  for (const OnLost on_lost : {OnLost::kRetry, OnLost::kFail, OnLost::kHold}) {
    const RunChange next = Next(Running(), Job(on_lost));
    EXPECT_EQ(next.state, RunState::kPending);
    EXPECT_EQ(next.attempt, 2);
    EXPECT_EQ(next.due, kNow);
    EXPECT_EQ(next.def_version, 3);
    EXPECT_EQ(next.reason, "");
    EXPECT_TRUE(next.given_back);
    EXPECT_TRUE(next.record_attempt);
    EXPECT_FALSE(next.dead_letter);
  }
}

TEST(ReturnsTest, ItWaitsLongerEachTimeAndIsLostAfterTheLast) {
  const std::vector<Duration> waits = {0s, 1s, 2s, 4s, 8s, 8s};
  ASSERT_EQ(waits.size(), static_cast<size_t>(kReturnsMax));
  for (int returns = 0; returns < kReturnsMax; ++returns) {
    EXPECT_EQ(Next(Running(returns), Job()).due, kNow + waits[static_cast<size_t>(returns)])
        << returns;
  }
  const RunRow last = Running(kReturnsMax);
  EXPECT_EQ(ReturnsOf(last), kReturnsMax);
  EXPECT_EQ(last.flags & ~run_flag::kReturns, Running().flags);
  EXPECT_EQ(Next(last, Job()).state, RunState::kLost);
  EXPECT_TRUE(Next(last, Job()).dead_letter);
  EXPECT_EQ(Next(last, Job(OnLost::kHold)).state, RunState::kHeld);
  EXPECT_EQ(Next(last, Job(OnLost::kRetry, 1)).state, RunState::kPending);
  EXPECT_FALSE(Next(last, Job(OnLost::kRetry, 1)).given_back);
}

TEST(ReturnsTest, ItDoesNotCountAsATry) {
  const RunRow row = Running(2);
  EXPECT_EQ(TriesOf(row), 1);
  const JobRow job = Job(OnLost::kRetry, 1);
  const auto after = [&](const RunRow& run, RunState state, std::string_view why) {
    return DecideResult(&run, &job, Word(run, state, why), kNow).change;
  };
  const RunChange failed = after(row, RunState::kFailed, reason::kExitCode);
  EXPECT_EQ(failed.state, RunState::kPending);
  EXPECT_EQ(failed.attempt, 4);
  EXPECT_EQ(failed.due, kNow + 7s);
  EXPECT_FALSE(failed.given_back);
  EXPECT_EQ(after(row, RunState::kLost, reason::kWorkerDied).state, RunState::kPending);
  RunRow second = row;
  ++second.attempt;
  EXPECT_EQ(after(second, RunState::kFailed, reason::kExitCode).state, RunState::kFailed);
  EXPECT_EQ(after(second, RunState::kLost, reason::kWorkerDied).state, RunState::kLost);
}

TEST(ReturnsTest, OnlyARunThatIsStillWantedIsGivenBack) {
  RunRow cancelled = Running();
  cancelled.cancel_requested = CancelMode::kGraceful;
  EXPECT_EQ(Next(cancelled, Job()).state, RunState::kCancelled);
  JobRow deleted = Job();
  deleted.deleted = true;
  EXPECT_EQ(Next(Running(), deleted).state, RunState::kLost);
  JobRow paused = Job();
  paused.paused = true;
  EXPECT_EQ(Next(Running(), paused).state, RunState::kPending);
  EXPECT_EQ(Next(Running(), paused).due, kNever);
}

TEST(ReturnsTest, AHeldRunGoesOnByTheWordOfItsHost) {
  RunRow held = Running();
  held.state = RunState::kHeld;
  held.may_still_run = true;
  const RunChange next = Next(held, Job(OnLost::kHold));
  EXPECT_EQ(next.state, RunState::kPending);
  EXPECT_TRUE(next.given_back);
  held.may_still_run = false;  // the host has spoken before
  const JobRow job = Job(OnLost::kHold);
  EXPECT_EQ(DecideResult(&held, &job, Word(held), kNow).verdict, ResultVerdict::kRecordedOnly);
}

TEST(ReturnsTest, AHostWithoutRoomForAProcessCostsNoTry) {
  JobRow job = Job(OnLost::kFail, 1);
  job.retry.conditions.no_retry_on = {ParseRetryCondition("spawn").value()};
  const auto after = [&](const RunRow& run) {
    return DecideResult(&run, &job, Word(run, RunState::kFailed, reason::kHost), kNow).change;
  };
  const RunChange next = after(Running(1));
  EXPECT_EQ(next.state, RunState::kPending);
  EXPECT_EQ(next.due, kNow + 1s);
  EXPECT_TRUE(next.given_back);
  EXPECT_EQ(after(Running(kReturnsMax)).state, RunState::kFailed) << "then its conditions decide";
  RunRow held = Running();
  held.state = RunState::kHeld;
  EXPECT_TRUE(after(held).given_back);
  const RunRow row = Running();
  EXPECT_FALSE(DecideResult(&row, &job, Word(row, RunState::kFailed, reason::kSpawn), kNow)
                   .change.given_back);
}

TEST(ReturnsTest, ARunThatNeverBeganIsSkippedLikeAFirstAttempt) {
  RunRow row = Running(2);
  row.state = RunState::kPending;
  row.due = kNow;
  ClaimRequest request{
      .key = row.key, .job_no = row.job_no, .attempt = row.attempt, .token = {1, 2}};
  request.overlap.policy = OverlapPolicy::kSkip;
  const ClaimFacts facts{.now = kNow, .executor_enabled = true, .slots = {.taken = 1}};
  EXPECT_EQ(DecideClaim(&row, request, facts).verdict, ClaimVerdict::kSkipped);
  RunKey newest = row.key;
  newest.fire += 1s;
  EXPECT_EQ(DecideMakeRoom(row, newest), MakeRoom::kSkip);
  request.attempt = ++row.attempt;
  EXPECT_EQ(DecideClaim(&row, request, facts).verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(DecideMakeRoom(row, newest), MakeRoom::kCancel);
}

TEST(ReturnsTest, ARunThatNeverBeganIsLateAndEditedLikeAFirstAttempt) {
  RunRow row = Running(2);
  row.state = RunState::kPending;
  row.due = kNow - 1min;
  row.flags &= ~run_flag::kBackground;
  const ClaimRequest request{
      .key = row.key, .job_no = row.job_no, .attempt = 2, .token = {1, 2}, .late_after = 10s};
  EXPECT_TRUE(StartsLate(row, request, kNow));
  EXPECT_EQ(DecidePendingEffect(row, JobChange::kPaused, true, kNow), PendingEffect::kSkip);
  EXPECT_EQ(DecidePendingEffect(row, JobChange::kDeleted, true, kNow), PendingEffect::kSkip);
  ++row.attempt;
  EXPECT_FALSE(StartsLate(row, request, kNow));
  EXPECT_EQ(DecidePendingEffect(row, JobChange::kPaused, true, kNow), PendingEffect::kHoldBack);
  EXPECT_EQ(DecidePendingEffect(row, JobChange::kDeleted, true, kNow), PendingEffect::kCancel);
}

TEST(ReturnsTest, ASkipOfARunThatNeverBeganLeavesNoDeadLetter) {
  RunRow row = Running(1);
  row.state = RunState::kSkipped;
  EXPECT_FALSE(SkipIsFailure(row));
  ++row.attempt;
  EXPECT_TRUE(SkipIsFailure(row));
  row.due = kBlocked;
  EXPECT_FALSE(SkipIsFailure(row));
}

}  // namespace
}  // namespace carillon::returns_test
