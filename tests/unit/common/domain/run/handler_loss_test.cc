// Lost attempts of handlers. Nobody can end a function but its own code: another attempt begins
// only by the word of its host, or of a person.
#include <gtest/gtest.h>

#include "common/domain/run/run_state.h"

namespace carillon::handler_loss_test {
namespace {

constexpr WallTime kNow = WallTime(1'000'000s);
constexpr ClaimToken kToken{7, 9};

RunRow Running() {
  return {.key = {.fire = kNow, .schedule_id = ScheduleId(1), .shard = 0},
          .job_no = JobNo(1),
          .state = RunState::kRunning,
          .attempt = 1,
          .claim_token = kToken};
}
JobRow Job(bool cooperative) {
  JobRow job{.job_no = JobNo(1), .cooperative = cooperative};
  job.retry.retry_count = 1;
  return job;
}
LostReport Lost() {
  return {.key = Running().key, .job_no = JobNo(1), .attempt = 1, .token = kToken};
}
ResultReport Word(RunState state, std::string_view why = {}) {
  return {.key = Running().key,
          .job_no = JobNo(1),
          .attempt = 1,
          .token = kToken,
          .result = {.state = state, .reason = std::string(why)}};
}

TEST(HandlerLossTest, TheEndOfItsLeaseStartsNothing) {
  const RunRow row = Running();
  const auto change = DecideLost(&row, Job(true), Lost(), kNow);
  ASSERT_EQ(change->state, RunState::kHeld);
  EXPECT_TRUE(MayStillRun(change->state, change->reason));
  EXPECT_EQ(DecideLost(&row, Job(false), Lost(), kNow)->state, RunState::kPending)
      << "a process was killed";
  JobRow edited = Job(false);
  edited.attempt_rules = {OnLost::kRetry, true};
  EXPECT_EQ(DecideLost(&row, edited, Lost(), kNow)->state, RunState::kHeld)
      << "the attempt is of the version before";
}

TEST(HandlerLossTest, ARequestedCancelWaitsForItsEnd) {
  RunRow row = Running();
  row.cancel_requested = CancelMode::kGraceful;
  EXPECT_EQ(DecideLost(&row, Job(true), Lost(), kNow)->state, RunState::kHeld);
  EXPECT_EQ(DecideLost(&row, Job(false), Lost(), kNow)->state, RunState::kCancelled);
}

TEST(HandlerLossTest, TheWordOfItsHostGoesOn) {
  RunRow row = Running();
  row.state = RunState::kHeld;
  row.may_still_run = true;
  const JobRow job = Job(true);
  const RunChange next =
      DecideResult(&row, &job, Word(RunState::kLost, reason::kWorkerDied), kNow).change;
  EXPECT_EQ(next.state, RunState::kPending);
  EXPECT_EQ(next.attempt, 2);
  EXPECT_EQ(DecideResult(&row, &job, Word(RunState::kCompleted), kNow).change.state,
            RunState::kCompleted);
  JobRow holds = job;
  holds.retry.on_lost = OnLost::kHold;
  EXPECT_EQ(DecideResult(&row, &holds, Word(RunState::kLost), kNow).change.state, RunState::kHeld);
  row.may_still_run = false;  // a person is to decide
  EXPECT_EQ(DecideResult(&row, &job, Word(RunState::kLost), kNow).verdict,
            ResultVerdict::kRecordedOnly);
}

}  // namespace
}  // namespace carillon::handler_loss_test
