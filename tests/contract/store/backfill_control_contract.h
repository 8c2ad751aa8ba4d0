// Contract of BackfillStore: pause, cancel, jobs that change, owners that change, lists.
#pragma once

#include "tests/contract/store/backfill_contract.h"

namespace carillon::test {

TYPED_TEST(BackfillContract, PausedBackfillCreatesNoRun) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  s.ExpectDueAt(s.kNow, {0});
  EXPECT_EQ(s.v(s.backfills.PauseBackfill(s.number, {.now = s.kNow})).state,
            BackfillState::kPaused);
  EXPECT_OK(s.backfills.PauseBackfill(s.number, {.now = s.kNow}));
  s.EndRun(s.KeyOf(0), RunState::kCompleted, s.kNow);
  s.ExpectDueAt(s.kNow, {});
  s.ExpectCounts({.created = 1, .succeeded = 1});
  EXPECT_EQ(s.v(s.backfills.ResumeBackfill(s.number, {.now = s.kNow})).state,
            BackfillState::kRunning);
  s.ExpectDueAt(s.kNow, {1});
}

TYPED_TEST(BackfillContract, CancelEndsItsRuns) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  BackfillTerms terms = s.Terms(0, 4);
  terms.concurrency = 2;
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {0, 1});
  const RunRow running = s.StartRun(s.KeyOf(0), s.kNow);
  EndedRuns ended;
  const Backfill cancelled =
      s.v(s.backfills.CancelBackfill(s.number, {.now = s.kNow, .actor = "anna", .ended = &ended}));
  EXPECT_EQ(cancelled.state, BackfillState::kCancelled);
  EXPECT_FALSE(HasEnded(cancelled));
  EXPECT_EQ(ended, (EndedRuns{{RunState::kCancelled, 1}}));
  EXPECT_EQ(s.Get(s.KeyOf(1)).row.state, RunState::kCancelled);
  EXPECT_EQ(s.Get(s.KeyOf(0)).row.cancel_requested, CancelMode::kGraceful);
  s.ExpectDueAt(s.kNow, {});
  s.Apply(s.ReportOf(running, RunState::kCancelled), s.fence, s.kNow);
  s.ExpectDueAt(s.kNow + 1s, {});
  EXPECT_EQ(s.Read().ended, s.kNow + 1s);
  s.ExpectCounts({.created = 2, .failed = 2});
  EXPECT_OK(s.backfills.CancelBackfill(s.number, {.now = s.kNow}));
  EXPECT_CODE(s.backfills.ResumeBackfill(s.number, {.now = s.kNow}), ErrorCode::kConflict);
}

TYPED_TEST(BackfillContract, AJobHasOneOpenBackfill) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  EXPECT_CODE(s.backfills.CreateBackfill(s.Terms(3, 4), {}, {.now = s.kNow}), ErrorCode::kExists);
  s.v(s.backfills.CancelBackfill(s.number, {.now = s.kNow}));
  const uint64_t first = s.number;
  EXPECT_GT(s.Begin(s.Terms(3, 4)).number, first);
}

TYPED_TEST(BackfillContract, PausedJobWaitsAndHoldsItsRunsBack) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 2));
  s.ExpectDueAt(s.kNow, {0});
  s.job = s.Pause(s.job, s.kNow + 1s);
  EXPECT_EQ(s.Get(s.KeyOf(0)).row.due, kNever);
  s.ExpectDueAt(s.kNow + 2s, {});
  s.job = s.Resume(s.job, s.kNow + 3s);
  s.EndRun(s.KeyOf(0), RunState::kCompleted, s.kNow + 4s);
  s.ExpectDueAt(s.kNow + 4s, {1});
}

TYPED_TEST(BackfillContract, StopsWhenItsJobIsDeleted) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  s.ExpectDueAt(s.kNow, {0});
  ASSERT_OK(s.jobs.DeleteJob(s.job.job_id, s.job.version, {.now = s.kNow}));
  s.ExpectDueAt(s.kNow, {});
  const Backfill stopped = s.Read();
  EXPECT_EQ(stopped.state, BackfillState::kStopped);
  EXPECT_EQ(stopped.error, StoppedSentence(true));
  EXPECT_TRUE(HasEnded(stopped));
}

TYPED_TEST(BackfillContract, StopsWhenItsScheduleIsReplaced) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  const BackfillTerms terms = s.Terms(0, 3);
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {0});
  s.job = s.Replace(s.job, s.Every(2h), s.kNow);
  s.ExpectDue(s.kNow, {});
  EXPECT_EQ(s.Read().state, BackfillState::kStopped);
  EXPECT_EQ(s.Read().error, StoppedSentence(false));
  EXPECT_FALSE(HasEnded(s.Read()));  // its run goes on
  EXPECT_CODE(s.backfills.CreateBackfill(terms, {}, {.now = s.kNow}), ErrorCode::kConflict);
  EXPECT_CODE(s.backfills.PreviewBackfill(terms), ErrorCode::kConflict);
}

TYPED_TEST(BackfillContract, OldOwnerIsFenced) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  const Fence taken = s.Take(2, "m2", "i2");
  EXPECT_CODE(s.backfills.StepBackfill(s.Open(), s.fence, s.kNow, s.retention), ErrorCode::kFenced);
  EXPECT_CODE(s.runs.GetRun(s.KeyOf(0)), ErrorCode::kNotFound);
  s.fence = taken;
  s.ExpectDueAt(s.kNow, {0});
}

TYPED_TEST(BackfillContract, IsFoundByItsOwner) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  EXPECT_EQ(s.v(s.backfills.ScanBackfills(s.All(), 0, 10)), std::vector<OpenBackfill>{s.Open()});
  EXPECT_TRUE(s.v(s.backfills.ScanBackfills(s.All(), s.number, 10)).empty());
  std::vector<SegmentId> others;
  for (const SegmentId segment : s.All()) {
    if (segment != s.job.segment) others.push_back(segment);
  }
  EXPECT_TRUE(s.v(s.backfills.ScanBackfills(others, 0, 10)).empty());
}

TYPED_TEST(BackfillContract, ListsNewestFirst) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  s.v(s.backfills.CancelBackfill(s.number, {.now = s.kNow}));
  const Backfill first = s.Read();
  const Backfill second = s.Begin(s.Terms(3, 4));
  EXPECT_EQ(s.v(s.backfills.ListBackfills({})), (std::vector<Backfill>{second, first}));
  EXPECT_EQ(s.v(s.backfills.ListBackfills({.before_number = second.number})),
            std::vector<Backfill>{first});
  EXPECT_EQ(s.v(s.backfills.ListBackfills({.state = BackfillState::kCancelled})),
            std::vector<Backfill>{first});
  EXPECT_EQ(s.v(s.backfills.CountBackfills({.job_id = s.job.job_id})).seen, 2u);
  EXPECT_TRUE(s.v(s.backfills.ListBackfills({.job_id = JobId("other")})).empty());
  EXPECT_CODE(s.backfills.GetBackfill(second.number + 1), ErrorCode::kNotFound);
}

TYPED_TEST(BackfillContract, RefusesTooManyFires) {
  BackfillDriver s = this->backfill_driver();
  s.Make(s.Every(1ms));
  BackfillTerms terms = s.Terms(0, 1);
  EXPECT_CODE(s.backfills.CreateBackfill(terms, {}, {.now = s.kNow}), ErrorCode::kExhausted);
}

TYPED_TEST(BackfillContract, OldOnesAreDeletedAfterTheirEnd) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.Begin(s.Terms(0, 3));
  s.v(s.backfills.CancelBackfill(s.number, {.now = s.kNow}));
  s.v(s.housekeeping.Maintain(s.kNow + 24h, {.runs = 48h}));
  EXPECT_OK(s.backfills.GetBackfill(s.number));
  s.v(s.housekeeping.Maintain(s.kNow + 72h, {.runs = 48h}));
  EXPECT_CODE(s.backfills.GetBackfill(s.number), ErrorCode::kNotFound);
}

}  // namespace carillon::test
