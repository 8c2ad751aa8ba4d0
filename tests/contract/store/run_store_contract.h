// The contract of RunStore: run now, cancel, manual retry, and the lists.
#pragma once

#include "tests/contract/store/store_driver.h"

namespace carillon::test {

template <typename Factory>
class RunStoreContract : public StoreContract<Factory> {};
TYPED_TEST_SUITE(RunStoreContract, StoreFactories);

TYPED_TEST(RunStoreContract, ExecuteMakesADueRunOfKindManual) {
  StoreDriver s = this->driver();
  JobDefinition definition = s.Manual();
  definition.priority = 5;
  const StoredJob job = s.Create("a", definition);
  const CreatedRun created = s.v(s.runs.ExecuteJob({.job_id = job.job_id}, {.now = kT0 + 1s}));
  EXPECT_EQ(created.segment, job.segment);
  EXPECT_EQ(created.key.fire, kT0 + 1s);
  const RunDetail run = s.Get(created.key);
  EXPECT_EQ(run.row.kind, RunKind::kManual);
  EXPECT_EQ(run.row.state, RunState::kPending);
  EXPECT_EQ(run.row.due, kT0 + 1s);
  EXPECT_EQ(run.row.attempt, 1);
  EXPECT_EQ(run.row.priority, 5);
  EXPECT_EQ(run.row.def_version, job.version);
  EXPECT_EQ(run.planned, kT0 + 1s);
  EXPECT_EQ(run.job_id, job.job_id);
  EXPECT_EQ(run.job_name, "job");
  EXPECT_EQ(s.OnlyPending(kT0 + 1s), run.row);
}

TYPED_TEST(RunStoreContract, ExecuteTwiceInOneMicrosecondMakesTwoRuns) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow first = s.Execute(job, kT0);
  const RunRow second = s.Execute(job, kT0);
  const RunRow third = s.Execute(job, kT0);
  EXPECT_EQ(second.key.schedule_id, first.key.schedule_id);
  EXPECT_EQ(second.key.fire, first.key.fire + 1us);
  EXPECT_EQ(third.key.fire, first.key.fire + 2us);
  const RunRow other = s.Execute(s.Create("b", s.Manual()), kT0);
  EXPECT_NE(other.key.schedule_id, first.key.schedule_id);
}

TYPED_TEST(RunStoreContract, ExecuteTakesOverridesAndWorksOnAPausedJob) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Pause(s.Create("a", s.Every(10s)), kT0);
  const CreatedRun created = s.v(s.runs.ExecuteJob(
      {.job_id = job.job_id, .parameters_json = R"({"k":1})", .priority = 77}, {.now = kT0 + 1s}));
  const RunDetail run = s.Get(created.key);
  EXPECT_EQ(run.row.priority, 77);
  EXPECT_EQ(run.parameters_json, R"({"k":1})");
  EXPECT_EQ(run.row.def_version, job.version);
  EXPECT_EQ(s.Claim(s.ClaimOf(run.row, 1), fence, kT0 + 1s).verdict, ClaimVerdict::kAccepted);
}

TYPED_TEST(RunStoreContract, ManualRunsDoNotKeepAJobFromBeingEdited) {
  StoreDriver s = this->driver();
  const StoredJob job = s.Create("a", s.Every(10s));
  const RunRow manual = s.Execute(job, kT0 + 1s);
  const StoredJob edited = s.Replace(job, job.definition, kT0 + 1s);
  ASSERT_EQ(edited.schedules.size(), 1u);
  EXPECT_EQ(s.Get(manual.key).row.def_version, edited.version);
}

// ---- cancel -------------------------------------------------------------------------------------

TYPED_TEST(RunStoreContract, CancelEndsAPendingRunAndAsksARunningOne) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow pending = s.Execute(job, kT0);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(pending.key, {.now = kT0 + 2s})));
  EXPECT_TRUE(s.v(s.runs.CancelRun(running.key, {.now = kT0 + 2s})));
  EXPECT_EQ(s.Get(pending.key).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(pending.key).result.reason, reason::kCancelRequested);
  EXPECT_EQ(s.Get(running.key).row.state, RunState::kRunning);
  EXPECT_TRUE(s.Get(running.key).row.cancel_requested);
  EXPECT_FALSE(s.v(s.runs.CancelRun(pending.key, {.now = kT0 + 3s})));
  EXPECT_TRUE(s.v(s.runs.CancelRun(running.key, {.now = kT0 + 3s})));
  RunKey missing = pending.key;
  missing.fire += 1h;
  EXPECT_CODE(s.runs.CancelRun(missing, {.now = kT0}), ErrorCode::kNotFound);
}

TYPED_TEST(RunStoreContract, CancelOfAJobLeavesFuturePlannedRuns) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Every(10s);
  definition.retry_count = 1;
  const StoredJob job = s.Create("a", definition);
  s.Plan(kT0 + 40s, fence);
  const std::vector<RunRow> rows = s.Pending(kT0 + 24h);
  ASSERT_EQ(rows.size(), 4u);
  s.Start(rows[0], 1, fence, kT0 + 30s);
  const RunRow failed = s.Start(rows[1], 2, fence, kT0 + 30s);
  s.Apply(s.ReportOf(failed, RunState::kFailed), fence, kT0 + 30s);  // retry due in 60 s
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 30s})), 3);
  EXPECT_TRUE(s.Get(rows[0].key).row.cancel_requested);
  EXPECT_EQ(s.Get(rows[1].key).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(rows[2].key).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(rows[3].key).row.state, RunState::kPending);
}

TYPED_TEST(RunStoreContract, ACancelSaysWhoAndWhyToTheEnd) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const auto cancel = [&](const RunRow& run) {
    s.v(s.runs.CancelRun(run.key, {.now = kT0 + 2s, .actor = "ann", .reason = "wrong day"}));
  };
  const std::string sentence = CancelSentence({.actor = "ann", .reason = "wrong day"});
  const RunRow pending = s.Execute(job, kT0);
  cancel(pending);
  EXPECT_EQ(s.Get(pending.key).result.error, sentence);
  for (const bool with_output : {false, true}) {
    const RunRow running = s.Start(s.Execute(job, kT0), 1 + with_output, fence, kT0 + 1s);
    cancel(running);
    EXPECT_EQ(s.Get(running.key).result.error, sentence);
    ResultReport report = s.ReportOf(running, RunState::kCancelled);
    report.result.output = with_output ? "half" : "";
    report.result.error = with_output ? "cancelled on request" : "";
    s.Apply(report, fence, kT0 + 3s);
    EXPECT_EQ(s.Get(running.key).row.state, RunState::kCancelled);
    EXPECT_EQ(s.Get(running.key).result.error, sentence);
    EXPECT_EQ(s.Get(running.key).result.output, report.result.output);
  }
  // A run that ended before its cancel took effect keeps its own outcome.
  const RunRow quick = s.Start(s.Execute(job, kT0), 5, fence, kT0 + 1s);
  cancel(quick);
  ResultReport report = s.ReportOf(quick, RunState::kCompleted);
  report.result.output.clear();
  s.Apply(report, fence, kT0 + 3s);
  EXPECT_EQ(s.Get(quick.key).row.state, RunState::kCompleted);
  EXPECT_EQ(s.Get(quick.key).result.error, "");
}

TYPED_TEST(RunStoreContract, WritesSayWhatTheyEnded) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Manual());
  s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  const RunRow one = s.Execute(job, kT0);
  s.Execute(job, kT0);
  EndedRuns ended;
  s.v(s.runs.CancelRun(one.key, {.now = kT0 + 2s, .ended = &ended}));
  EXPECT_EQ(ended, (EndedRuns{{RunState::kCancelled, 1}}));
  s.v(s.runs.CancelRun(one.key, {.now = kT0 + 2s, .ended = &ended}));
  EXPECT_EQ(ended, EndedRuns{});
  s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 2s, .ended = &ended}));
  EXPECT_EQ(ended, (EndedRuns{{RunState::kCancelled, 1}}));  // the other got a cancel request
  s.Execute(job, kT0);
  job = s.v(s.jobs.PauseJob(job.job_id, "", {.now = kT0 + 3s, .ended = &ended}));
  EXPECT_EQ(ended, (EndedRuns{{RunState::kSkipped, 1}}));
  s.Execute(job, kT0 + 3s);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 4s, .ended = &ended}));
  EXPECT_EQ(ended, (EndedRuns{{RunState::kSkipped, 1}}));
}

// ---- retry by hand ------------------------------------------------------------------------------

TYPED_TEST(RunStoreContract, RetryByHandMakesTheNextAttemptDueNow) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  StoredJob job = s.Create("a", s.Manual());
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  EXPECT_CODE(s.runs.RetryRun({.key = running.key}, {.now = kT0 + 2s}), ErrorCode::kConflict);
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 3s);
  job = s.Replace(job, job.definition, kT0 + 4s);
  const RunDetail retried = s.v(s.runs.RetryRun({.key = running.key}, {.now = kT0 + 5s}));
  EXPECT_EQ(retried.row.state, RunState::kPending);
  EXPECT_EQ(retried.row.attempt, 2);
  EXPECT_EQ(retried.row.due, kT0 + 5s);
  EXPECT_EQ(retried.row.def_version, job.version);
  const RunDetail run = s.Get(running.key);
  EXPECT_EQ(run.row, retried.row);
  ASSERT_EQ(run.attempts.size(), 1u);
  EXPECT_EQ(run.attempts[0].state, RunState::kFailed);
  EXPECT_EQ(run.attempts[0].result.exit_code, 3);
  const RunRow second = s.Start(run.row, 2, fence, kT0 + 6s);
  s.Apply(s.ReportOf(second, RunState::kCompleted), fence, kT0 + 7s);
  EXPECT_CODE(s.runs.RetryRun({.key = running.key}, {.now = kT0 + 8s}), ErrorCode::kConflict);
}

TYPED_TEST(RunStoreContract, RetryByHandOfAWaitingRetryMakesItDueNow) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.retry_count = 2;
  definition.retry_interval_s = 3600;
  const StoredJob job = s.Create("a", definition);
  const RunRow first = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(first, RunState::kFailed), fence, kT0 + 3s);
  const RunRow waiting = s.Get(first.key).row;
  ASSERT_GT(waiting.due, kT0 + 30min);
  const RunDetail retried = s.v(s.runs.RetryRun({.key = first.key}, {.now = kT0 + 5s}));
  RunRow expected = waiting;
  expected.due = kT0 + 5s;
  EXPECT_EQ(retried.row, expected);
  const RunDetail run = s.Get(first.key);
  EXPECT_EQ(run.row, expected);
  ASSERT_EQ(run.attempts.size(), 1u);
  EXPECT_EQ(run.attempts[0].state, RunState::kFailed);
  EXPECT_CODE(s.runs.RetryRun({.key = first.key}, {.now = kT0 + 6s}), ErrorCode::kConflict);
  const RunRow second = s.Start(run.row, 2, fence, kT0 + 6s);
  s.Apply(s.ReportOf(second, RunState::kCompleted), fence, kT0 + 7s);
  EXPECT_EQ(s.Get(first.key).row.state, RunState::kCompleted);
}

TYPED_TEST(RunStoreContract, RetryByHandOfCancelledAndHeldRuns) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const StoredJob job = s.Create("a", definition);
  const RunRow cancelled = s.Execute(job, kT0);
  s.v(s.runs.CancelRun(cancelled.key, {.now = kT0 + 1s}));
  EXPECT_EQ(s.v(s.runs.RetryRun({.key = cancelled.key}, {.now = kT0 + 2s})).row.state,
            RunState::kPending);
  const RunRow held = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Lose(held, fence, kT0 + 30s);
  const RunDetail retried =
      s.v(s.runs.RetryRun({.key = held.key}, {.now = kT0 + 31s, .confirm_overlap = true}));
  EXPECT_EQ(retried.row.state, RunState::kPending);
  EXPECT_EQ(retried.row.attempt, 2);
}

TYPED_TEST(RunStoreContract, ADeadLetterEndsWithTheNextChance) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const auto letters = [&] { return s.v(s.runs.ListDeadLetters({.limit = 10})); };
  const RunRow other = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(other, RunState::kFailed), fence, kT0 + 3s);
  RunRow run = s.Start(s.Execute(job, kT0), 2, fence, kT0 + 1s);
  for (uint64_t token = 3; token < 5; ++token) {
    s.Apply(s.ReportOf(run, RunState::kFailed), fence, kT0 + 3s);
    EXPECT_EQ(letters().size(), 2u);
    s.v(s.runs.RetryRun({.key = run.key}, {.now = kT0 + 4s}));
    ASSERT_EQ(letters().size(), 1u);
    EXPECT_EQ(letters()[0].key, other.key);
    run = s.Start(s.Get(run.key).row, token, fence, kT0 + 5s);
  }
  s.Apply(s.ReportOf(run, RunState::kCompleted), fence, kT0 + 6s);
  EXPECT_EQ(letters().size(), 1u);
}

TYPED_TEST(RunStoreContract, ALateSuccessTakesTheDeadLetterBack) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow run = s.Start(s.Execute(s.Create("a", s.Manual()), kT0), 1, fence, kT0 + 1s);
  s.Lose(run, fence, kT0 + 30s);
  ASSERT_EQ(s.Get(run.key).row.state, RunState::kLost);
  ASSERT_EQ(s.v(s.runs.ListDeadLetters({.limit = 10})).size(), 1u);
  s.Apply(s.ReportOf(run, RunState::kCompleted), fence, kT0 + 40s);
  EXPECT_EQ(s.Get(run.key).row.state, RunState::kCompleted);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({.limit = 10})).empty());
}

TYPED_TEST(RunStoreContract, RetryByHandOfADeletedJobIsNotFound) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 3s);
  ASSERT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 4s}));
  EXPECT_CODE(s.runs.RetryRun({.key = running.key}, {.now = kT0 + 5s}), ErrorCode::kNotFound);
  RunKey missing = running.key;
  missing.fire += 1h;
  EXPECT_CODE(s.runs.RetryRun({.key = missing}, {.now = kT0 + 5s}), ErrorCode::kNotFound);
}

// ---- lists --------------------------------------------------------------------------------------

TYPED_TEST(RunStoreContract, ListIsNewestFirstInPagesWithoutFutureRuns) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  s.Create("a", s.Every(10s));
  s.Create("b", s.Every(15s));
  s.Plan(kT0 + 60s, fence);
  const WallTime now = kT0 + 45s;
  std::vector<RunKey> listed;
  std::optional<RunKey> before;
  for (int page = 0; page < 10; ++page) {
    const std::vector<RunDetail> runs =
        s.v(s.runs.ListRuns({.before = before, .limit = 3}, now)).runs;
    if (runs.empty()) break;
    EXPECT_LE(runs.size(), 3u);
    for (const RunDetail& run : runs) listed.push_back(run.row.key);
    before = listed.back();
  }
  ASSERT_EQ(listed.size(), 7u);  // fires in seconds: a: 10 20 30 40, b: 15 30 45
  EXPECT_TRUE(std::is_sorted(listed.rbegin(), listed.rend()));
  EXPECT_EQ(listed.front().fire, kT0 + 45s);
  const auto count = [&](const RunFilter& filter) {
    return s.v(s.runs.ListRuns(filter, now)).runs.size();
  };
  EXPECT_EQ(count({.states = {RunState::kPending}}), 10u);
  EXPECT_EQ(count({.job_id = JobId("a")}), 4u);
  EXPECT_EQ(count({.job_id = JobId("nobody")}), 0u);
  EXPECT_EQ(count({.since = kT0 + 30s}), 4u);
  EXPECT_EQ(count({.until = kT0 + 30s}), 3u);
  EXPECT_EQ(count({.since = kT0 + 30s, .until = kT0 + 30s + 1us}), 2u);
}

TYPED_TEST(RunStoreContract, RecentRunsAreTheLastFiresOfEachJob) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob a = s.Create("a", s.Every(10s));
  s.Create("b", s.Every(15s));
  const StoredJob by_hand = s.Create("by-hand", s.Manual());
  s.Create("idle", s.Manual());
  const StoredJob gone = s.Create("gone", s.Manual());
  s.Execute(gone, kT0);
  ASSERT_OK(s.jobs.DeleteJob(gone.job_id, gone.version, {.now = kT0 + 1s}));
  s.Plan(kT0 + 60s, fence);
  const RunRow run = s.Start(s.Execute(by_hand, kT0), 1, fence, kT0 + 1s);
  const auto recent = [&](RecentFilter filter) {
    std::vector<std::string> found;
    for (const RecentRuns& job : s.v(s.runs.ListRecentRuns(filter))) {
      std::string line = job.job_id.value();
      for (const RunSummary& glance : job.runs) {
        line += " " + std::to_string((glance.key.fire - kT0) / Duration(1s));
      }
      found.push_back(line);
    }
    return found;
  };
  using Found = std::vector<std::string>;
  const std::vector<JobId> ids = {JobId("b"), JobId("nobody"), JobId("a"), JobId("gone"),
                                  JobId("idle")};
  EXPECT_EQ(recent({.job_ids = ids, .runs_max = 2, .until = kT0 + 45s}),
            (Found{"b 45 30", "a 40 30", "idle"}));
  EXPECT_EQ(recent({.job_ids = ids, .runs_max = 9, .until = kT0 + 45s - 1us}),
            (Found{"b 30 15", "a 40 30 20 10", "idle"}));
  EXPECT_EQ(recent({.job_ids = {}, .until = kT0 + 45s}), Found{});
  s.Apply(s.ReportOf(run, RunState::kFailed), fence, kT0 + 2s);
  const RunDetail detail = s.v(s.runs.GetRun(run.key));
  const auto shown =
      s.v(s.runs.ListRecentRuns({.job_ids = {by_hand.job_id, a.job_id}, .until = kT0 + 9s}));
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].runs, (std::vector<RunSummary>{{.key = run.key,
                                                     .state = RunState::kFailed,
                                                     .started = detail.result.started,
                                                     .ended = detail.result.ended}}));
  EXPECT_NE(detail.result.ended, WallTime{});
  EXPECT_TRUE(shown[1].runs.empty());
}

TYPED_TEST(RunStoreContract, ListFiltersByStateAndExecutor) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  s.Execute(job, kT0);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  const RunRow failed = s.Start(s.Execute(job, kT0), 2, fence, kT0 + 1s);
  s.Apply(s.ReportOf(failed, RunState::kFailed), fence, kT0 + 2s);
  const auto list = [&](const RunFilter& filter) {
    return s.v(s.runs.ListRuns(filter, kT0 + 1h)).runs;
  };
  EXPECT_EQ(list({}).size(), 3u);
  EXPECT_EQ(list({.executor = ExecutorId("e1")}).size(), 2u);
  EXPECT_EQ(list({.executor = ExecutorId("e9")}).size(), 0u);
  ASSERT_EQ(list({.states = {RunState::kRunning}}).size(), 1u);
  EXPECT_EQ(list({.states = {RunState::kRunning}})[0].row, running);
  EXPECT_EQ(list({.states = {RunState::kRunning, RunState::kFailed}}).size(), 2u);
}

TYPED_TEST(RunStoreContract, ListOfAStateFollowsARunThroughItsEnds) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  const StoredJob other = s.Create("b", s.Manual());
  const RunRow failed = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  s.Apply(s.ReportOf(failed, RunState::kFailed), fence, kT0 + 2s);
  const RunRow timed_out = s.Start(s.Execute(other, kT0), 2, fence, kT0 + 1s);
  s.Apply(s.ReportOf(timed_out, RunState::kTimedOut), fence, kT0 + 2s);
  const RunRow good = s.Start(s.Execute(job, kT0), 3, fence, kT0 + 1s);
  s.Apply(s.ReportOf(good, RunState::kCompleted), fence, kT0 + 2s);
  const RunRow waiting = s.Execute(other, kT0);
  const auto keys = [&](const RunFilter& filter) {
    std::vector<RunKey> found;
    for (const RunDetail& run : s.v(s.runs.ListRuns(filter, kT0 + 1h)).runs) {
      found.push_back(run.row.key);
    }
    return found;
  };
  using Keys = std::vector<RunKey>;
  EXPECT_EQ(keys({.states = {RunState::kFailed}}), Keys{failed.key});
  EXPECT_EQ(keys({.states = {RunState::kFailed, RunState::kTimedOut}}).size(), 2u);
  EXPECT_EQ(keys({.states = {RunState::kFailed, RunState::kFailed}}), Keys{failed.key});
  EXPECT_EQ(keys({.states = {RunState::kPending, RunState::kTimedOut}}),
            (Keys{waiting.key, timed_out.key}));
  EXPECT_EQ(keys({.states = {RunState::kCompleted, RunState::kFailed}}),
            (Keys{good.key, failed.key}));
  EXPECT_EQ(keys({.job_id = other.job_id, .states = {RunState::kTimedOut, RunState::kFailed}}),
            Keys{timed_out.key});
  EXPECT_EQ(keys({.executor = ExecutorId("e1"), .states = {RunState::kFailed}}), Keys{failed.key});
  s.v(s.runs.RetryRun({.key = failed.key}, {.now = kT0 + 5s}));
  EXPECT_EQ(keys({.states = {RunState::kFailed}}), Keys{});
  EXPECT_EQ(keys({.job_id = job.job_id, .states = {RunState::kPending}}), Keys{failed.key});
  s.v(s.runs.CancelRun(failed.key, {.now = kT0 + 6s}));
  EXPECT_EQ(keys({.states = {RunState::kCancelled}}), Keys{failed.key});
}

TYPED_TEST(RunStoreContract, MarkChangesWithWhatRunsDo) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  std::set<uint64_t> marks;
  const auto changed = [&](WallTime now) {
    const uint64_t mark = s.v(s.runs.RunsFingerprint(now));
    EXPECT_EQ(s.v(s.runs.RunsFingerprint(now)), mark);
    return marks.insert(mark).second;
  };
  EXPECT_TRUE(changed(kT0));
  const RunRow old = s.Execute(job, kT0);
  EXPECT_TRUE(changed(kT0 + 1s));
  EXPECT_FALSE(changed(kT0 + 2s)) << "time alone changes nothing";
  for (int i = 0; i < 30; ++i) {
    const RunRow run = s.Start(s.Execute(job, kT0 + 2s), 1, fence, kT0 + 3s);
    s.Apply(s.ReportOf(run, RunState::kCompleted), fence, kT0 + 4s);
    EXPECT_TRUE(changed(kT0 + 5s)) << i;
  }
  const RunRow running = s.Start(old, 1, fence, kT0 + 6s);
  EXPECT_TRUE(changed(kT0 + 6s)) << "open, however old";
  s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 7s);
  EXPECT_FALSE(marks.contains(s.v(s.runs.RunsFingerprint(kT0 + 7s))) &&
               s.v(s.runs.RunsFingerprint(kT0 + 7s)) == *marks.begin());
}

TYPED_TEST(RunStoreContract, GapsPageNewestFirst) {
  StoreDriver s = this->driver();
  StoredJob job = s.Create("a", s.Every(10s));
  for (int i = 0; i < 5; ++i) {
    job = s.Pause(job, kT0 + i * 20s + 1s);
    job = s.Resume(job, kT0 + i * 20s + 19s);
  }
  StoredJob other = s.Pause(s.Create("b", s.Every(1s)), kT0);
  s.Resume(other, kT0 + 10s);
  std::vector<WallTime> froms;
  uint64_t before = UINT64_MAX;
  for (int page = 0; page < 10; ++page) {
    const GapPage found =
        s.v(s.runs.ListGaps({.job_id = job.job_id, .before_id = before, .limit = 2}));
    EXPECT_LE(found.gaps.size(), 2u);
    for (const GapRecord& gap : found.gaps) froms.push_back(gap.range.from);
    if (!found.next) break;
    before = *found.next;
  }
  ASSERT_EQ(froms.size(), 5u);
  EXPECT_TRUE(std::is_sorted(froms.rbegin(), froms.rend()));
  EXPECT_EQ(s.v(s.runs.ListGaps({})).gaps.size(), 6u);
}

TYPED_TEST(RunStoreContract, OpenRunsAreCounted) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = s.Manual();
  definition.on_lost = OnLost::kHold;
  const StoredJob job = s.Create("a", definition);
  for (int i = 0; i < 3; ++i) s.Execute(job, kT0);
  const RunRow running = s.Start(s.Execute(job, kT0), 1, fence, kT0 + 1s);
  RunCounts counts = s.v(s.runs.CountOpenRuns());
  EXPECT_EQ(counts.pending, 3);
  EXPECT_EQ(counts.running, 1);
  s.Lose(running, fence, kT0 + 30s);
  EXPECT_EQ(s.v(s.runs.CountOpenRuns()).running, 1);  // HELD counts as running
  s.v(s.runs.CancelRun(running.key, {.now = kT0 + 31s, .confirm_overlap = true}));
  EXPECT_EQ(s.v(s.runs.CountOpenRuns()).running, 0);
}

TYPED_TEST(RunStoreContract, DeadLettersPageNewestFirst) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", s.Manual());
  for (uint64_t i = 0; i < 5; ++i) {
    const RunRow running = s.Start(s.Execute(job, kT0), i + 1, fence, kT0 + 1s);
    s.Apply(s.ReportOf(running, RunState::kFailed), fence, kT0 + 2s + i * 1s);
  }
  std::vector<uint64_t> ids;
  uint64_t before = UINT64_MAX;
  for (int page = 0; page < 10; ++page) {
    const std::vector<DeadLetter> letters =
        s.v(s.runs.ListDeadLetters({.before_id = before, .limit = 2}));
    if (letters.empty()) break;
    EXPECT_LE(letters.size(), 2u);
    for (const DeadLetter& letter : letters) ids.push_back(letter.id);
    before = ids.back();
  }
  ASSERT_EQ(ids.size(), 5u);
  EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend()));
}

}  // namespace carillon::test
