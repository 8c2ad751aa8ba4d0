// Decisions of run_state.h that depend on what a job allows: retry conditions and pins.
#include <gtest/gtest.h>

#include "common/domain/run/run_state.h"

namespace carillon::conditions {
namespace {

const WallTime kNow = FromUnixMicros(1'772'323'200'000'000);
const ClaimToken kToken{1, 2};

RunRow Row(RunState state) {
  RunRow row;
  row.key = {kNow - 1s, ScheduleId(7), 0};
  row.state = state;
  row.due = kNow - 1s;
  row.def_version = 3;
  if (state == RunState::kRunning) row.claim_token = kToken;
  return row;
}

// The change that follows this result of the first attempt.
RunChange After(const JobRow& job, AttemptResult result) {
  const RunRow row = Row(RunState::kRunning);
  const ResultReport report{.key = row.key, .token = kToken, .result = std::move(result)};
  return DecideResult(&row, &job, report, kNow).change;
}

AttemptResult Exit(int code) {
  return {.state = RunState::kFailed, .reason = std::string(reason::kExitCode), .exit_code = code};
}

TEST(RunConditionsTest, AFailureThatItsJobExcludesIsNotRetried) {
  JobRow job;
  job.version = 5;
  job.retry = {.retry_count = 3, .conditions = {.retry_on = ReadRetryConditions({"exit:75"})}};
  EXPECT_EQ(After(job, Exit(75)).state, RunState::kPending);
  const RunChange ended = After(job, Exit(1));
  EXPECT_EQ(ended.state, RunState::kFailed);
  EXPECT_EQ(ended.reason, "not_retryable");
  EXPECT_TRUE(ended.dead_letter);
  EXPECT_TRUE(ended.store_result);
  EXPECT_EQ(After(job, {.state = RunState::kLost}).state, RunState::kPending)
      << "on_lost decides about a loss";
  EXPECT_EQ(After(job, {.state = RunState::kFailed, .reason = "secret_missing"}).reason,
            "secret_missing")
      << "its own reason says more";
  job.retry.retry_count = 0;
  EXPECT_EQ(After(job, Exit(1)).reason, "exit_code") << "no retry was left anyway";
}

TEST(RunConditionsTest, AFunctionDecidesAboutItsRetry) {
  JobRow job;
  job.version = 5;
  job.retry = {.retry_count = 3, .interval = 5s};
  AttemptResult failed{.state = RunState::kFailed, .reason = std::string(reason::kHandlerError)};
  EXPECT_EQ(After(job, failed).due, kNow + 5s);
  failed.retry_after = 60s;
  EXPECT_EQ(After(job, failed).due, kNow + 60s);
  failed.retry_after = 1s;
  EXPECT_EQ(After(job, failed).due, kNow + 5s) << "never earlier than its job says";
  failed.no_retry = true;
  const RunChange ended = After(job, failed);
  EXPECT_EQ(ended.state, RunState::kFailed);
  EXPECT_EQ(ended.reason, "not_retryable");
  EXPECT_TRUE(ended.dead_letter);
  job.retry.retry_count = 0;
  EXPECT_EQ(After(job, failed).reason, "handler_error") << "no retry was left anyway";
}

TEST(RunConditionsTest, AWorkflowRunBeginsWhateverItsPin) {
  RunRow row = Row(RunState::kPending);
  row.pinned_executor = ExecutorId("e2");
  const ClaimRequest request{.key = row.key, .def_version = 3, .token = kToken};
  EXPECT_EQ(DecideClaim(&row, request, {.now = kNow}).verdict, ClaimVerdict::kAccepted);
}

}  // namespace
}  // namespace carillon::conditions
