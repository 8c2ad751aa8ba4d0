// Contract of BackfillStore: which fires it runs, and when it ends.
#pragma once

#include "common/domain/run/returns.h"
#include "tests/contract/store/backfill_driver.h"

namespace carillon::test {

template <typename Factory>
class BackfillContract : public StoreContract<Factory> {
 protected:
  BackfillDriver backfill_driver() { return BackfillDriver(this->handle()); }
};
TYPED_TEST_SUITE(BackfillContract, StoreFactories);

TYPED_TEST(BackfillContract, RunsEachFireOfTheRangeAndEnds) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  BackfillTerms terms = s.Terms(1, 4);
  terms.priority = 7;
  terms.parameters_json = R"({"day":"x"})";
  const Backfill made = s.Begin(terms);
  EXPECT_EQ(made.fires, 3);
  EXPECT_EQ(made.state, BackfillState::kRunning);
  EXPECT_EQ(made.actor, "anna");
  const WallTime now = s.kNow + 1s;
  s.ExpectDueAt(now, {1});
  const RunDetail run = s.Get(s.KeyOf(1));
  EXPECT_EQ(run.row.kind, RunKind::kBackfill);
  EXPECT_EQ(run.row.state, RunState::kPending);
  EXPECT_EQ(run.row.due, now);
  EXPECT_EQ(run.row.priority, 7);
  EXPECT_EQ(run.row.flags, kBackfillFlags);
  EXPECT_EQ(run.parameters_json, R"({"day":"x"})");
  EXPECT_EQ(s.v(s.firing.LoadRunRequest(s.KeyOf(1))).parameters_json, R"({"day":"x"})");
  s.ExpectDueAt(now, {});
  s.EndRun(s.KeyOf(1), RunState::kCompleted, now);
  s.ExpectDueAt(now, {2});
  s.EndRun(s.KeyOf(2), RunState::kFailed, now);
  s.ExpectDueAt(now, {3});
  EXPECT_EQ(s.Read().runs, std::vector<RunKey>{s.KeyOf(3)});
  s.ExpectDueAt(now, {});
  EXPECT_EQ(s.Read().state, BackfillState::kRunning);
  s.EndRun(s.KeyOf(3), RunState::kCompleted, now);
  s.ExpectDueAt(now + 1s, {});
  const Backfill ended = s.Read();
  EXPECT_EQ(ended.state, BackfillState::kCompleted);
  EXPECT_EQ(ended.ended, now + 1s);
  EXPECT_EQ(DoneOf(ended.counts), ended.fires);
  s.ExpectCounts({.created = 3, .succeeded = 2, .failed = 1});
  EXPECT_TRUE(s.v(s.backfills.ScanBackfills(s.All(), 0, 10)).empty());
}

TYPED_TEST(BackfillContract, DescendingOrderAndConcurrency) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  BackfillTerms terms = s.Terms(0, 5);
  terms.order = BackfillOrder::kDescending;
  terms.concurrency = 2;
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {4, 3});
  s.EndRun(s.KeyOf(3), RunState::kCompleted, s.kNow);
  s.ExpectDueAt(s.kNow, {2});
  s.EndRun(s.KeyOf(2), RunState::kCompleted, s.kNow);
  s.EndRun(s.KeyOf(4), RunState::kCompleted, s.kNow);
  s.ExpectDueAt(s.kNow, {1, 0});
}

// The day before kT0 is not kept any more from 24 h after kT0 on.
TYPED_TEST(BackfillContract, DoesNotRunFiresOfADayThatIsNotKeptAnyMore) {
  BackfillDriver s = this->backfill_driver();
  s.BeginAcrossMidnight(BackfillOrder::kAscending);
  const WallTime next_day = kT0 + 24h;
  s.ExpectDueAt(next_day - 1us, {-3});
  s.EndRun(s.KeyOf(-3), RunState::kCompleted, next_day - 1us);
  s.ExpectDueAt(next_day, {0});
  s.EndRun(s.KeyOf(0), RunState::kCompleted, next_day);
  s.ExpectDueAt(next_day, {1});
  s.EndRun(s.KeyOf(1), RunState::kCompleted, next_day);
  s.ExpectDueAt(next_day, {});
  EXPECT_EQ(s.Read().state, BackfillState::kCompleted);
  s.ExpectCounts({.created = 3, .existing = 2, .succeeded = 3});
}

TYPED_TEST(BackfillContract, InDescendingOrderItEndsBeforeADayThatIsNotKeptAnyMore) {
  BackfillDriver s = this->backfill_driver();
  s.BeginAcrossMidnight(BackfillOrder::kDescending);
  const WallTime next_day = kT0 + 24h;
  s.ExpectDueAt(next_day - 1us, {1});
  s.EndRun(s.KeyOf(1), RunState::kCompleted, next_day - 1us);
  s.ExpectDueAt(next_day, {0});
  s.EndRun(s.KeyOf(0), RunState::kCompleted, next_day);
  s.ExpectDueAt(next_day, {});
  EXPECT_EQ(s.Read().state, BackfillState::kCompleted);
  s.ExpectCounts({.created = 2, .existing = 3, .succeeded = 2});
}

TYPED_TEST(BackfillContract, DoesNotRunFiresThatAreOlderThanTheJobKeepsItsRuns) {
  BackfillDriver s = this->backfill_driver();
  JobDefinition definition = s.Every(1h);
  definition.retention_days = 1;
  s.Make(definition);
  BackfillTerms terms = s.Terms(0, 5);
  terms.concurrency = 2;
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {0, 1});
  s.EndRun(s.KeyOf(0), RunState::kCompleted, s.kNow);
  s.ExpectDueAt(s.Fire(3) + 24h + 1us, {4});
  s.ExpectCounts({.created = 3, .existing = 2, .succeeded = 1});
}

TYPED_TEST(BackfillContract, KeepsRunsThatAreThere) {
  BackfillDriver s = this->backfill_driver();
  s.MakeWithRuns();
  BackfillTerms terms = s.Terms(0, 5);
  terms.concurrency = 10;
  const BackfillPreview preview = s.v(s.backfills.PreviewBackfill(terms));
  EXPECT_EQ(preview.fires, 5);
  EXPECT_EQ(preview.to_run, 1);
  EXPECT_EQ(preview.existing, 2);
  EXPECT_EQ(preview.refused, 2);
  EXPECT_EQ(preview.first, std::vector<WallTime>{s.Fire(2)});
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {2});
  s.ExpectCounts({.rerun = 1, .existing = 2, .refused = 2});
  const RunDetail again = s.Get(s.KeyOf(2));
  EXPECT_EQ(again.row.attempt, 2) << "no claim from before may start it";
  EXPECT_EQ(TriesOf(again.row), 1);
  EXPECT_EQ(again.row.kind, RunKind::kBackfill);
  EXPECT_EQ(again.result.reason, "");
  EXPECT_TRUE(again.attempts.empty());
}

TYPED_TEST(BackfillContract, RunsFailedRunsAgainIfAsked) {
  BackfillDriver s = this->backfill_driver();
  s.MakeWithRuns();
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u);
  BackfillTerms terms = s.Terms(0, 2);
  terms.rerun = BackfillRerun::kFailed;
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {1});
  s.ExpectCounts({.rerun = 1, .existing = 1});
  const RunDetail again = s.Get(s.KeyOf(1));
  EXPECT_EQ(again.row.attempt, 2);
  ASSERT_EQ(again.attempts.size(), 1u);
  EXPECT_EQ(again.attempts[0].state, RunState::kFailed);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
}

TYPED_TEST(BackfillContract, RepeatedResultOfTheAttemptBeforeDoesNotCompleteTheNewOne) {
  BackfillDriver s = this->backfill_driver();
  s.MakeWithRuns();
  const RunRow before = s.Get(s.KeyOf(0)).row;
  BackfillTerms terms = s.Terms(0, 1);
  terms.rerun = BackfillRerun::kAll;
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {0});
  EXPECT_TRUE(s.Get(s.KeyOf(0)).row.claim_token.empty());
  const RunEffect effect = s.Apply(s.ReportOf(before, RunState::kCompleted), s.fence, s.kNow);
  EXPECT_EQ(effect.verdict, ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.Get(s.KeyOf(0)).row.state, RunState::kPending);
  s.EndRun(s.KeyOf(0), RunState::kCompleted, s.kNow);
  s.ExpectDueAt(s.kNow, {});
  s.ExpectCounts({.rerun = 1, .succeeded = 1});
}

TYPED_TEST(BackfillContract, LeavesTheFiresOfThePlannerAlone) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  BackfillTerms terms = s.Terms(4, 9);  // the next fire is that of hour 6
  terms.concurrency = 10;
  s.Begin(terms);
  s.ExpectDueAt(s.kNow, {4, 5});
  s.ExpectCounts({.created = 2, .existing = 3});
  s.Plan(s.Fire(6), s.fence, s.Fire(6));
  EXPECT_EQ(s.Get(s.KeyOf(6)).row.kind, RunKind::kCron);
}

TYPED_TEST(BackfillContract, RunOfAReplacedScheduleCountsForItsInstant) {
  BackfillDriver s = this->backfill_driver();
  s.MakeWithRuns();
  JobDefinition edited = s.job.definition;
  edited.schedules[0].end = kT0 + 24h;
  s.job = s.Replace(s.job, edited, s.kNow);
  BackfillTerms terms = s.Terms(0, 6);
  terms.concurrency = 10;
  s.Begin(terms);
  // Hour 2 was skipped, hours 0, 1, 3 and 4 have runs, and hour 5 has none.
  const std::vector<RunRow> due = s.Step(s.kNow).due;
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].key.fire.time_since_epoch() + due[1].key.fire.time_since_epoch(),
            s.Fire(2).time_since_epoch() + s.Fire(5).time_since_epoch());
  s.ExpectCounts({.created = 1, .rerun = 1, .existing = 2, .refused = 2});
}

TYPED_TEST(BackfillContract, ManualRunsDoNotCount) {
  BackfillDriver s = this->backfill_driver();
  s.Make();
  s.v(s.runs.ExecuteJob({.job_id = s.job.job_id}, {.now = s.Fire(3)}));
  s.Begin(s.Terms(3, 4));
  s.ExpectDueAt(s.kNow, {3});
}

}  // namespace carillon::test
