// The contract of FiringStore::ApplyResults and MarkLost: no lost result (P6), retries, losses.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class ResultContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(ResultContract, StoreFactories);

// A running attempt of a manual job with `retries` retries, 60 s apart.
inline RunRow Running(StoreDriver& s, const Fence& fence, int64_t retries = 0,
                      OnLost on_lost = OnLost::kRetry) {
  JobDefinition definition = StoreDriver::Manual();
  definition.retry_count = retries;
  definition.on_lost = on_lost;
  const StoredJob job = s.Create("a", definition);
  return s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
}

TYPED_TEST(ResultContract, SuccessCompletesTheRunWithItsOutput) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence);
  ResultReport report = s.ReportOf(running, RunState::kCompleted, kT0 + 3s);
  report.result.output = std::string("line\n\0\xff\xfe", 8);
  report.result.output_truncated = true;
  const RunEffect effect = s.Apply(report, fence, kT0 + 4s);
  EXPECT_EQ(effect.key, running.key);
  EXPECT_EQ(effect.verdict, ResultVerdict::kApplied);
  EXPECT_FALSE(effect.dead_letter);
  const RunDetail run = s.Get(running.key);
  EXPECT_EQ(effect.state, run.row.state);
  EXPECT_FALSE(effect.again.has_value());
  EXPECT_EQ(run.row.state, RunState::kCompleted);
  EXPECT_EQ(run.result, report.result);
  EXPECT_TRUE(run.attempts.empty());
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

TYPED_TEST(ResultContract, OutputsAreKeptWithTheResult) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence);
  ResultReport report = s.ReportOf(running, RunState::kCompleted, kT0 + 3s);
  // Without other texts: a store must not take the result for a plain one.
  report.result.outputs = {{"rows", "12"}, {"text", "a\n\"b\" \xe4\xb8\xad"}};
  EXPECT_EQ(s.Apply(report, fence, kT0 + 4s).state, RunState::kCompleted);
  EXPECT_EQ(s.Get(running.key).result, report.result);
}

TYPED_TEST(ResultContract, LongestOutputsComeBackWhole) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence);
  ResultReport report = s.ReportOf(running, RunState::kCompleted, kT0 + 3s);
  report.result.outputs = {
      {"control", std::string(16'000, '\x01')}};  // each needs six bytes as JSON
  EXPECT_EQ(s.Apply(report, fence, kT0 + 4s).state, RunState::kCompleted);
  EXPECT_EQ(s.Get(running.key).result, report.result);
}

TYPED_TEST(ResultContract, UsageIsKeptWithEveryAttempt) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const ResourceUsage usage{1'234'567, int64_t{5} << 30, 4096, INT64_MAX};
  // A plain result, one with a text, and a failure that is retried.
  for (const bool with_output : {false, true}) {
    const StoredJob job = s.Create(with_output ? "a" : "b", s.Manual());
    const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
    ResultReport report = s.ReportOf(running, RunState::kCompleted, kT0 + 3s);
    report.result.usage = usage;
    report.result.output = with_output ? "text" : "";
    s.Apply(report, fence, kT0 + 4s);
    EXPECT_EQ(s.Get(running.key).result, report.result);
  }
  JobDefinition definition = s.Manual();
  definition.retry_count = 1;
  const RunRow running = s.Start(s.Execute(s.Create("c", definition), kT0), 7, fence, kT0 + 1s);
  ResultReport report = s.ReportOf(running, RunState::kFailed);
  report.result.usage = usage;
  EXPECT_EQ(s.Apply(report, fence, kT0 + 10s).state, RunState::kPending);
  const RunDetail waiting = s.Get(running.key);
  EXPECT_EQ(waiting.result.usage, std::nullopt);
  ASSERT_EQ(waiting.attempts.size(), 1u);
  EXPECT_EQ(waiting.attempts[0].result.usage, usage);
}

TYPED_TEST(ResultContract, RetryClearsTheOutputs) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  ResultReport report = s.ReportOf(running, RunState::kFailed);
  report.result.outputs = {{"rows", "12"}};
  EXPECT_EQ(s.Apply(report, fence, kT0 + 10s).state, RunState::kPending);
  EXPECT_EQ(s.Get(running.key).result.outputs, Outputs{});
  ASSERT_EQ(s.Get(running.key).attempts.size(), 1u);
  EXPECT_EQ(s.Get(running.key).attempts[0].result.outputs, Outputs{});
  const RunRow second = s.Start(s.Get(running.key).row, 2, fence, kT0 + 2min);
  EXPECT_EQ(s.Get(running.key).result.outputs, Outputs{});
  report = s.ReportOf(second, RunState::kFailed);
  report.result.outputs = {{"other", "1"}};
  EXPECT_EQ(s.Apply(report, fence, kT0 + 3min).state, RunState::kFailed);
  EXPECT_EQ(s.Get(running.key).result.outputs, report.result.outputs);
  s.v(s.runs.RetryRun({.key = running.key}, {.now = kT0 + 4min}));
  EXPECT_EQ(s.Get(running.key).result.outputs, Outputs{});
}

TYPED_TEST(ResultContract, RepeatedReportChangesNothing) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence);
  const ResultReport report = s.ReportOf(running, RunState::kCompleted);
  const std::vector<RunEffect> both = s.v(s.firing.ApplyResults({report, report}, fence, kT0 + 4s));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].verdict, ResultVerdict::kApplied);
  EXPECT_EQ(both[1].verdict, ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.Apply(report, fence, kT0 + 5s).verdict, ResultVerdict::kRecordedOnly);
  EXPECT_TRUE(s.Get(running.key).attempts.empty());
}

TYPED_TEST(ResultContract, ResultWithAnotherTokenChangesNothing) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence);
  ResultReport report = s.ReportOf(running, RunState::kCompleted);
  report.token = s.Token(99);
  EXPECT_EQ(s.Apply(report, fence, kT0 + 4s).verdict, ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.Get(running.key).row, running);
}

TYPED_TEST(ResultContract, ResultOfAnUnknownRunIsAcknowledged) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ResultReport report = s.ReportOf(Running(s, fence), RunState::kCompleted);
  report.key.fire += 1h;
  EXPECT_EQ(s.Apply(report, fence, kT0 + 4s).verdict, ResultVerdict::kUnknownRun);
  EXPECT_CODE(s.runs.GetRun(report.key), ErrorCode::kNotFound);
}

TYPED_TEST(ResultContract, FailureIsRetriedAfterItsInterval) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  const ResultReport report = s.ReportOf(running, RunState::kFailed);
  const RunEffect effect = s.Apply(report, fence, kT0 + 10s);
  EXPECT_EQ(effect.verdict, ResultVerdict::kApplied);
  EXPECT_EQ(effect.state, RunState::kPending);
  EXPECT_EQ(effect.again.value().attempt, 2);
  EXPECT_EQ(effect.again.value().due, kT0 + 10s + 60s);
  const RunDetail run = s.Get(running.key);
  EXPECT_EQ(run.row, effect.again);
  ASSERT_EQ(run.attempts.size(), 1u);
  EXPECT_EQ(run.attempts[0].attempt, 1);
  EXPECT_EQ(run.attempts[0].state, RunState::kFailed);
  EXPECT_EQ(run.attempts[0].executor, running.executor);
  EXPECT_EQ(run.attempts[0].claimed, running.claimed);
  EXPECT_EQ(run.attempts[0].result, report.result);
  EXPECT_EQ(s.OnlyPending(kT0 + 24h), effect.again);
}

TYPED_TEST(ResultContract, LastFailureIsFinalWithADeadLetter) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow first = Running(s, fence, 1);
  s.Apply(s.ReportOf(first, RunState::kFailed), fence, kT0 + 10s);
  const RunRow second = s.Start(s.Get(first.key).row, 2, fence, kT0 + 2min);
  EXPECT_EQ(second.attempt, 2);
  const RunEffect effect = s.Apply(s.ReportOf(second, RunState::kTimedOut), fence, kT0 + 3min);
  EXPECT_TRUE(effect.dead_letter);
  EXPECT_EQ(effect.state, RunState::kTimedOut);
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.limit = 10}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, first.key);
  EXPECT_EQ(letters[0].job_id, JobId("a"));
  EXPECT_EQ(letters[0].state, RunState::kTimedOut);
  EXPECT_EQ(letters[0].attempts, 2);
  EXPECT_EQ(letters[0].reason, reason::kTimeout);
  EXPECT_EQ(letters[0].created, kT0 + 3min);
  ASSERT_EQ(s.Get(first.key).attempts.size(), 1u);
}

TYPED_TEST(ResultContract, RetryRunsTheVersionOfTheLatestEdit) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  StoredJob job = s.v(s.jobs.GetJob(JobId("a")));
  JobDefinition edited = job.definition;
  edited.command = "echo edited";
  job = s.Replace(job, edited, kT0 + 2s);
  EXPECT_EQ(s.Get(running.key).row.def_version, 1);
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 10s);
  EXPECT_EQ(s.Get(running.key).row.def_version, job.version);
}

TYPED_TEST(ResultContract, RetryOfAPausedJobWaits) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  const StoredJob job = s.Pause(s.v(s.jobs.GetJob(JobId("a"))), kT0 + 2s);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kRunning);
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 10s);
  EXPECT_EQ(s.Get(running.key).row.due, kNever);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
  s.Resume(job, kT0 + 20s);
  EXPECT_EQ(s.OnlyPending(kT0 + 20s).key, running.key);
}

TYPED_TEST(ResultContract, NoRetryForADeletedJobOrACancelledRun) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow of_deleted = Running(s, fence, 3);
  StoredJob job = s.v(s.jobs.GetJob(JobId("a")));
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 2s}));
  EXPECT_EQ(s.Apply(s.ReportOf(of_deleted, RunState::kFailed), fence, kT0 + 3s).state,
            RunState::kFailed);
  JobDefinition definition = s.Manual();
  definition.retry_count = 3;
  const RunRow cancelled = s.Start(s.Execute(s.Create("b", definition), kT0), 2, fence, kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(cancelled.key, {.now = kT0 + 2s})));
  const RunEffect effect = s.Apply(s.ReportOf(cancelled, RunState::kFailed), fence, kT0 + 3s);
  EXPECT_TRUE(IsFinal(effect.state));
  EXPECT_FALSE(effect.dead_letter);
}

TYPED_TEST(ResultContract, CancelledAttemptEndsTheRunAndItsRequest) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 3);
  EXPECT_TRUE(s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs.empty());
  EXPECT_TRUE(s.v(s.runs.CancelRun(running.key, {.now = kT0 + 2s})));
  const std::vector<RunRow> asked =
      s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs;
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].key, running.key);
  EXPECT_EQ(asked[0].claim_token, running.claim_token);
  EXPECT_TRUE(asked[0].cancel_requested);
  EXPECT_EQ(s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs.size(), 1u);
  s.Apply(s.ReportOf(running, RunState::kCancelled), fence, kT0 + 3s);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kCancelled);
  EXPECT_TRUE(s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs.empty());
}

TYPED_TEST(ResultContract, CancelRequestsArePagedOverEverySegment) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  std::set<RunKey> asked;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const RunRow running = s.Start(s.Execute(s.Create(name, StoreDriver::Manual()), kT0),
                                   asked.size() + 1, fence, kT0 + 1s);
    EXPECT_TRUE(s.v(s.runs.CancelRun(running.key, {.now = kT0 + 2s})));
    asked.insert(running.key);
  }
  std::set<RunKey> found;
  std::optional<RunCursor> after;
  do {
    const RunningPage page = s.v(s.firing.ScanCancelRequests(s.All(), after, 2));
    EXPECT_LE(page.runs.size(), 2u);
    for (const RunRow& row : page.runs) EXPECT_TRUE(found.insert(row.key).second);
    after = page.next;
  } while (after);
  EXPECT_EQ(found, asked);
}

// ---- losses -------------------------------------------------------------------------------------

TYPED_TEST(ResultContract, LostAttemptIsRetriedAtOnce) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  const std::vector<RunEffect> effects = s.Lose(running, fence, kT0 + 30s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_EQ(effects[0].verdict, ResultVerdict::kApplied);
  EXPECT_EQ(effects[0].state, RunState::kPending);
  EXPECT_EQ(effects[0].again.value().attempt, 2);
  EXPECT_EQ(effects[0].again.value().due, kT0 + 30s);
  const RunDetail run = s.Get(running.key);
  EXPECT_EQ(run.row, effects[0].again);
  ASSERT_EQ(run.attempts.size(), 1u);
  EXPECT_EQ(run.attempts[0].state, RunState::kLost);
  EXPECT_EQ(run.attempts[0].result.reason, reason::kExecutorLost);
}

TYPED_TEST(ResultContract, LossWithoutTriesLeftIsFinalWithADeadLetter) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 0);
  const std::vector<RunEffect> effects = s.Lose(running, fence, kT0 + 30s);
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_TRUE(effects[0].dead_letter);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kLost);
  EXPECT_EQ(s.Get(running.key).result.reason, reason::kExecutorLost);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({.limit = 10})).size(), 1u);
}

TYPED_TEST(ResultContract, LossFailsOrHoldsWhereThePolicySaysSo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow fails = Running(s, fence, 5, OnLost::kFail);
  s.Lose(fails, fence, kT0 + 30s);
  EXPECT_EQ(s.Get(fails.key).row.state, RunState::kFailed);
  EXPECT_EQ(s.Get(fails.key).result.reason, reason::kExecutorLost);
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const RunRow holds = s.Start(s.Execute(s.Create("b", definition), kT0), 2, fence, kT0 + 1s);
  s.Lose(holds, fence, kT0 + 30s);
  EXPECT_EQ(s.Get(holds.key).row.state, RunState::kHeld);
  // A report of the warden that comes later ends the run.
  EXPECT_EQ(s.Apply(s.ReportOf(holds, RunState::kCompleted), fence, kT0 + 40s).state,
            RunState::kCompleted);
}

TYPED_TEST(ResultContract, LossOfAnAttemptThatIsNotKilledIsNotRetriedAfterAnEdit) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const auto lose_after_edit = [&](const std::string& id, OnLost started_under, OnLost edited_to) {
    JobDefinition definition = s.Manual();
    definition.retry_count = 5;
    definition.on_lost = started_under;
    const StoredJob job = s.Create(id, definition);
    const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
    definition.on_lost = edited_to;
    s.Replace(job, definition, kT0 + 2s);
    EXPECT_EQ(s.Lose(running, fence, kT0 + 30s).size(), 1u);
    return s.Get(running.key).row.state;
  };
  EXPECT_EQ(lose_after_edit("a", OnLost::kHold, OnLost::kRetry), RunState::kHeld);
  EXPECT_EQ(lose_after_edit("b", OnLost::kFail, OnLost::kRetry), RunState::kFailed);
  EXPECT_EQ(lose_after_edit("c", OnLost::kRetry, OnLost::kHold), RunState::kHeld);
  EXPECT_EQ(lose_after_edit("d", OnLost::kRetry, OnLost::kRetry), RunState::kPending);
}

TYPED_TEST(ResultContract, LossOfARunThatMovedHasNoEffect) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  LostReport other_token = s.LostOf(running);
  other_token.token = s.Token(99);
  LostReport other_attempt = s.LostOf(running);
  other_attempt.attempt = 2;
  EXPECT_TRUE(s.v(s.firing.MarkLost({other_token, other_attempt}, fence, kT0 + 30s)).empty());
  s.Apply(s.ReportOf(running, RunState::kCompleted), fence, kT0 + 31s);
  EXPECT_TRUE(s.Lose(running, fence, kT0 + 32s).empty());
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kCompleted);
}

TYPED_TEST(ResultContract, LossOfACancelledAttemptIsCancelled) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 5);
  EXPECT_TRUE(s.v(s.runs.CancelRun(running.key, {.now = kT0 + 2s})));
  s.Lose(running, fence, kT0 + 30s);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kCancelled);
}

TYPED_TEST(ResultContract, LateSuccessCompletesWhileTheNextAttemptIsUnclaimed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 1);
  s.Lose(running, fence, kT0 + 30s);
  const RunEffect effect = s.Apply(s.ReportOf(running, RunState::kCompleted), fence, kT0 + 31s);
  EXPECT_EQ(effect.verdict, ResultVerdict::kApplied);
  const RunDetail run = s.Get(running.key);
  EXPECT_EQ(run.row.state, RunState::kCompleted);
  EXPECT_EQ(run.row.attempt, 1);
  EXPECT_EQ(run.result.exit_code, 0);
  EXPECT_TRUE(s.Pending(kT0 + 24h).empty());
}

TYPED_TEST(ResultContract, LateSuccessAfterTheNextClaimIsOnlyRecorded) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow first = Running(s, fence, 1);
  s.Lose(first, fence, kT0 + 30s);
  const RunRow second = s.Start(s.Get(first.key).row, 2, fence, kT0 + 31s);
  EXPECT_EQ(s.Apply(s.ReportOf(first, RunState::kCompleted), fence, kT0 + 32s).verdict,
            ResultVerdict::kRecordedOnly);
  const RunDetail run = s.Get(first.key);
  EXPECT_EQ(run.row, second);
  ASSERT_EQ(run.attempts.size(), 1u);
  EXPECT_EQ(run.attempts[0].attempt, 1);
  EXPECT_EQ(run.attempts[0].state, RunState::kCompleted);
  EXPECT_EQ(run.attempts[0].result.exit_code, 0);
}

TYPED_TEST(ResultContract, LateResultAfterARetryByHandIsRecordedAgainstItsAttempt) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  for (const OnLost policy : {OnLost::kHold, OnLost::kFail, OnLost::kRetry}) {
    JobDefinition definition = s.Manual();
    definition.on_lost = policy;
    const StoredJob job = s.Create("job" + std::to_string(static_cast<int>(policy)), definition);
    const RunRow first = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
    s.Lose(first, fence, kT0 + 30s);
    s.Start(
        s.v(s.runs.RetryRun({.key = first.key}, {.now = kT0 + 31s, .confirm_overlap = true})).row,
        2, fence, kT0 + 32s);
    EXPECT_EQ(s.Apply(s.ReportOf(first, RunState::kFailed), fence, kT0 + 33s).verdict,
              ResultVerdict::kRecordedOnly);
    const RunDetail run = s.Get(first.key);
    EXPECT_EQ(run.row.state, RunState::kRunning);
    ASSERT_EQ(run.attempts.size(), 1u);
    EXPECT_EQ(run.attempts[0].state, RunState::kFailed);
    EXPECT_EQ(run.attempts[0].result.exit_code, 3);
  }
}

TYPED_TEST(ResultContract, LateResultOfAFinallyLostRunIsApplied) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence, 0);
  s.Lose(running, fence, kT0 + 30s);
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 31s);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kFailed);
  EXPECT_EQ(s.Get(running.key).result.exit_code, 3);
}

TYPED_TEST(ResultContract, BatchesAboveTheLimitAreRefused) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow running = Running(s, fence);
  const std::vector<ResultReport> reports(kBatchRowsMax + 1,
                                          s.ReportOf(running, RunState::kCompleted));
  EXPECT_CODE(s.firing.ApplyResults(reports, fence, kT0 + 4s), ErrorCode::kExhausted);
  const std::vector<LostReport> losses(kBatchRowsMax + 1, s.LostOf(running));
  EXPECT_CODE(s.firing.MarkLost(losses, fence, kT0 + 4s), ErrorCode::kExhausted);
  const std::vector<ClaimRequest> claims(kBatchRowsMax + 1, s.ClaimOf(running, 1));
  EXPECT_CODE(s.firing.Claim(claims, fence, kT0 + 4s), ErrorCode::kExhausted);
  EXPECT_EQ(s.Get(running.key).row, running);
}

TYPED_TEST(ResultContract, RunningScanPagesOverEverySegment) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob b = s.Create("b", s.Manual());
  for (uint64_t i = 0; i < 7; ++i) {
    s.Start(s.Execute(i % 2 == 0 ? a : b, kT0 + i * 1s), i + 1, fence, kT0 + 1min);
  }
  std::vector<RunCursor> places;
  std::optional<RunCursor> after;
  for (int pages = 0; pages < 10; ++pages) {
    const RunningPage page = s.v(s.firing.ScanRunning(s.All(), after, 2));
    EXPECT_LE(page.runs.size(), 2u);
    for (const RunRow& row : page.runs) places.push_back({row.segment, row.due, row.key});
    after = page.next;
    if (!after) break;
  }
  EXPECT_EQ(places.size(), 7u);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_EQ(std::unique(places.begin(), places.end()), places.end());
  EXPECT_EQ(s.v(s.firing.ScanRunning({a.segment}, std::nullopt, 100)).runs.size(), 4u);
}

// No token of an earlier attempt is kept, so that only its executor can say how it ended.
TYPED_TEST(ResultContract, AnotherExecutorDoesNotSayHowALostAttemptEnded) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow first = Running(s, fence, 1);
  s.v(s.firing.MarkLost({s.LostOf(first)}, fence, kT0 + 30s));
  s.Start(s.Get(first.key).row, 2, fence, kT0 + 31s);
  ResultReport report = s.ReportOf(first, RunState::kFailed, kT0 + 20s);
  report.result.exit_code = 7;
  ResultReport forged = report;
  forged.executor = ExecutorId("evil");
  forged.token = s.Token(99);
  s.Apply(forged, fence, kT0 + 32s);
  ASSERT_EQ(s.Get(first.key).attempts.size(), 1u);
  EXPECT_EQ(s.Get(first.key).attempts[0].state, RunState::kLost);
  s.Apply(report, fence, kT0 + 33s);
  EXPECT_EQ(s.Get(first.key).attempts[0].state, RunState::kFailed);
  EXPECT_EQ(s.Get(first.key).attempts[0].result.exit_code, 7);
}

}  // namespace carillon::test
