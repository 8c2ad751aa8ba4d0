// The contract of what people do to fires in parts: cancel, retry, pause, delete and edit.
#pragma once

#include "common/domain/parts/part_retry.h"
#include "tests/contract/store/fire_driver.h"
#include "tests/contract/store/run_rights_contract.h"

namespace carillon::test {

template <typename Factory>
class PartsControlContract : public FireContract<Factory> {
 protected:
  using Which = PartChoice::Which;

  // A fire of three parts: the first has succeeded, the others have failed.
  static RunRow Failed(StoreDriver& s, const StoredJob& job, const Fence& fence, WallTime now) {
    const RunRow own = TestOf::BeginNow(s, job, fence, now);
    TestOf::EndPart(s, own, 0, RunState::kCompleted, fence, now + 1s);
    TestOf::EndPart(s, own, 1, RunState::kFailed, fence, now + 1s);
    TestOf::EndPart(s, own, 2, RunState::kTimedOut, fence, now + 1s);
    const RunRow ended = TestOf::Look(s, own, fence, now + 2s);
    EXPECT_EQ(ended.state, RunState::kFailed);
    return ended;
  }
  static int64_t Letters(StoreDriver& s) {
    return static_cast<int64_t>(s.v(s.runs.ListDeadLetters({})).size());
  }

 private:
  using TestOf = FireContract<Factory>;
};
TYPED_TEST_SUITE(PartsControlContract, StoreFactories);

TYPED_TEST(PartsControlContract, ACancelOfTheFireIsOneOfAllItsParts) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 4));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  const RunRow running = this->StartPart(s, own, 0, fence, kT0);
  this->EndPart(s, own, 1, RunState::kCompleted, fence, kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(own.key, {.now = kT0 + 2s, .actor = "anna", .reason = "no"})));
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kRunning, RunState::kCompleted, RunState::kCancelled,
                                   RunState::kCancelled}));
  EXPECT_EQ(this->Part(s, own, 0).cancel_requested, CancelMode::kGraceful);
  EXPECT_EQ(s.Get(this->KeyOf(own, 2)).result.error, "cancelled by anna: no");
  EXPECT_TRUE(s.Pending(kT0 + 1h).empty());
  // The own run waits for its last part.
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3s).state, RunState::kRunning);
  s.Apply(s.ReportOf(running, RunState::kCancelled), fence, kT0 + 4s);
  const RunRow ended = this->Look(s, own, fence, kT0 + 5s);
  EXPECT_EQ(ended.state, RunState::kCancelled);
  EXPECT_FALSE(ended.cancel_requested);
  EXPECT_EQ(this->Letters(s), 0);
}

// A caller who cancels does not want the jobs that start after a failure.
TYPED_TEST(PartsControlContract, ACancelledFireIsNotFailedByAPartOfBefore) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 3));
  JobDefinition after = s.Manual();
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "a", .on = AfterOutcome::kFailure}};
  s.Create("b", after);
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  this->EndPart(s, own, 0, RunState::kFailed, fence, kT0 + 1s);
  const RunRow running = this->StartPart(s, own, 1, fence, kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(own.key, {.now = kT0 + 2s})));
  s.Apply(s.ReportOf(running, RunState::kCancelled), fence, kT0 + 3s);
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 4s).state, RunState::kCancelled);
  const AttemptResult result = s.Get(own.key).result;
  EXPECT_EQ(result.reason, reason::kCancelRequested);
  EXPECT_EQ(result.error, "1 of 3 shards has failed: 0 (FAILED exit_code)");
  EXPECT_EQ(this->Letters(s), 0);
  std::vector<RunCompletion> ends = s.v(s.completions.ScanCompletions(s.All(), 100));
  std::erase_if(
      ends, [](const RunCompletion& end) { return end.target != CompletionTarget::kDependents; });
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(s.v(s.completions.Apply(ends, fence, kT0 + 5s)).at(0).started.empty());
  // The failed part and the cancelled ones can be retried together.
  EXPECT_OK(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 6s}));
  EXPECT_EQ(this->States(s, own), std::vector<RunState>(3, RunState::kPending));
}

TYPED_TEST(PartsControlContract, AKillReachesPartsThatWereAskedBefore) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow own = this->BeginNow(s, s.Create("a", this->Sharded(s.Manual(), 2)), fence, kT0);
  this->StartPart(s, own, 0, fence, kT0);
  EXPECT_TRUE(s.v(s.runs.CancelRun(own.key, {.now = kT0 + 1s})));
  EXPECT_TRUE(s.v(s.runs.CancelRun(own.key, {.now = kT0 + 2s, .cancel_mode = CancelMode::kKill})));
  EXPECT_EQ(this->Part(s, own, 0).cancel_requested, CancelMode::kKill);
  const auto requests = s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 10)).runs;
  ASSERT_EQ(requests.size(), 1u) << "the own run has no executor to ask";
  EXPECT_EQ(requests[0].key, this->KeyOf(own, 0));
}

TYPED_TEST(PartsControlContract, ACancelOfAPartIsOfItAlone) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow own = this->BeginNow(s, s.Create("a", this->Sharded(s.Manual(), 2)), fence, kT0);
  EXPECT_TRUE(s.v(s.runs.CancelRun(this->KeyOf(own, 1), {.now = kT0 + 1s})));
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kPending, RunState::kCancelled}));
  EXPECT_FALSE(s.Get(own.key).row.cancel_requested);
  this->EndPart(s, own, 0, RunState::kCompleted, fence, kT0 + 2s);
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3s).state, RunState::kCancelled);
}

TYPED_TEST(PartsControlContract, ACancelOfTheJobCountsFires) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 3));
  const RunRow first = this->BeginNow(s, job, fence, kT0);
  const RunRow second = this->BeginNow(s, job, fence, kT0 + 1s);
  s.Execute(job, kT0 + 2s);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 3s})), 3);
  for (const RunRow& own : {first, second}) {
    EXPECT_EQ(this->States(s, own), std::vector<RunState>(3, RunState::kCancelled));
    EXPECT_EQ(this->Look(s, own, fence, kT0 + 4s).state, RunState::kCancelled);
  }
}

// More rows than one transaction cancels.
TYPED_TEST(PartsControlContract, ACancelOfAJobReachesRunningAndWaitingFires) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 700));
  const RunKey waits = s.Execute(job, kT0).key;
  const RunRow first = this->BeginNow(s, job, fence, kT0 + 1s);
  const RunRow second = this->BeginNow(s, job, fence, kT0 + 2s);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(job.job_id, {.now = kT0 + 3s})), 3);
  EXPECT_EQ(s.Get(waits).row.state, RunState::kCancelled);
  for (const RunRow& own : {first, second}) {
    EXPECT_EQ(this->States(s, own), std::vector<RunState>(700, RunState::kCancelled));
  }
}

TYPED_TEST(PartsControlContract, APolicyThatEndsThePreviousRunEndsItsParts) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2, OverlapPolicy::kSkip));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  this->StartPart(s, own, 0, fence, kT0);
  JobDefinition edited = s.Manual();
  edited.overlap_policy = OverlapPolicy::kCancelPrevious;
  const RunRow next = s.Execute(s.Replace(job, edited, kT0 + 1s), kT0 + 2s);
  ClaimRequest claim = s.ClaimOf(next, 9);
  claim.overlap = OverlapRulesOf(edited);
  EXPECT_EQ(s.Claim(claim, fence, kT0 + 2s).verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.v(s.queues.Admit({job.job_no, job.segment}, fence, kT0 + 3s)).cancels_requested, 1u);
  EXPECT_EQ(s.Get(own.key).row.cancel_requested, CancelMode::kGraceful);
  EXPECT_EQ(this->Part(s, own, 0).cancel_requested, CancelMode::kGraceful);
  const RunDetail waiting = s.Get(this->KeyOf(own, 1));
  EXPECT_EQ(waiting.row.state, RunState::kCancelled);
  EXPECT_EQ(waiting.result.error, ReplacedSentence(OverlapRulesOf(edited), next.key));
}

TYPED_TEST(PartsControlContract, ACancelOfABackfillCancelsThePartsOfItsFires) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const JobDefinition sharded = this->Sharded(s.Every(1h), 2);
  const StoredJob job = s.Create("a", sharded, kT0 + 3h);
  const Backfill made =
      s.v(s.backfills.CreateBackfill({.job_id = job.job_id,
                                      .schedule_id = job.schedules.at(0).schedule_id,
                                      .from = kT0 + 1h,
                                      .to = kT0 + 2h},
                                     {}, {.now = kT0 + 3h}));
  const BackfillEffect effect = s.v(
      s.backfills.StepBackfill({made.number, job.job_no, job.segment}, fence, kT0 + 3h, 14 * 24h));
  ASSERT_EQ(effect.due.size(), 1u);
  const RunRow own = this->Begin(s, effect.due[0], sharded, fence, kT0 + 3h);
  EXPECT_OK(s.backfills.CancelBackfill(made.number, {.now = kT0 + 4h}));
  EXPECT_TRUE(s.Get(own.key).row.cancel_requested);
  EXPECT_EQ(this->States(s, own), std::vector<RunState>(2, RunState::kCancelled));
}

TYPED_TEST(PartsControlContract, ARetryRunsWhatHasFailed) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 3, OverlapPolicy::kSkip));
  const RunRow own = this->Failed(s, job, fence, kT0);
  EXPECT_EQ(this->Letters(s), 1) << "that of the fire";
  const RunDetail retried = s.v(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 1h}));
  EXPECT_EQ(retried.row.state, RunState::kRunning);
  EXPECT_EQ(retried.row.attempt, 2);
  ASSERT_EQ(retried.attempts.size(), 1u);
  EXPECT_EQ(retried.attempts[0].state, RunState::kFailed);
  EXPECT_EQ(this->Letters(s), 0);
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kCompleted, RunState::kPending, RunState::kPending}));
  const RunDetail part = s.Get(this->KeyOf(own, 2));
  EXPECT_EQ(part.row.attempt, 2);
  EXPECT_EQ(part.row.due, kT0 + 1h);
  ASSERT_EQ(part.attempts.size(), 1u);
  EXPECT_EQ(part.attempts[0].state, RunState::kTimedOut);
  EXPECT_EQ(part.attempts[0].executor, ExecutorId("e1"));
  // It has the slot of its job again.
  ClaimRequest other = this->ToBegin(s.Execute(job, kT0 + 1h), job.definition);
  EXPECT_EQ(s.v(s.workflows.BeginParts({other}, fence, kT0 + 1h)).verdict, ClaimVerdict::kSkipped);
  for (const uint32_t index : {1u, 2u}) {
    this->EndPart(s, own, index, RunState::kCompleted, fence, kT0 + 2h);
  }
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3h).state, RunState::kCompleted);
  const RunDetail done = s.Get(own.key);
  EXPECT_EQ(done.result.started, kT0 + 2h) << "of the parts that ran again";
  EXPECT_EQ(done.result.ended, kT0 + 2h);
  ASSERT_EQ(done.attempts.size(), 1u);
  EXPECT_EQ(done.attempts[0].result.started, kT0 + 1s);
}

TYPED_TEST(PartsControlContract, ARetryTakesTheChosenParts) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 3));
  const RunRow own = this->Failed(s, job, fence, kT0);
  const auto retry = [&](const RunKey& key, const PartChoice& choice) {
    return s.runs.RetryRun({.key = key, .parts = choice}, {.now = kT0 + 1h});
  };
  EXPECT_CODE(retry(own.key, {.which = TestFixture::Which::kNamed, .indexes = {3}}),
              ErrorCode::kInvalid);
  EXPECT_OK(retry(own.key, {.which = TestFixture::Which::kNamed, .indexes = {0}}));
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kPending, RunState::kFailed, RunState::kTimedOut}));
  // The fire is open: a part is retried beside the others, and means itself.
  EXPECT_OK(s.runs.RetryRun({.key = this->KeyOf(own, 1)}, {.now = kT0 + 1h}));
  EXPECT_EQ(s.Get(own.key).row.attempt, 2);
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kPending, RunState::kPending, RunState::kTimedOut}));
  EXPECT_CODE(retry(own.key, {.which = TestFixture::Which::kAll}), ErrorCode::kConflict);
  for (const uint32_t index : {0u, 1u}) {
    this->EndPart(s, own, index, RunState::kCompleted, fence, kT0 + 2h);
  }
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3h).state, RunState::kTimedOut);
  EXPECT_OK(retry(own.key, {.which = TestFixture::Which::kAll}));
  EXPECT_EQ(this->States(s, own), std::vector<RunState>(3, RunState::kPending));
  EXPECT_EQ(this->Part(s, own, 0).attempt, 3);
}

TYPED_TEST(PartsControlContract, ACompletedFireRunsNamedPartsAgain) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2, OverlapPolicy::kSkip));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  for (const uint32_t index : {0u, 1u}) {
    this->EndPart(s, own, index, RunState::kCompleted, fence, kT0 + 1s);
  }
  const RunRow ended = this->Look(s, own, fence, kT0 + 2s);
  ASSERT_EQ(ended.state, RunState::kCompleted);
  for (const RunKey& key : {own.key, this->KeyOf(own, 1)}) {
    EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 1h}), ErrorCode::kConflict);
  }
  EXPECT_EQ(s.Get(own.key).row, ended);
  const PartChoice second{.which = TestFixture::Which::kNamed, .indexes = {1}};
  const RunDetail retried =
      s.v(s.runs.RetryRun({.key = own.key, .parts = second}, {.now = kT0 + 1h}));
  EXPECT_EQ(retried.row.state, RunState::kRunning);
  EXPECT_EQ(retried.row.attempt, 2);
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kCompleted, RunState::kPending}));
  const ClaimRequest other = this->ToBegin(s.Execute(job, kT0 + 1h), job.definition);
  EXPECT_EQ(s.v(s.workflows.BeginParts({other}, fence, kT0 + 1h)).verdict, ClaimVerdict::kSkipped);
  this->EndPart(s, own, 1, RunState::kFailed, fence, kT0 + 2h);
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3h).state, RunState::kFailed);
  EXPECT_EQ(this->Letters(s), 1);
}

// Nobody kept its parameters when the schedule went, nor its time zone when the job moved.
TYPED_TEST(PartsControlContract, ACompletedFireIsNotRunAgainWithOtherFacts) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition sharded = this->Sharded(s.Every(10s), 1);
  sharded.time_zone = "Europe/Berlin";
  sharded.command = "echo {{fire_date}}";
  sharded.schedules[0].parameters = {{"t", std::string("north")}};
  StoredJob job = s.Create("a", sharded);
  s.Plan(kT0 + 10s, fence);
  const std::vector<RunRow> planned = s.Pending(kT0 + 10s);
  ASSERT_EQ(planned.size(), 1u);
  const RunRow own = this->Begin(s, planned[0], sharded, fence, kT0 + 10s);
  const auto end = [&](WallTime now) {
    this->EndPart(s, own, 0, RunState::kCompleted, fence, now);
    EXPECT_EQ(this->Look(s, own, fence, now).state, RunState::kCompleted);
  };
  const auto retry = [&](WallTime now) {
    return s.runs.RetryRun({.key = own.key, .parts = PartChoice{.which = TestFixture::Which::kAll}},
                           {.now = now});
  };
  const auto edit = [&](const JobDefinition& definition, WallTime now) {
    const WriteContext context{.now = now, .keep_zones = true};
    job = s.v(s.jobs.ReplaceJob(job.job_id, job.version, definition, context));
  };
  end(kT0 + 11s);
  EXPECT_OK(retry(kT0 + 12s));
  end(kT0 + 13s);
  JobDefinition edited = sharded;
  edited.time_zone = "UTC";
  edit(edited, kT0 + 14s);
  EXPECT_CODE(retry(kT0 + 14s), ErrorCode::kConflict);
  edited.command = "true";
  edit(edited, kT0 + 15s);
  EXPECT_OK(retry(kT0 + 15s));  // nobody asks for the date
  end(kT0 + 16s);
  edited.schedules.clear();
  edit(edited, kT0 + 17s);
  EXPECT_CODE(retry(kT0 + 17s), ErrorCode::kConflict);
  EXPECT_EQ(s.Get(own.key).row.state, RunState::kCompleted);
}

TYPED_TEST(PartsControlContract, ARetryWithoutASlotChangesNothing) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 3, OverlapPolicy::kSkip));
  const RunRow own = this->Failed(s, job, fence, kT0);
  const RunRow other = this->BeginNow(s, job, fence, kT0 + 1h);
  const auto parts = s.v(s.runs.ListParts(own.key));
  const auto retried = s.runs.RetryRun({.key = own.key}, {.now = kT0 + 2h});
  ASSERT_FALSE(retried.ok());
  EXPECT_TRUE(NamesHolder(retried.error())) << retried.error().message;
  EXPECT_NE(retried.error().message.find(EncodeRunId(other.key)), std::string::npos);
  EXPECT_EQ(s.Get(own.key).row, own);
  EXPECT_EQ(s.v(s.runs.ListParts(own.key)), parts);
  EXPECT_EQ(this->Letters(s), 1);
  for (const uint32_t index : {0u, 1u, 2u}) {
    this->EndPart(s, other, index, RunState::kCompleted, fence, kT0 + 3h);
  }
  this->Look(s, other, fence, kT0 + 3h);
  EXPECT_OK(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 4h}));
}

TYPED_TEST(PartsControlContract, ALateResultOfTheAttemptBeforeIsOnlyRecorded) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow own = this->BeginNow(s, s.Create("a", this->Sharded(s.Manual(), 1)), fence, kT0);
  const RunRow lost = this->StartPart(s, own, 0, fence, kT0);
  s.Lose(lost, fence, kT0 + 1min);
  ASSERT_EQ(this->States(s, own), std::vector<RunState>{RunState::kLost});
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 1min).state, RunState::kLost);
  EXPECT_OK(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 2min}));
  s.Apply(s.ReportOf(lost, RunState::kCompleted), fence, kT0 + 3min);
  EXPECT_EQ(this->States(s, own), std::vector<RunState>{RunState::kPending});
}

TYPED_TEST(PartsControlContract, ARetryAsksWhetherAProcessMayLive) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition careful = this->Sharded(s.Manual(), 2);
  careful.on_lost = OnLost::kFail;
  const RunRow own = this->BeginNow(s, s.Create("a", careful), fence, kT0);
  this->EndPart(s, own, 0, RunState::kCompleted, fence, kT0);
  s.Lose(this->StartPart(s, own, 1, fence, kT0), fence, kT0 + 1min);
  const RunRow ended = this->Look(s, own, fence, kT0 + 1min);
  EXPECT_TRUE(ended.may_still_run);
  EXPECT_CODE(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 2min}), ErrorCode::kConflict);
  EXPECT_EQ(s.Get(own.key).row, ended);
  EXPECT_OK(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 2min, .confirm_overlap = true}));
  EXPECT_EQ(this->States(s, own),
            (std::vector<RunState>{RunState::kCompleted, RunState::kPending}));
}

TYPED_TEST(PartsControlContract, OnlyAFireThatHasBegunHasPartsToChoose) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob plain = s.Create("plain", s.Manual());
  const RunRow run = s.Start(s.Execute(plain, kT0), 1, fence, kT0);
  s.Apply(s.ReportOf(run, RunState::kFailed), fence, kT0 + 1s);
  EXPECT_CODE(s.runs.RetryRun({.key = run.key, .parts = PartChoice{}}, {.now = kT0 + 2s}),
              ErrorCode::kConflict);
  EXPECT_OK(s.runs.RetryRun({.key = run.key}, {.now = kT0 + 2s}));
}

TYPED_TEST(PartsControlContract, PartsWaitForTheResume) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  this->StartPart(s, own, 0, fence, kT0);
  s.Pause(job, kT0 + 1s);
  EXPECT_EQ(s.Get(own.key).row.state, RunState::kRunning);
  EXPECT_EQ(this->Part(s, own, 1).due, kNever);
  EXPECT_EQ(this->Part(s, own, 1).state, RunState::kPending);
  s.Resume(job, kT0 + 1h);
  EXPECT_EQ(this->Part(s, own, 1).due, kT0 + 1h);
}

TYPED_TEST(PartsControlContract, ADeleteOfTheJobEndsTheFireWithItsLastPart) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  const RunRow running = this->StartPart(s, own, 0, fence, kT0);
  EXPECT_OK(s.jobs.DeleteJob(job.job_id, job.version, {.now = kT0 + 1s}));
  EXPECT_EQ(this->States(s, own), (std::vector<RunState>{RunState::kRunning, RunState::kSkipped}));
  s.Apply(s.ReportOf(running, RunState::kCompleted), fence, kT0 + 2s);
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3s).state, RunState::kCancelled);
}

TYPED_TEST(PartsControlContract, AnEditKeepsTheNumberOfParts) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  JobDefinition definition = this->Sharded(s.Manual(), 2);
  const StoredJob job = s.Create("a", definition);
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  this->StartPart(s, own, 0, fence, kT0);
  definition = this->Sharded(definition, 5, OverlapPolicy::kSkip);
  const StoredJob edited = s.Replace(job, definition, kT0 + 1s);
  EXPECT_EQ(this->States(s, own).size(), 2u);
  EXPECT_EQ(this->Part(s, own, 1).def_version, edited.version);
  EXPECT_EQ(this->Part(s, own, 1).shard_total, 2u);
  // The fire has the one slot that the edit has made, and its parts have none.
  EXPECT_EQ(s.v(s.workflows.BeginParts({this->ToBegin(s.Execute(edited, kT0 + 2s), definition)},
                                       fence, kT0 + 2s))
                .verdict,
            ClaimVerdict::kSkipped);
  this->EndPart(s, own, 1, RunState::kCompleted, fence, kT0 + 3s);
  s.Apply(s.ReportOf(this->Part(s, own, 0), RunState::kCompleted), fence, kT0 + 3s);
  EXPECT_EQ(this->Look(s, own, fence, kT0 + 3s).state, RunState::kCompleted);
  this->BeginNow(s, edited, fence, kT0 + 4s);
}

TYPED_TEST(PartsControlContract, AJobThatIsAWorkflowNowCannotRunParts) {
  WorkflowDriver s(this->handle());
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 3));
  const RunRow own = this->Failed(s, job, s.fence, kT0);
  s.Create("b", s.Manual());
  s.Replace(job, s.Flow({s.Node("b")}), kT0 + 1h);
  EXPECT_CODE(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 2h}), ErrorCode::kConflict);
  EXPECT_EQ(s.Get(own.key).row, own);
}

// Whoever gave the fire its parameters may lose the right to run the job before a part starts, and
// before a retry, which does not begin the fire again.
TYPED_TEST(PartsControlContract, PeopleBehindAFireAreAskedForEachAttemptOfAPart) {
  RunRightsDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Load().definition, 2);
  s.Edit([&](JobDefinition& load) { load = sharded; });
  const RunKey key = s.Executed(s.From(s.kBert));
  const RunRow own = this->Begin(s, s.Get(key).row, sharded, s.fence, kT0);
  this->EndPart(s, own, 0, RunState::kFailed, s.fence, kT0 + 1s);
  s.Share({"hers"});
  s.ExpectRunRefused(this->KeyOf(own, 1), kT0 + 2s, s.kBertGave);
  EXPECT_EQ(this->Look(s, own, s.fence, kT0 + 3s).state, RunState::kFailed);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s}), ErrorCode::kConflict);
  EXPECT_EQ(s.StateOf(key), RunState::kFailed);
  s.Share({"load", "hers"});
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 5s}));
  EXPECT_EQ(this->States(s, own), std::vector<RunState>(2, RunState::kPending));
}

}  // namespace carillon::test
