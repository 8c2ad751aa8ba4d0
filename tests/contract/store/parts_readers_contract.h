// The contract of what reads runs: the own run of a fire counts for its job, its parts do not.
#pragma once

#include "common/domain/run/run_kind.h"
#include "tests/contract/store/fire_driver.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

template <typename Factory>
class PartsReadersContract : public FireContract<Factory> {
 protected:
  static std::vector<RunKey> Listed(StoreDriver& s, const RunFilter& filter) {
    std::vector<RunKey> keys;
    for (const RunDetail& run : s.v(s.runs.ListRuns(filter, kT0 + 1h)).runs) {
      keys.push_back(run.row.key);
    }
    EXPECT_EQ(s.v(s.runs.CountRuns(filter, kT0 + 1h)).seen, keys.size());
    return keys;
  }
};
TYPED_TEST_SUITE(PartsReadersContract, StoreFactories);

TYPED_TEST(PartsReadersContract, ListsShowPartsToThoseWhoAsk) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  this->EndPart(s, own, 0, RunState::kFailed, fence, kT0 + 1s);
  this->StartPart(s, own, 1, fence, kT0 + 1s);
  const std::vector<RunKey> fire = {own.key};
  const std::vector<RunKey> all = {this->KeyOf(own, 1), this->KeyOf(own, 0), own.key};
  EXPECT_EQ(this->Listed(s, {}), fire);
  EXPECT_EQ(this->Listed(s, {.parts = true}), all);
  EXPECT_EQ(this->Listed(s, {.job_id = job.job_id}), fire);
  EXPECT_EQ(this->Listed(s, {.job_id = job.job_id, .parts = true}), all);
  EXPECT_TRUE(this->Listed(s, {.states = {RunState::kFailed}}).empty());
  EXPECT_EQ(this->Listed(s, {.states = {RunState::kFailed}, .parts = true}).size(), 1u);
  EXPECT_EQ(this->Listed(s, {.states = {RunState::kRunning}}), fire);
  EXPECT_EQ(this->Listed(s, {.executor = ExecutorId("e1"), .parts = true}).size(), 2u);
  const auto recent =
      s.v(s.runs.ListRecentRuns({.job_ids = {job.job_id}, .runs_max = 9, .until = kT0 + 1h}));
  ASSERT_EQ(recent.size(), 1u);
  ASSERT_EQ(recent[0].runs.size(), 1u);
  EXPECT_EQ(recent[0].runs[0].key, own.key);
  const RunCounts open = s.v(s.runs.CountOpenRuns());
  EXPECT_EQ(open.pending, 0);
  EXPECT_EQ(open.running, 1);
  // Beyond the end of a page, parts do not hide the fires before them.
  this->BeginNow(s, job, fence, kT0 + 2s);
  EXPECT_EQ(this->Listed(s, {.limit = 2}).size(), 2u);
}

TYPED_TEST(PartsReadersContract, APartIsShownWithItsFire) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2));
  const RunRow own = this->BeginNow(s, job, fence, kT0);
  const RunRow plain = s.Execute(s.Create("b", s.Manual()), kT0);
  this->EndPart(s, own, 1, RunState::kFailed, fence, kT0 + 1s);
  const std::vector<RunPart> parts = s.v(s.runs.ListParts(own.key));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], (RunPart{.key = this->KeyOf(own, 0), .due = kT0}));
  EXPECT_EQ(parts[1], (RunPart{.key = this->KeyOf(own, 1),
                               .state = RunState::kFailed,
                               .reason = std::string(reason::kExitCode),
                               .executor = ExecutorId("e1"),
                               .due = kT0,
                               .claimed = kT0 + 1s,
                               .started = kT0 + 1s,
                               .ended = kT0 + 1s}));
  const std::map<RunKey, PartCounts> counts = s.v(s.runs.CountParts({own.key, plain.key}));
  EXPECT_EQ(
      counts,
      (std::map<RunKey, PartCounts>{{own.key, {{RunState::kPending, 1}, {RunState::kFailed, 1}}}}));
  EXPECT_TRUE(s.v(s.runs.CountParts({})).empty());
  EXPECT_TRUE(s.v(s.runs.ListParts(plain.key)).empty());
  EXPECT_CODE(s.runs.ListParts({kT0, ScheduleId(424'242), 0}), ErrorCode::kNotFound);
}

TYPED_TEST(PartsReadersContract, AFireFailsOnce) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow own = this->BeginNow(s, s.Create("a", this->Sharded(s.Manual(), 3)), fence, kT0);
  for (const uint32_t index : {0u, 1u, 2u}) {
    this->EndPart(s, own, index, RunState::kFailed, fence, kT0 + 1s);
  }
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  EXPECT_TRUE(s.v(s.notices.ScanNotices(s.All(), 100)).empty());
  this->Look(s, own, fence, kT0 + 2s);
  const auto letters = s.v(s.runs.ListDeadLetters({}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, own.key);
  EXPECT_EQ(s.v(s.notices.ScanNotices(s.All(), 100)).size(), 1u);
}

TYPED_TEST(PartsReadersContract, TheSuccessOfAPartIsNoRecovery) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const RunRow own = this->BeginNow(s, s.Create("a", this->Sharded(s.Manual(), 2)), fence, kT0);
  this->EndPart(s, own, 0, RunState::kCompleted, fence, kT0 + 1s);
  this->EndPart(s, own, 1, RunState::kFailed, fence, kT0 + 1s);
  this->Look(s, own, fence, kT0 + 2s);
  for (const OpenNotice& open : s.v(s.notices.ScanNotices(s.All(), 100))) {
    ASSERT_OK(s.notices.DecideNotices({{.notice = open.notice, .verdict = NoticeVerdict::kTell}},
                                      fence, kT0 + 3s));
  }
  const auto found = [&] {
    return s.v(s.notices.ScanRecoveries(s.All(), std::nullopt, kT0 + 24h, 10)).recoveries.size();
  };
  EXPECT_EQ(found(), 0u);
  EXPECT_OK(s.runs.RetryRun({.key = own.key}, {.now = kT0 + 1h}));
  this->EndPart(s, own, 1, RunState::kCompleted, fence, kT0 + 1h);
  this->Look(s, own, fence, kT0 + 2h);
  EXPECT_EQ(found(), 1u);
}

TYPED_TEST(PartsReadersContract, ABackfillFindsTheFire) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const JobDefinition sharded = this->Sharded(s.Every(1h), 2);
  const StoredJob job = s.Create("a", sharded);
  s.Plan(kT0 + 1h, fence);
  const RunRow own = this->Begin(s, s.OnlyPending(kT0 + 1h), sharded, fence, kT0 + 1h);
  for (const uint32_t index : {0u, 1u}) {
    this->EndPart(s, own, index, RunState::kFailed, fence, kT0 + 1h);
  }
  this->Look(s, own, fence, kT0 + 1h);
  const BackfillTerms terms{.job_id = job.job_id,
                            .schedule_id = job.schedules.at(0).schedule_id,
                            .from = kT0 + 1h,
                            .to = kT0 + 2h,
                            .rerun = BackfillRerun::kFailed};
  EXPECT_EQ(s.v(s.backfills.PreviewBackfill(terms)).to_run, 1);
  const Backfill made = s.v(s.backfills.CreateBackfill(terms, {}, {.now = kT0 + 90min}));
  const BackfillEffect effect = s.v(s.backfills.StepBackfill({made.number, job.job_no, job.segment},
                                                             fence, kT0 + 90min, 14 * 24h));
  ASSERT_EQ(effect.due.size(), 1u);
  EXPECT_EQ(effect.due[0].key, own.key);
  const RunRow again = this->Begin(s, effect.due[0], sharded, fence, kT0 + 90min);
  EXPECT_EQ(this->States(s, again), std::vector<RunState>(2, RunState::kPending));
  EXPECT_EQ(this->Part(s, again, 0).attempt, 2);
  // It gives way to others, and reads the parameters of the backfill.
  const RunRow part = this->Part(s, again, 0);
  EXPECT_TRUE(IsBackground(part.flags));
  EXPECT_TRUE(HasRequest(part.kind, part.flags));
}

TYPED_TEST(PartsReadersContract, RunsByHandInOneMicrosecondHaveFiresOfTheirOwn) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  const StoredJob job = s.Create("a", this->Sharded(s.Manual(), 2));
  this->BeginNow(s, job, fence, kT0);
  EXPECT_EQ(s.Execute(job, kT0).key.fire, kT0 + 1us);
  EXPECT_EQ(s.Execute(job, kT0).key.fire, kT0 + 2us);
}

TYPED_TEST(PartsReadersContract, PartsGoWithTheirFire) {
  StoreDriver s = this->driver();
  const Fence fence = s.Take();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  JobDefinition sharded = this->Sharded(s.Manual(), 2);
  const StoredJob kept = s.Create("kept", sharded);
  sharded.retention_days = 1;
  const StoredJob job = s.Create("a", sharded);
  const auto finished = [&](const StoredJob& of) {
    const RunRow own = this->BeginNow(s, of, fence, kT0 + 1h);
    this->EndPart(s, own, 0, RunState::kCompleted, fence, kT0 + 1h);
    this->EndPart(s, own, 1, RunState::kFailed, fence, kT0 + 1h);
    return this->Look(s, own, fence, kT0 + 1h);
  };
  const RunRow gone = finished(job);
  const RunRow last = finished(kept);
  const auto maintain = [&](WallTime now) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_OK(s.housekeeping.Maintain(now, {.runs = 14 * 24h, .keep_last = 2}));
    }
  };
  maintain(kT0 + 2 * 24h);
  EXPECT_CODE(s.runs.GetRun(gone.key), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(this->KeyOf(gone, 0)), ErrorCode::kNotFound);
  EXPECT_EQ(this->States(s, last).size(), 2u);
  // Own runs alone outlive their day.
  maintain(kT0 + 30 * 24h);
  EXPECT_TRUE(s.Get(last.key).kept);
  EXPECT_CODE(s.runs.GetRun(this->KeyOf(last, 0)), ErrorCode::kNotFound);
  EXPECT_TRUE(s.v(s.runs.ListParts(last.key)).empty());
  EXPECT_CODE(s.runs.RetryRun({.key = last.key}, {.now = kT0 + 30 * 24h}), ErrorCode::kConflict);
}

// A node of a workflow may be a fire.
TYPED_TEST(PartsReadersContract, AFireOfANodeIsOneNode) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 2);
  s.Create("a", sharded);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0);
  this->EndPart(s, own, 0, RunState::kCompleted, s.fence, kT0 + 1s);
  EXPECT_EQ(s.States(key), "a RUNNING, b blocked");
  // It is retried by its workflow.
  EXPECT_CODE(s.runs.RetryRun({.key = own.key, .parts = PartChoice{}}, {.now = kT0 + 2s}),
              ErrorCode::kConflict);
  EXPECT_CODE(s.runs.RetryRun({.key = this->KeyOf(own, 0)}, {.now = kT0 + 2s}),
              ErrorCode::kConflict);
  this->EndPart(s, own, 1, RunState::kFailed, s.fence, kT0 + 2s);
  this->Look(s, own, s.fence, kT0 + 3s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(key), "a FAILED, b SKIPPED upstream_failed");
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s}));
  s.ExpectBegin(key, kT0 + 4s);
  s.Steps(kT0 + 4s);
  const RunRow again = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0 + 5s);
  EXPECT_EQ(this->States(s, again), std::vector<RunState>(2, RunState::kPending)) << "all parts";
  // A cancel of the workflow reaches the parts before the call returns.
  EXPECT_TRUE(s.v(s.runs.CancelRun(key, {.now = kT0 + 6s})));
  EXPECT_EQ(this->States(s, again), std::vector<RunState>(2, RunState::kCancelled));
  EXPECT_EQ(this->Look(s, again, s.fence, kT0 + 7s).state, RunState::kCancelled);
  s.Steps(kT0 + 7s);
  EXPECT_EQ(s.StateOf(key), RunState::kCancelled);
}

// The deadline of a workflow stops its nodes by the same way.
TYPED_TEST(PartsReadersContract, ADeadlineOfAWorkflowStopsParts) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 2);
  s.Create("a", sharded);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0);
  const RunRow running = this->StartPart(s, own, 0, s.fence, kT0);
  s.Rotate(kT0 + 2h);
  EXPECT_TRUE(s.Get(own.key).row.cancel_requested);
  EXPECT_TRUE(this->Part(s, own, 0).cancel_requested);
  EXPECT_EQ(this->Part(s, own, 1).state, RunState::kCancelled);
  s.Apply(s.ReportOf(running, RunState::kCancelled), s.fence, kT0 + 2h);
  this->Look(s, own, s.fence, kT0 + 2h);
  s.Steps(kT0 + 2h);
  EXPECT_EQ(s.StateOf(key), RunState::kTimedOut);
}

}  // namespace carillon::test
