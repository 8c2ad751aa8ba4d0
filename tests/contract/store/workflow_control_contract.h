// The contract of what people do to workflow runs: cancels, retries and skips of nodes.
#pragma once

#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

// ---- cancel -------------------------------------------------------------------------------------

TYPED_TEST(WorkflowContract, CancelBeforeTheBeginIsThatOfAnyRun) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Execute(s.CreateFlow(s.Chain()), kT0).key;
  EXPECT_TRUE(s.v(s.runs.CancelRun(key, {.now = kT0 + 1s})));
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
  EXPECT_EQ(s.Begin(key, kT0 + 2s).reason, ClaimReason::kNotPending);
  EXPECT_TRUE(s.WakeUps().empty());
}

TYPED_TEST(WorkflowContract, NoNodeIsClaimedAfterACancel) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow =
      s.CreateFlow(s.Flow({s.Node("a"), s.Node("b"), s.Node("c", {{.node = "a"}})}));
  const RunKey key = s.Begun(flow, kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  const RunRow b = s.RowOf(key, "b");
  EXPECT_TRUE(
      s.v(s.runs.CancelRun(key, {.now = kT0 + 2s, .actor = "anna", .reason = "wrong day"})));
  EXPECT_EQ(s.States(key), "a RUNNING, b CANCELLED, c CANCELLED");
  EXPECT_EQ(s.RowOf(key, "a").cancel_requested, CancelMode::kGraceful);
  EXPECT_EQ(s.Get(key).row.cancel_requested, CancelMode::kGraceful);
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  EXPECT_EQ(s.Claim(s.ClaimOf(b, 900), s.fence, kT0 + 3s).verdict, ClaimVerdict::kRefused);
  EXPECT_FALSE(s.Steps(kT0 + 3s).ended.has_value());
  s.EndRun(a, RunState::kCancelled, kT0 + 4s);
  EXPECT_EQ(s.Steps(kT0 + 5s).ended, RunState::kCancelled);
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
  EXPECT_EQ(s.Get(key).result.error, "cancelled by anna: wrong day");
  EXPECT_FALSE(s.Get(key).row.cancel_requested.has_value());
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  EXPECT_FALSE(s.v(s.runs.CancelRun(key, {.now = kT0 + 6s})));
}

TYPED_TEST(WorkflowContract, CancelOfAllNodesEndsTheRunWithTheNextStep) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 1s, .actor = "anna"}));
  EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED");
  EXPECT_FALSE(s.WakeUps().empty());
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kCancelled);
  EXPECT_EQ(s.Get(key).result.error, "cancelled by anna");
}

TYPED_TEST(WorkflowContract, KillReplacesAGracefulCancelOfNodes) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a")})), kT0);
  s.StartNode(key, "a", kT0 + 1s);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 2s}));
  EXPECT_FALSE(s.WakeUps().empty());  // although no node has ended
  s.v(s.runs.CancelRun(key, {.now = kT0 + 3s, .cancel_mode = CancelMode::kKill}));
  EXPECT_EQ(s.Get(key).row.cancel_requested, CancelMode::kKill);
  EXPECT_EQ(s.RowOf(key, "a").cancel_requested, CancelMode::kKill);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 4s}));
  EXPECT_EQ(s.RowOf(key, "a").cancel_requested, CancelMode::kKill);
}

TYPED_TEST(WorkflowContract, CancelNeedsNoReadableGraph) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  for (const CancelMode mode : {CancelMode::kGraceful, CancelMode::kKill}) {
    const WallTime begun = mode == CancelMode::kKill ? kT0 + 1h : kT0;
    const RunKey key = s.Begun(flow, begun);
    const RunKey a = s.RowOf(key, "a").key;
    this->handle().DamageDefinition(flow, true);
    EXPECT_TRUE(s.v(s.runs.CancelRun(key, {.now = begun + 1s, .cancel_mode = mode})));
    EXPECT_EQ(s.Get(a).row.state, RunState::kCancelled);
    this->handle().DamageDefinition(flow, false);
    EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED");
    EXPECT_EQ(s.Steps(begun + 2s).ended, RunState::kCancelled);
  }
}

TYPED_TEST(WorkflowContract, CancelOfTheRunsOfAJobCancelsTheNodes) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey first = s.Begun(flow, kT0);
  const RunKey second = s.Begun(flow, kT0 + 1s);
  EXPECT_EQ(s.v(s.runs.CancelJobRuns(flow.job_id, {.now = kT0 + 2s})), 2);
  EXPECT_EQ(s.States(first), "a CANCELLED, b CANCELLED");
  EXPECT_EQ(s.States(second), "a CANCELLED, b CANCELLED");
  s.Steps(kT0 + 3s);
  s.ExpectEnd(first, RunState::kCancelled, reason::kCancelRequested);
  s.ExpectEnd(second, RunState::kCancelled, reason::kCancelRequested);
}

TYPED_TEST(WorkflowContract, CancelOfANodeCountsAsItsFailure) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  EXPECT_TRUE(s.v(s.runs.CancelRun(s.RowOf(key, "a").key, {.now = kT0 + 1s})));
  EXPECT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a CANCELLED, b SKIPPED upstream_failed");
}

TYPED_TEST(WorkflowContract, NewerRunThatReplacesARunningOneCancelsItsNodes) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Chain();
  definition.overlap_policy = OverlapPolicy::kCancelPrevious;
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey first = s.Begun(flow, kT0);
  const RunRow a = s.StartNode(first, "a", kT0 + 1s);
  const RunKey second = s.Execute(flow, kT0 + 2s).key;
  EXPECT_EQ(s.Begin(second, kT0 + 2s).verdict, ClaimVerdict::kEnqueued);
  const QueuedJob queued{flow.job_no, flow.segment};
  EXPECT_EQ(s.v(s.queues.Admit(queued, s.fence, kT0 + 3s)).cancels_requested, 1);
  s.Steps(kT0 + 4s);
  s.Rotate(kT0 + 4s);
  EXPECT_EQ(s.States(first), "a RUNNING, b CANCELLED");
  EXPECT_TRUE(s.RowOf(first, "a").cancel_requested.has_value());
  s.EndRun(a, RunState::kCancelled, kT0 + 5s);
  const StepEffect effect = s.Steps(kT0 + 6s);
  EXPECT_EQ(effect.ended, RunState::kCancelled);
  EXPECT_TRUE(effect.freed_slot);
  EXPECT_EQ(s.KeysOf(s.v(s.queues.Admit(queued, s.fence, kT0 + 7s)).admitted),
            std::vector<RunKey>{second});
  s.ExpectBegin(second, kT0 + 8s);
}

// ---- retry --------------------------------------------------------------------------------------

TYPED_TEST(WorkflowContract, RetryRunsWhatHasFailedAgain) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(
      s.Flow({s.Node("a"), s.Node("b", {{.node = "a"}}), s.Node("c", {{.node = "b"}})}));
  const RunKey key = s.Begun(flow, kT0);
  s.Finish(key, "a", kT0 + 1s);
  const RunRow failed = s.StartNode(key, "b", kT0 + 2s);
  s.EndRun(failed, RunState::kFailed, kT0 + 3s);
  EXPECT_EQ(s.Steps(kT0 + 3s).ended, RunState::kFailed);
  const RetryPlan preview = s.v(s.workflows.PreviewRetry(key, {}));
  EXPECT_EQ(preview.run_again, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(s.StateOf(key), RunState::kFailed);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u);

  const RunDetail retried = s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 10s}));
  EXPECT_EQ(retried.row.key, key);
  EXPECT_EQ(retried.row.state, RunState::kPending);
  EXPECT_EQ(retried.row.attempt, 2);
  EXPECT_EQ(retried.row.due, kT0 + 10s);
  ASSERT_EQ(retried.attempts.size(), 1u);
  EXPECT_EQ(retried.attempts[0].state, RunState::kFailed);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  EXPECT_EQ(s.States(key), "a COMPLETED, b blocked, c blocked");
  EXPECT_EQ(s.View(key).deadline, kNever);
  const RunDetail b = s.Get(s.RowOf(key, "b").key);
  EXPECT_EQ(b.row.attempt, 2);
  EXPECT_EQ(b.row.claim_token, ClaimToken{});
  EXPECT_FALSE(b.result.exit_code.has_value());
  ASSERT_EQ(b.attempts.size(), 1u);
  EXPECT_EQ(b.attempts[0].state, RunState::kFailed);
  EXPECT_EQ(b.attempts[0].result.exit_code, 3);
  EXPECT_EQ(s.RowOf(key, "c").attempt, 1);  // it made none

  // The run begins again with the nodes that it has.
  EXPECT_EQ(s.Rotate(kT0 + 11s).released.size(), 0u);
  const WorkflowRunId run = s.View(key).run;
  s.ExpectBegin(key, kT0 + 12s);
  EXPECT_EQ(s.View(key).run, run);
  EXPECT_EQ(s.View(key).deadline, kT0 + 12s + 3600s);
  s.Steps(kT0 + 12s);
  // A report of the attempt before the retry is only recorded.
  EXPECT_EQ(s.Apply(s.ReportOf(failed, RunState::kCompleted), s.fence, kT0 + 13s).verdict,
            ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING, c blocked");
  s.Finish(key, "b", kT0 + 14s);
  EXPECT_EQ(s.Finish(key, "c", kT0 + 15s).ended, RunState::kCompleted);
  s.ExpectEnd(key, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, LateResultOfASuccessBeforeTheRetryIsOnlyRecorded) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow first = s.StartNode(key, "a", kT0 + 1s);
  s.EndRun(first, RunState::kCompleted, kT0 + 2s, {{"file", "/x"}});
  s.Steps(kT0 + 2s);
  s.Finish(key, "b", kT0 + 3s);
  s.v(s.runs.RetryRun({.key = key, .workflow = {.from = RetryFrom::kStart}}, {.now = kT0 + 4s}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
  EXPECT_TRUE(s.NodeOf(key, "a").row.outputs.empty());
  // The report of the first attempt is repeated: a late success would complete a PENDING run.
  EXPECT_EQ(s.Apply(s.ReportOf(first, RunState::kCompleted), s.fence, kT0 + 5s).verdict,
            ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
  s.ExpectBegin(key, kT0 + 6s);
  s.Steps(kT0 + 6s);
  s.Finish(key, "a", kT0 + 7s);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 8s).ended, RunState::kCompleted);
  EXPECT_EQ(s.Get(key).row.attempt, 2);
}

TYPED_TEST(WorkflowContract, RetryOfARunningWorkflowBlocksNodesAgain) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(
      s.CreateFlow(s.Flow({s.Node("a"), s.Node("slow"), s.Node("b", {{.node = "a"}})})), kT0);
  const RunRow slow = s.StartNode(key, "slow", kT0 + 1s);
  s.Finish(key, "a", kT0 + 2s, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a FAILED, slow RUNNING, b SKIPPED upstream_failed");
  const RunDetail own = s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}));
  EXPECT_EQ(own.row.state, RunState::kRunning);
  EXPECT_EQ(own.row.attempt, 1);
  EXPECT_EQ(s.States(key), "a blocked, slow RUNNING, b blocked");
  EXPECT_EQ(s.WakeUps().size(), 1u);
  s.Steps(kT0 + 4s);
  s.Finish(key, "a", kT0 + 5s);
  s.Finish(key, "b", kT0 + 6s);
  s.EndRun(slow, RunState::kCompleted, kT0 + 7s);
  EXPECT_EQ(s.Steps(kT0 + 7s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, RetryIsRefusedWhileItsNodesAreOpen) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.StartNode(key, "a", kT0 + 1s);
  const WorkflowRetry from_start{.from = RetryFrom::kStart};
  const auto refused = s.runs.RetryRun({.key = key, .workflow = from_start}, {.now = kT0 + 2s});
  EXPECT_CODE(refused, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("running: a"), std::string::npos)
      << refused.error().message;
  EXPECT_CODE(s.workflows.PreviewRetry(key, from_start), ErrorCode::kConflict);
  // Nothing has failed.
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 2s}), ErrorCode::kConflict);
  const WorkflowRetry unknown{.from = RetryFrom::kNodes, .nodes = {"z"}};
  EXPECT_CODE(s.runs.RetryRun({.key = key, .workflow = unknown}, {.now = kT0 + 2s}),
              ErrorCode::kInvalid);
  EXPECT_EQ(s.States(key), "a RUNNING, b blocked");
}

TYPED_TEST(WorkflowContract, RetryIsRefusedWhileTheRunIsCancelled) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b")})), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 2s}));
  s.Steps(kT0 + 2s);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}), ErrorCode::kConflict);
  s.EndRun(a, RunState::kCancelled, kT0 + 4s);
  s.Steps(kT0 + 5s);
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 6s}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
  s.ExpectBegin(key, kT0 + 7s);
  EXPECT_EQ(s.Steps(kT0 + 7s).released.size(), 2u);
}

TYPED_TEST(WorkflowContract, PauseOfTheClusterIsNoPartOfTheTimeout) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Chain();
  definition.timeout_s = 60;
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Begun(flow, kT0);
  const std::map<std::string, std::string> paused = {
      {std::string(kPauseSince), FormatRfc3339(kT0 + 20s)}};
  s.v(s.settings.WriteSettings(0, {.version = 1, .values = paused}));
  s.Rotate(kT0 + 70s);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  s.v(s.settings.WriteSettings(1, {.version = 2}, 60s));
  EXPECT_EQ(s.View(key).deadline, kT0 + 120s);
  s.Rotate(kT0 + 119s);
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  EXPECT_EQ(s.Rotate(kT0 + 120s).ended, RunState::kTimedOut);
}

TYPED_TEST(WorkflowContract, RetryAfterTheDeadlineHasANewOne) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Flow({s.Node("a")});
  definition.timeout_s = 60;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  EXPECT_EQ(s.Rotate(kT0 + 60s).ended, RunState::kTimedOut);
  s.Steps(kT0 + 60s);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 100s}));
  s.ExpectBegin(key, kT0 + 110s);
  s.Steps(kT0 + 110s);
  EXPECT_EQ(s.View(key).deadline, kT0 + 170s);
  EXPECT_EQ(s.Finish(key, "a", kT0 + 120s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, RetryNeedsAWordAboutNodesThatMayStillRun) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition fails = s.Manual();
  fails.on_lost = OnLost::kFail;
  s.Create("a", fails);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow lost = s.StartNode(key, "a", kT0 + 1s);
  s.Lose(lost, s.fence, kT0 + 2s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(key), "a FAILED, b SKIPPED upstream_failed");
  EXPECT_TRUE(s.NodeOf(key, "a").row.may_still_run);
  const auto refused = s.runs.RetryRun({.key = key}, {.now = kT0 + 4s});
  EXPECT_CODE(refused, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("may still run: a"), std::string::npos)
      << refused.error().message;
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 5s, .confirm_overlap = true}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
  EXPECT_EQ(s.Apply(s.ReportOf(lost, RunState::kCompleted), s.fence, kT0 + 6s).verdict,
            ResultVerdict::kRecordedOnly);
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
}

TYPED_TEST(WorkflowContract, HeldNodeThatIsBlockedAgainGivesItsSlotBack) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition held = s.Manual();
  held.on_lost = OnLost::kHold;
  held.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob a = s.Create("a", held);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const auto claim = [&](const RunRow& row, uint64_t token, WallTime now) {
    return s.Claim(s.ClaimOf(row, token, OverlapPolicy::kSkip), s.fence, now).verdict;
  };
  EXPECT_EQ(claim(s.RowOf(key, "a"), 1, kT0 + 1s), ClaimVerdict::kAccepted);
  const RunRow lost = s.RowOf(key, "a");
  s.Lose(lost, s.fence, kT0 + 2s);
  EXPECT_EQ(s.States(key), "a HELD, b blocked");
  const WorkflowRetry from_a{.from = RetryFrom::kNodes, .nodes = {"a"}};
  EXPECT_CODE(s.runs.RetryRun({.key = key, .workflow = from_a}, {.now = kT0 + 3s}),
              ErrorCode::kConflict);
  s.v(s.runs.RetryRun({.key = key, .workflow = from_a},
                      {.now = kT0 + 4s, .confirm_overlap = true}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
  EXPECT_EQ(claim(s.Execute(a, kT0 + 4s), 2, kT0 + 4s), ClaimVerdict::kAccepted);
}

TYPED_TEST(WorkflowContract, RetryOfANodesRunIsOneOfItsWorkflow) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.Finish(key, "a", kT0 + 1s);
  s.Finish(key, "b", kT0 + 2s);
  const RunKey node = s.RowOf(key, "b").key;
  const RunDetail retried = s.v(s.runs.RetryRun({.key = node}, {.now = kT0 + 3s}));
  EXPECT_EQ(retried.row.key, node);
  EXPECT_EQ(retried.row.due, kBlocked);
  EXPECT_EQ(s.States(key), "a COMPLETED, b blocked");
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
}

TYPED_TEST(WorkflowContract, RetryMaySkipNodes) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  const WorkflowRetry retry{.from = RetryFrom::kFailed, .skip = {"a"}};
  s.v(s.runs.RetryRun({.key = key, .workflow = retry}, {.now = kT0 + 2s}));
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, b blocked");
  s.ExpectBegin(key, kT0 + 3s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 4s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, RetryOfAnEndedRunNeedsItsJob) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("a")}));
  const RunKey key = s.Begun(flow, kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  ASSERT_OK(s.jobs.DeleteJob(flow.job_id, flow.version, {.now = kT0 + 2s}));
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}), ErrorCode::kNotFound);
}

TYPED_TEST(WorkflowContract, CancelOfARetriedRunThatWaitsCancelsItsNodes) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 2s}));
  EXPECT_EQ(s.v(s.workflows.ScanOpen(s.All(), 0, 100)).size(), 1u);
  EXPECT_TRUE(s.v(s.runs.CancelRun(key, {.now = kT0 + 3s})));
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
  s.Steps(kT0 + 4s);
  s.Rotate(kT0 + 4s);
  EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED");
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
  EXPECT_TRUE(s.v(s.workflows.ScanOpen(s.All(), 0, 100)).empty());
}

TYPED_TEST(WorkflowContract, PreviewIsOnlyForRunsOfWorkflows) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey plain = s.Execute(s.Create("plain", s.Manual()), kT0).key;
  EXPECT_CODE(s.workflows.PreviewRetry(plain, {}), ErrorCode::kNotFound);
  EXPECT_CODE(s.workflows.GetWorkflowRun(plain), ErrorCode::kNotFound);
  EXPECT_CODE(s.workflows.SkipNode({.key = plain, .node = "a"}, {.now = kT0}),
              ErrorCode::kNotFound);
}

// ---- skip ---------------------------------------------------------------------------------------

TYPED_TEST(WorkflowContract, SkipOfAFailedNodeLetsTheRunGoOn) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(
      s.CreateFlow(s.Flow({s.Node("a"), s.Node("slow"), s.Node("b", {{.node = "a"}})})), kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  const RunKey node = s.RowOf(key, "a").key;
  const WorkflowRunView view =
      s.v(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 2s}));
  EXPECT_EQ(view.nodes[0].row.reason, reason::kSkippedByHand);
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, slow PENDING, b blocked");
  EXPECT_FALSE(s.WakeUps().empty());
  const RunDetail skipped = s.Get(node);
  EXPECT_EQ(skipped.row.attempt, 2);
  ASSERT_EQ(skipped.attempts.size(), 1u);
  EXPECT_EQ(skipped.attempts[0].state, RunState::kFailed);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
  s.Steps(kT0 + 3s);
  s.Finish(key, "slow", kT0 + 4s);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 5s).ended, RunState::kCompleted);
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "b"}, {.now = kT0 + 6s}),
              ErrorCode::kConflict);
}

TYPED_TEST(WorkflowContract, SkipOfABlockedNodeCountsAsItsSuccess) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b", {{.node = "a"}}),
                                                  s.Node("c", {{.node = "b"}})})),
                             kT0);
  s.v(s.workflows.SkipNode({.key = key, .node = "b"}, {.now = kT0 + 1s}));
  EXPECT_EQ(s.KeysOf(s.Steps(kT0 + 2s).released), std::vector<RunKey>{s.RowOf(key, "c").key});
  EXPECT_EQ(s.States(key), "a PENDING, b SKIPPED skipped_by_hand, c PENDING");
  s.StartNode(key, "a", kT0 + 3s);
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 4s}),
              ErrorCode::kConflict);
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "z"}, {.now = kT0 + 4s}),
              ErrorCode::kInvalid);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 5s}));
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "c"}, {.now = kT0 + 6s}),
              ErrorCode::kConflict);
}

TYPED_TEST(WorkflowContract, SkipAndRetrySettleTheirRequests) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const KeyedAnswer<WorkflowRunView> skip{
      .scope = "POST skip", .key = "k", .answer = [](const WorkflowRunView& view) {
        return StoredAnswer{200, std::string(view.nodes[1].row.reason), "", ""};
      }};
  const SkipNodeRequest request{.key = key, .node = "b", .keyed = skip};
  EXPECT_CODE(s.workflows.SkipNode(request, {.now = kT0}), ErrorCode::kConflict);  // never begun
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  s.v(s.idempotency.BeginRequest(skip.scope, skip.key, "f", kT0));
  s.v(s.workflows.SkipNode(request, {.now = kT0 + 1s}));
  EXPECT_EQ(s.v(s.idempotency.BeginRequest(skip.scope, skip.key, "f", kT0 + 2s)).answer.body,
            reason::kSkippedByHand);
  EXPECT_EQ(s.Finish(key, "a", kT0 + 3s).ended, RunState::kCompleted);
  const KeyedAnswer<RunDetail> retry{
      .scope = "POST retry", .key = "k", .answer = [](const RunDetail& run) {
        return StoredAnswer{200, std::to_string(run.row.attempt), "", ""};
      }};
  const RetryRequest again{.key = key, .workflow = {.from = RetryFrom::kStart}, .keyed = retry};
  EXPECT_CODE(s.runs.RetryRun(again, {.now = kT0 + 4s}), ErrorCode::kConflict);
  EXPECT_EQ(s.StateOf(key), RunState::kCompleted);
  s.v(s.idempotency.BeginRequest(retry.scope, retry.key, "f", kT0 + 4s));
  s.v(s.runs.RetryRun(again, {.now = kT0 + 5s}));
  EXPECT_EQ(s.v(s.idempotency.BeginRequest(retry.scope, retry.key, "f", kT0 + 6s)).answer.body,
            "2");
}

}  // namespace carillon::test
