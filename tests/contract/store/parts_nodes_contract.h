// The contract of fires in parts that are nodes of workflows, or runs of backfills: whoever waits
// for them waits for the own run, and begins, retries and cancels it with all of its parts.
#pragma once

#include "common/domain/parts/run_part.h"
#include "common/domain/run/run_kind.h"
#include "tests/contract/store/backfill_driver.h"
#include "tests/contract/store/fire_driver.h"
#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

template <typename Factory>
class PartsNodesContract : public FireContract<Factory> {
 protected:
  // Part 0 has succeeded. The attempt of part 1 was given up, and its process may live.
  static RunRow GivenUp(StoreDriver& s, const RunRow& own, const Fence& fence, WallTime now) {
    TestOf::EndPart(s, own, 0, RunState::kCompleted, fence, now);
    const RunRow lost = TestOf::StartPart(s, own, 1, fence, now);
    s.Lose(lost, fence, now + 1min);
    const RunRow ended = TestOf::Look(s, own, fence, now + 1min);
    EXPECT_EQ(ended.state, RunState::kFailed);
    EXPECT_TRUE(ended.may_still_run);
    return lost;
  }
  static void ReportLate(StoreDriver& s, const RunRow& lost, const Fence& fence, WallTime now) {
    EXPECT_EQ(s.Apply(s.ReportOf(lost, RunState::kFailed), fence, now).verdict,
              ResultVerdict::kRecordedOnly);
  }
  static void EndAll(StoreDriver& s, const RunRow& own, const Fence& fence, WallTime now,
                     RunState last = RunState::kCompleted) {
    const size_t count = TestOf::States(s, own).size();
    for (uint32_t index = 0; index < count; ++index) {
      TestOf::EndPart(s, own, index, index + 1 == count ? last : RunState::kCompleted, fence, now);
    }
    TestOf::Look(s, own, fence, now);
  }

 private:
  using TestOf = FireContract<Factory>;
};
TYPED_TEST_SUITE(PartsNodesContract, StoreFactories);

// ---- nodes -------------------------------------------------------------------------------------

TYPED_TEST(PartsNodesContract, AWorkflowWaitsForTheFireAndNotForItsParts) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 3);
  s.Create("a", sharded);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0);
  for (const uint32_t index : {0u, 1u, 2u}) {
    this->EndPart(s, own, index, RunState::kCompleted, s.fence, kT0 + 1s);
    EXPECT_TRUE(s.WakeUps().empty()) << index;
    s.Rotate(kT0 + 1s);
    EXPECT_EQ(s.States(key), "a RUNNING, b blocked");
  }
  this->Look(s, own, s.fence, kT0 + 2s);
  EXPECT_EQ(s.WakeUps().size(), 1u);
  s.Steps(kT0 + 2s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
  EXPECT_EQ(s.View(key).nodes.size(), 2u);
  s.Finish(key, "b", kT0 + 3s);
  EXPECT_EQ(s.StateOf(key), RunState::kCompleted);
}

TYPED_TEST(PartsNodesContract, ARetryOfTheWorkflowRunsAllPartsAgain) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 3);
  const StoredJob job = s.Create("a", sharded);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0);
  this->EndPart(s, own, 0, RunState::kCompleted, s.fence, kT0 + 1s);
  this->EndPart(s, own, 1, RunState::kFailed, s.fence, kT0 + 1s);
  s.Lose(this->StartPart(s, own, 2, s.fence, kT0 + 1s), s.fence, kT0 + 1min);
  this->Look(s, own, s.fence, kT0 + 1min);
  s.Steps(kT0 + 1min);
  EXPECT_EQ(s.States(key), "a FAILED, b SKIPPED upstream_failed");

  // Their number is that of now.
  const JobDefinition more = this->Sharded(s.Manual(), 5);
  s.Replace(job, more, kT0 + 2min);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 3min}));
  s.ExpectBegin(key, kT0 + 3min);
  s.Steps(kT0 + 3min);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  const RunRow again = this->Begin(s, s.RowOf(key, "a"), more, s.fence, kT0 + 3min);
  EXPECT_EQ(again.key, own.key);
  EXPECT_EQ(again.shard_total, 5u);
  EXPECT_EQ(this->States(s, again), std::vector<RunState>(5, RunState::kPending));
  const std::vector<RunState> before = {RunState::kCompleted, RunState::kFailed, RunState::kLost};
  for (const uint32_t index : {0u, 1u, 2u}) {
    const RunDetail part = s.Get(this->KeyOf(again, index));
    EXPECT_EQ(part.row.attempt, 2);
    EXPECT_EQ(part.row.def_version, again.def_version);
    ASSERT_EQ(part.attempts.size(), 1u) << index;
    EXPECT_EQ(part.attempts[0].attempt, 1);
    EXPECT_EQ(part.attempts[0].state, before[index]);
    EXPECT_EQ(part.attempts[0].executor, ExecutorId("e1"));
    EXPECT_EQ(part.attempts[0].claimed, kT0 + 1s);
  }
  EXPECT_EQ(s.Get(this->KeyOf(again, 1)).attempts[0].result.exit_code, 3);
  this->EndAll(s, again, s.fence, kT0 + 4min);
  s.Steps(kT0 + 4min);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
}

// Each node records its attempts as of the retry, whatever it is.
TYPED_TEST(PartsNodesContract, ARetryRecordsTheAttemptsOfAllNodes) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 2);
  s.Create("a", sharded);
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b")})), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0);
  this->EndAll(s, own, s.fence, kT0 + 1s, RunState::kTimedOut);
  s.Lose(s.StartNode(key, "b", kT0 + 2s), s.fence, kT0 + 1min);
  s.Steps(kT0 + 1min);
  EXPECT_EQ(s.States(key), "a TIMED_OUT, b LOST");
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 2min}));
  const RunDetail fire = s.Get(own.key);
  ASSERT_EQ(fire.attempts.size(), 1u);
  EXPECT_EQ(fire.attempts[0].state, RunState::kTimedOut);
  EXPECT_EQ(fire.attempts[0].executor, ExecutorId());
  EXPECT_EQ(fire.attempts[0].result.reason, reason::kShardFailed);
  const RunDetail node = s.Get(s.RowOf(key, "b").key);
  ASSERT_EQ(node.attempts.size(), 1u);
  EXPECT_EQ(node.attempts[0].state, RunState::kLost);
  EXPECT_EQ(node.attempts[0].executor, ExecutorId("e1"));
}

TYPED_TEST(PartsNodesContract, ANodeWhoseJobLostItsShardsRunsAtAnExecutor) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 2);
  const StoredJob job = s.Create("a", sharded);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, kT0);
  EXPECT_TRUE(IsInParts(own));
  this->EndAll(s, own, s.fence, kT0 + 1s, RunState::kFailed);
  s.Steps(kT0 + 1s);
  s.Replace(job, s.Manual(), kT0 + 2s);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}));
  s.ExpectBegin(key, kT0 + 3s);
  s.Steps(kT0 + 3s);
  const RunRow running = s.StartNode(key, "a", kT0 + 4s);
  EXPECT_EQ(running.key, own.key);
  EXPECT_FALSE(IsInParts(running));
  // The parts of the attempt before say nothing about this one.
  EXPECT_EQ(this->Look(s, running, s.fence, kT0 + 5s).state, RunState::kRunning);
  s.EndRun(running, RunState::kCompleted, kT0 + 6s);
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
  EXPECT_EQ(this->States(s, own), (std::vector<RunState>{RunState::kCompleted, RunState::kFailed}));
}

TYPED_TEST(PartsNodesContract, AReportedEndOfAPartAsksNobodyToConfirm) {
  WorkflowDriver s(this->handle());
  JobDefinition careful = this->Sharded(s.Manual(), 2);
  careful.on_lost = OnLost::kFail;
  s.Create("a", careful);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), careful, s.fence, kT0);
  const RunRow lost = this->GivenUp(s, own, s.fence, kT0);
  s.Steps(kT0 + 2min);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 3min}), ErrorCode::kConflict);
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 3min}),
              ErrorCode::kConflict);
  this->ReportLate(s, lost, s.fence, kT0 + 4min);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 5min}));
  s.ExpectBegin(key, kT0 + 5min);
  s.Steps(kT0 + 5min);
  const RunRow again = this->Begin(s, s.RowOf(key, "a"), careful, s.fence, kT0 + 5min);
  EXPECT_EQ(this->States(s, again), std::vector<RunState>(2, RunState::kPending));
}

// ---- backfills ---------------------------------------------------------------------------------

TYPED_TEST(PartsNodesContract, ABackfillCountsFires) {
  BackfillDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Every(1h), 3);
  s.Make(sharded);
  s.Begin(s.Terms(0, 2));
  const BackfillEffect first = s.Step(s.kNow);
  ASSERT_EQ(first.due.size(), 1u);
  EXPECT_EQ(first.created, 1u);
  const RunRow own = this->Begin(s, first.due[0], sharded, s.fence, s.kNow);
  EXPECT_TRUE(IsBackground(this->Part(s, own, 0).flags));
  // Its parts take no place of other fires, and give none free.
  this->EndPart(s, own, 0, RunState::kCompleted, s.fence, s.kNow);
  const BackfillEffect none = s.Step(s.kNow);
  EXPECT_TRUE(none.due.empty());
  EXPECT_EQ(none.open, std::vector<RunKey>{own.key});
  this->EndPart(s, own, 1, RunState::kCompleted, s.fence, s.kNow);
  this->EndPart(s, own, 2, RunState::kCompleted, s.fence, s.kNow);
  this->Look(s, own, s.fence, s.kNow);
  const BackfillEffect second = s.Step(s.kNow);
  ASSERT_EQ(second.due.size(), 1u);
  EXPECT_EQ(second.due[0].key, s.KeyOf(1));
  const RunRow next = this->Begin(s, second.due[0], sharded, s.fence, s.kNow);
  this->EndAll(s, next, s.fence, s.kNow, RunState::kFailed);
  s.Step(s.kNow);
  s.ExpectCounts({.created = 2, .succeeded = 1, .failed = 1});
  EXPECT_TRUE(HasEnded(s.Read()));
}

TYPED_TEST(PartsNodesContract, ABackfillThatRunsAFireAgainRunsAllItsParts) {
  BackfillDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Every(1h), 2);
  s.Make(sharded);
  s.Begin(s.Terms(0, 1));
  const RunRow own = this->Begin(s, s.Step(s.kNow).due.at(0), sharded, s.fence, s.kNow);
  this->EndAll(s, own, s.fence, s.kNow, RunState::kFailed);
  s.Step(s.kNow);
  BackfillTerms terms = s.Terms(0, 1);
  terms.rerun = BackfillRerun::kFailed;
  s.Begin(terms);
  const BackfillEffect effect = s.Step(s.kNow + 1h);
  ASSERT_EQ(effect.due.size(), 1u);
  s.ExpectCounts({.rerun = 1});
  const RunRow again = this->Begin(s, effect.due[0], sharded, s.fence, s.kNow + 1h);
  const RunDetail fire = s.Get(again.key);
  ASSERT_EQ(fire.attempts.size(), 1u);
  EXPECT_EQ(fire.attempts[0].state, RunState::kFailed);
  EXPECT_EQ(fire.attempts[0].result.reason, reason::kShardFailed);
  for (const uint32_t index : {0u, 1u}) {
    EXPECT_EQ(this->Part(s, again, index).attempt, 2);
    EXPECT_EQ(s.Get(this->KeyOf(again, index)).attempts.size(), 1u);
  }
  this->EndAll(s, again, s.fence, s.kNow + 1h);
  s.Step(s.kNow + 1h);
  s.ExpectCounts({.rerun = 1, .succeeded = 1});
}

TYPED_TEST(PartsNodesContract, ABackfillThatRunsAFireAgainTakesTheShardsOfNow) {
  BackfillDriver s(this->handle());
  const JobDefinition three = this->Sharded(s.Every(1h), 3);
  s.Make(three);
  s.Begin(s.Terms(0, 1));
  const RunRow own = this->Begin(s, s.Step(s.kNow).due.at(0), three, s.fence, s.kNow);
  this->EndAll(s, own, s.fence, s.kNow);
  s.Step(s.kNow);
  const JobDefinition two = this->Sharded(s.Every(1h), 2);
  s.job = s.Replace(s.job, two, s.kNow + 1min);
  BackfillTerms terms = s.Terms(0, 1);
  terms.rerun = BackfillRerun::kAll;
  s.Begin(terms);
  const BackfillEffect effect = s.Step(s.kNow + 1h);
  ASSERT_EQ(effect.due.size(), 1u);
  const RunRow again = this->Begin(s, effect.due[0], two, s.fence, s.kNow + 1h);
  EXPECT_EQ(again.key, own.key);
  EXPECT_EQ(again.shard_total, 2u);
  EXPECT_EQ(this->States(s, again), std::vector<RunState>(2, RunState::kPending));
  this->EndAll(s, again, s.fence, s.kNow + 1h);
  s.Step(s.kNow + 1h);
  s.ExpectCounts({.rerun = 1, .succeeded = 1});
}

TYPED_TEST(PartsNodesContract, ABackfillThatRunsAFireAgainRendersItsTotal) {
  BackfillDriver s(this->handle());
  JobDefinition sharded = this->Sharded(s.Every(1h), 1);
  sharded.shards->total_from = "{{params.n}}";
  s.Make(sharded);
  const auto begin = [&](const RunRow& own, size_t total, WallTime now) {
    const PartsRequest request{this->ToBegin(own, sharded), FixedPlaces(total)};
    EXPECT_EQ(s.v(s.workflows.BeginParts(request, s.fence, now)).verdict, ClaimVerdict::kAccepted);
    const RunRow begun = s.Get(own.key).row;
    EXPECT_TRUE(IsInParts(begun));
    EXPECT_EQ(begun.shard_total, total);
    EXPECT_EQ(this->States(s, begun), std::vector<RunState>(total, RunState::kPending));
    return begun;
  };
  s.Begin(s.Terms(0, 1));
  const RunRow own = begin(s.Step(s.kNow).due.at(0), 3, s.kNow);
  this->EndAll(s, own, s.fence, s.kNow, RunState::kFailed);
  s.Step(s.kNow);
  BackfillTerms terms = s.Terms(0, 1);
  terms.rerun = BackfillRerun::kFailed;
  s.Begin(terms);
  const BackfillEffect effect = s.Step(s.kNow + 1h);
  ASSERT_EQ(effect.due.size(), 1u);
  const RunRow again = begin(effect.due[0], 5, s.kNow + 1h);
  EXPECT_EQ(again.key, own.key);
  this->EndAll(s, again, s.fence, s.kNow + 1h);
  s.Step(s.kNow + 1h);
  s.ExpectCounts({.rerun = 1, .succeeded = 1});
}

TYPED_TEST(PartsNodesContract, ACancelOfABackfillEndsWithTheLastPart) {
  BackfillDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Every(1h), 2);
  s.Make(sharded);
  s.Begin(s.Terms(0, 3));
  const RunRow own = this->Begin(s, s.Step(s.kNow).due.at(0), sharded, s.fence, s.kNow);
  const RunRow running = this->StartPart(s, own, 0, s.fence, s.kNow);
  s.v(s.backfills.CancelBackfill(s.number, {.now = s.kNow}));
  EXPECT_EQ(this->Part(s, own, 0).cancel_requested, CancelMode::kGraceful);
  EXPECT_EQ(this->Part(s, own, 1).state, RunState::kCancelled);
  s.Step(s.kNow);
  EXPECT_FALSE(HasEnded(s.Read())) << "a part runs";
  s.Apply(s.ReportOf(running, RunState::kCancelled), s.fence, s.kNow);
  EXPECT_EQ(this->Look(s, own, s.fence, s.kNow).state, RunState::kCancelled);
  EXPECT_TRUE(s.Step(s.kNow).due.empty());
  EXPECT_TRUE(HasEnded(s.Read()));
  s.ExpectCounts({.created = 1, .failed = 1});
}

TYPED_TEST(PartsNodesContract, ACancelOfABackfillReachesThePartsOfNodes) {
  WorkflowDriver s(this->handle());
  const JobDefinition sharded = this->Sharded(s.Manual(), 2);
  s.Create("a", sharded);
  JobDefinition flow = s.Chain();
  flow.schedules = s.Every(1h).schedules;
  const WallTime now = kT0 + 5h;
  s.Create("b", s.Manual());
  const StoredJob job = s.Create("flow", flow, now);
  const Backfill made =
      s.v(s.backfills.CreateBackfill({.job_id = job.job_id,
                                      .schedule_id = job.schedules.at(0).schedule_id,
                                      .from = kT0 + 1h,
                                      .to = kT0 + 2h},
                                     {}, {.now = now}));
  const OpenBackfill open{made.number, job.job_no, job.segment};
  const BackfillEffect effect = s.v(s.backfills.StepBackfill(open, s.fence, now, 14 * 24h));
  ASSERT_EQ(effect.due.size(), 1u);
  const RunKey key = effect.due[0].key;
  s.ExpectBegin(key, now);
  s.Steps(now);
  const RunRow own = this->Begin(s, s.RowOf(key, "a"), sharded, s.fence, now);
  EXPECT_TRUE(IsBackground(this->Part(s, own, 0).flags));
  EXPECT_OK(s.backfills.CancelBackfill(made.number, {.now = now}));
  s.Rotate(now);
  EXPECT_EQ(this->States(s, own), std::vector<RunState>(2, RunState::kCancelled));
  EXPECT_EQ(this->Look(s, own, s.fence, now).state, RunState::kCancelled);
  s.Steps(now);
  EXPECT_EQ(s.StateOf(key), RunState::kCancelled);
  EXPECT_TRUE(s.v(s.backfills.StepBackfill(open, s.fence, now, 14 * 24h)).open.empty());
}

// Of a fire in parts, and of one without: its end is known once the process has reported it.
TYPED_TEST(PartsNodesContract, ABackfillRunsAgainWhatHasReportedItsEnd) {
  BackfillDriver s(this->handle());
  JobDefinition careful = this->Sharded(s.Every(1h), 2);
  careful.on_lost = OnLost::kFail;
  s.Make(careful);
  s.Begin(s.Terms(0, 1));
  const RunRow own = this->Begin(s, s.Step(s.kNow).due.at(0), careful, s.fence, s.kNow);
  const RunRow lost = this->GivenUp(s, own, s.fence, s.kNow);
  s.Step(s.kNow + 1h);
  BackfillTerms terms = s.Terms(0, 1);
  terms.rerun = BackfillRerun::kFailed;
  EXPECT_EQ(s.v(s.backfills.PreviewBackfill(terms)).refused, 1);
  this->ReportLate(s, lost, s.fence, s.kNow + 1h);
  EXPECT_EQ(s.v(s.backfills.PreviewBackfill(terms)).to_run, 1);
  s.Begin(terms);
  EXPECT_EQ(s.Step(s.kNow + 2h).due.size(), 1u);
  s.ExpectCounts({.rerun = 1});
}

TYPED_TEST(PartsNodesContract, ABackfillRunsAPlainRunAgainThatHasReportedItsEnd) {
  BackfillDriver s(this->handle());
  JobDefinition careful = s.Every(1h);
  careful.on_lost = OnLost::kFail;
  s.Make(careful);
  s.Begin(s.Terms(0, 1));
  s.ExpectDueAt(s.kNow, {0});
  const RunRow lost = s.StartRun(s.KeyOf(0), s.kNow);
  s.Lose(lost, s.fence, s.kNow + 1min);
  s.Step(s.kNow + 1h);
  BackfillTerms terms = s.Terms(0, 1);
  terms.rerun = BackfillRerun::kFailed;
  EXPECT_EQ(s.v(s.backfills.PreviewBackfill(terms)).refused, 1);
  this->ReportLate(s, lost, s.fence, s.kNow + 1h);
  EXPECT_EQ(s.v(s.backfills.PreviewBackfill(terms)).to_run, 1);
  s.Begin(terms);
  s.ExpectDueAt(s.kNow + 2h, {0});
  s.ExpectCounts({.rerun = 1});
}

}  // namespace carillon::test
