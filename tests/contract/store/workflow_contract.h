// The contract of WorkflowStore: how a workflow run begins, takes steps and ends.
#pragma once

#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

TYPED_TEST(WorkflowContract, BeginWritesBlockedRunsAndAWakeUp) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition urgent = s.Manual();
  urgent.priority = 7;
  const StoredJob b = s.Create("b", urgent);
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Execute(flow, kT0).key;
  EXPECT_EQ(s.Get(key).job_type, JobType::kWorkflow);
  EXPECT_CODE(s.workflows.GetWorkflowRun(key), ErrorCode::kNotFound);
  const BeginReply reply = s.Begin(key, kT0 + 1s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted);
  EXPECT_EQ(reply.run.fire, key.fire);

  const RunRow own = s.Get(key).row;
  EXPECT_TRUE(IsRunningWorkflow(own));
  EXPECT_EQ(own.claimed, kT0 + 1s);
  const WorkflowRunView view = s.View(key);
  EXPECT_EQ(view.own.row, own);
  EXPECT_EQ(view.run, reply.run);
  EXPECT_EQ(view.def_version, flow.version);
  EXPECT_EQ(view.definition, *flow.definition.workflow);
  EXPECT_EQ(view.deadline, kT0 + 1s + 3600s);
  ASSERT_EQ(view.nodes.size(), 2u);
  EXPECT_TRUE(IsBlocked(view.nodes[0].row));
  const RunDetail& node = view.nodes[1].detail;
  EXPECT_EQ(node.row.key, s.v(NodeKey(key.fire, {reply.run.no, 1})));
  EXPECT_EQ(node.row.job_no, b.job_no);
  EXPECT_EQ(node.row.segment, b.segment);
  EXPECT_EQ(node.row.def_version, b.version);
  EXPECT_EQ(node.row.priority, 7);
  EXPECT_EQ(node.row.kind, RunKind::kWorkflow);
  EXPECT_EQ(node.row.state, RunState::kPending);
  EXPECT_EQ(node.row.due, kBlocked);
  EXPECT_EQ(node.row.flags, run_flag::kNode | run_flag::kHasRequest | run_flag::kByHand);
  EXPECT_EQ(node.planned, kT0 + 1s);
  const RunDetail same = s.Get(node.row.key);
  const NodeOrigin origin{.workflow_run = key, .node = "b"};
  ASSERT_TRUE(same.node.has_value());
  EXPECT_EQ(*same.node, origin);
  EXPECT_EQ(same.job_type, JobType::kShell);
  EXPECT_EQ(same.row, node.row);
  EXPECT_TRUE(s.Pending(kNever).empty());

  const std::vector<WakeUp> wake_ups = s.WakeUps();
  ASSERT_EQ(wake_ups.size(), 1u);
  EXPECT_EQ(wake_ups[0].run, reply.run);
  EXPECT_EQ(wake_ups[0].segment, flow.segment);
  EXPECT_TRUE(s.v(s.completions.ScanCompletions(s.All(), 100)).empty());
  const std::vector<OpenWorkflowRun> open = s.v(s.workflows.ScanOpen(s.All(), 0, 100));
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0], (OpenWorkflowRun{.run = reply.run, .segment = flow.segment}));
}

TYPED_TEST(WorkflowContract, BeginIsRepeatedAfterAnUnknownOutcome) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Execute(s.CreateFlow(s.Chain()), kT0).key;
  const ClaimRequest request = s.RequestFor(key);
  const BeginReply first = s.v(s.workflows.Begin(request, s.fence, kT0 + 1s));
  EXPECT_EQ(first.verdict, ClaimVerdict::kAccepted);
  const std::vector<WakeUp> wake_ups = s.WakeUps();
  const BeginReply again = s.v(s.workflows.Begin(request, s.fence, kT0 + 2s));
  EXPECT_EQ(again.verdict, ClaimVerdict::kAcceptedAgain);
  EXPECT_EQ(s.WakeUps(), wake_ups);
  EXPECT_EQ(s.View(key).run, first.run);
  EXPECT_EQ(s.View(key).deadline, kT0 + 1s + 3600s);
  EXPECT_EQ(s.v(s.workflows.ScanOpen(s.All(), 0, 100)).size(), 1u);
}

TYPED_TEST(WorkflowContract, BeginRefusesAsAClaimDoes) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Execute(flow, kT0 + 10s).key;
  EXPECT_EQ(s.Begin(key, kT0).reason, ClaimReason::kNotDue);
  ClaimRequest request = s.RequestFor(key);
  request.hold_back = ClaimReason::kClusterPaused;
  EXPECT_EQ(s.v(s.workflows.Begin(request, s.fence, kT0 + 11s)).reason,
            ClaimReason::kClusterPaused);
  request = s.RequestFor(key);
  s.Replace(flow, flow.definition, kT0 + 11s);
  EXPECT_EQ(s.v(s.workflows.Begin(request, s.fence, kT0 + 11s)).reason, ClaimReason::kVersionMoved);
  request = s.RequestFor(key);
  request.key.fire += 1us;
  EXPECT_EQ(s.v(s.workflows.Begin(request, s.fence, kT0 + 11s)).reason, ClaimReason::kGone);
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  EXPECT_CODE(s.workflows.GetWorkflowRun(key), ErrorCode::kNotFound);
  EXPECT_TRUE(s.WakeUps().empty());
}

TYPED_TEST(WorkflowContract, BeginNeedsTheFenceOfItsSegment) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Execute(s.CreateFlow(s.Chain()), kT0).key;
  const ClaimRequest request = s.RequestFor(key);
  Fence others = s.fence;
  std::erase_if(others, [&](const FencedSegment& held) { return held.segment == request.segment; });
  EXPECT_CODE(s.workflows.Begin(request, others, kT0 + 1s), ErrorCode::kInvalid);
  const Fence old = s.fence;
  s.fence = s.Take(2);
  EXPECT_CODE(s.workflows.Begin(request, old, kT0 + 1s), ErrorCode::kFenced);
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  EXPECT_CODE(s.workflows.GetWorkflowRun(key), ErrorCode::kNotFound);
  EXPECT_TRUE(s.WakeUps().empty());
  s.ExpectBegin(key, kT0 + 2s);
}

TYPED_TEST(WorkflowContract, BeginNeedsAReadableDefinition) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Execute(flow, kT0).key;
  const ClaimRequest request = s.RequestFor(key);
  this->handle().DamageDefinition(flow, true);
  EXPECT_CODE(s.workflows.Begin(request, s.fence, kT0 + 1s), ErrorCode::kCorrupt);
  EXPECT_EQ(s.StateOf(key), RunState::kPending);
  this->handle().DamageDefinition(flow, false);
  s.ExpectBegin(key, kT0 + 2s);
}

TYPED_TEST(WorkflowContract, OverlapPolicySkipEndsTheSecondRun) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Chain();
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob flow = s.CreateFlow(definition);
  s.Begun(flow, kT0);
  const RunKey second = s.Execute(flow, kT0).key;
  const BeginReply reply = s.Begin(second, kT0 + 1s);
  EXPECT_EQ(reply.verdict, ClaimVerdict::kSkipped);
  EXPECT_EQ(reply.reason, ClaimReason::kOverlap);
  s.ExpectEnd(second, RunState::kSkipped, reason::kOverlap);
  EXPECT_CODE(s.workflows.GetWorkflowRun(second), ErrorCode::kNotFound);
}

TYPED_TEST(WorkflowContract, QueuedRunIsAdmittedAtTheEndOfTheFirst) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Chain();
  definition.overlap_policy = OverlapPolicy::kQueueOne;
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey first = s.Begun(flow, kT0);
  const RunKey second = s.Execute(flow, kT0).key;
  EXPECT_EQ(s.Begin(second, kT0 + 1s).verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.Get(second).row.due, kQueued);
  EXPECT_FALSE(s.Finish(first, "a", kT0 + 2s).freed_slot);
  EXPECT_TRUE(s.v(s.queues.Admit({flow.job_no, flow.segment}, s.fence, kT0 + 2s)).admitted.empty());
  EXPECT_TRUE(s.Finish(first, "b", kT0 + 3s).freed_slot);
  s.ExpectEnd(first, RunState::kCompleted);
  const AdmissionEffect admitted =
      s.v(s.queues.Admit({flow.job_no, flow.segment}, s.fence, kT0 + 4s));
  EXPECT_EQ(s.KeysOf(admitted.admitted), std::vector<RunKey>{second});
  s.ExpectBegin(second, kT0 + 5s);
}

TYPED_TEST(WorkflowContract, NodesOfDeletedJobsAreSkippedAtTheBegin) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob a = s.Create("a", s.Manual());
  const StoredJob flow = s.CreateFlow(s.Chain());
  ASSERT_OK(s.jobs.DeleteJob(a.job_id, a.version, {.now = kT0, .force = true}));
  const RunKey key = s.Execute(flow, kT0).key;
  s.ExpectBegin(key, kT0 + 1s);
  EXPECT_EQ(s.States(key), "a SKIPPED deleted, b blocked");
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a SKIPPED deleted, b SKIPPED upstream_failed");
}

TYPED_TEST(WorkflowContract, NodesAreReleasedOneAfterTheOther) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Execute(flow, kT0).key;
  s.ExpectBegin(key, kT0 + 1s);
  StepEffect effect = s.Steps(kT0 + 2s);
  ASSERT_EQ(effect.released.size(), 1u);
  const RunRow a = s.RowOf(key, "a");
  EXPECT_EQ(effect.released[0], a);
  EXPECT_EQ(a.due, kT0 + 2s);
  EXPECT_EQ(s.Pending(kT0 + 2s), std::vector<RunRow>{a});
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  EXPECT_FALSE(effect.ended.has_value());

  const RunRow started = s.StartNode(key, "a", kT0 + 3s);
  EXPECT_TRUE(s.WakeUps().empty());
  EXPECT_TRUE(s.Apply(s.ReportOf(started, RunState::kCompleted), s.fence, kT0 + 9s).completed);
  ASSERT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.WakeUps()[0].run, s.View(key).run);
  EXPECT_EQ(s.WakeUps()[0].segment, flow.segment);
  EXPECT_EQ(s.WakeUps()[0].ended, kT0 + 9s);
  effect = s.Steps(kT0 + 10s);
  EXPECT_EQ(s.KeysOf(effect.released), std::vector<RunKey>{s.RowOf(key, "b").key});
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");

  effect = s.Finish(key, "b", kT0 + 20s);
  EXPECT_EQ(effect.ended, RunState::kCompleted);
  EXPECT_FALSE(effect.completed);  // nothing waits for the workflow
  s.ExpectEnd(key, RunState::kCompleted);
  const RunDetail own = s.Get(key);
  EXPECT_EQ(own.result.state, RunState::kCompleted);
  EXPECT_EQ(own.result.started, kT0 + 1s);
  EXPECT_EQ(own.result.ended, kT0 + 20s);
  EXPECT_TRUE(s.v(s.workflows.ScanOpen(s.All(), 0, 100)).empty());
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
}

TYPED_TEST(WorkflowContract, RepeatedStepChangesNothing) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const StepRequest step = s.StepOf(key);
  const auto expect_nothing = [&](WallTime now) {
    const std::string before = s.States(key);
    const RunRow own = s.Get(key).row;
    const StepEffect effect = s.Step(step, now);
    EXPECT_TRUE(effect.released.empty());
    EXPECT_EQ(effect.skipped + effect.cancelled, 0);
    EXPECT_FALSE(effect.ended.has_value());
    EXPECT_EQ(s.States(key), before);
    EXPECT_EQ(s.Get(key).row, own);
    EXPECT_TRUE(s.WakeUps().empty());
  };
  expect_nothing(kT0 + 1s);
  s.Finish(key, "a", kT0 + 2s);
  expect_nothing(kT0 + 3s);
  s.Finish(key, "b", kT0 + 4s);
  expect_nothing(kT0 + 5s);
}

TYPED_TEST(WorkflowContract, StepDeletesOnlyTheWakeUpsItNames) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b"), s.Node("c")})), kT0);
  for (const char* node : {"a", "b"}) {
    s.EndRun(s.StartNode(key, node, kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  }
  const std::vector<WakeUp> both = s.WakeUps();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_LT(both[0].id, both[1].id);
  EXPECT_EQ(s.v(s.workflows.ScanWakeUps(s.All(), 1)), std::vector<WakeUp>{both[0]});
  std::vector<SegmentId> others = s.All();
  std::erase(others, both[0].segment);
  EXPECT_TRUE(s.v(s.workflows.ScanWakeUps(others, 100)).empty());
  StepRequest step = s.StepOf(key);
  step.wake_ups = {both[1].id};
  s.Step(step, kT0 + 3s);
  EXPECT_EQ(s.WakeUps(), std::vector<WakeUp>{both[0]});
  s.Finish(key, "c", kT0 + 4s);
  EXPECT_TRUE(s.WakeUps().empty());
  s.ExpectEnd(key, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, StepOfAnEndedRunOnlyDeletesWakeUps) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  s.Lose(a, s.fence, kT0 + 2s);
  EXPECT_EQ(s.Steps(kT0 + 3s).ended, RunState::kFailed);
  s.EndRun(a, RunState::kCompleted, kT0 + 4s);  // too late
  ASSERT_EQ(s.WakeUps().size(), 1u);
  EXPECT_FALSE(s.Steps(kT0 + 5s).ended.has_value());
  EXPECT_TRUE(s.WakeUps().empty());
  EXPECT_EQ(s.States(key), "a COMPLETED, b SKIPPED upstream_failed");
  s.ExpectEnd(key, RunState::kFailed, reason::kNodeFailed);
  // The node behind it is run by a retry.
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 6s}));
  EXPECT_EQ(s.States(key), "a COMPLETED, b blocked");
}

TYPED_TEST(WorkflowContract, StepsOfSeveralRunsShareATransaction) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const StoredJob other = s.CreateFlow(s.Flow({s.Node("a"), s.Node("b")}), "other");
  const std::vector keys = {s.Begun(flow, kT0), s.Begun(other, kT0), s.Begun(flow, kT0 + 1us)};
  s.EndRun(s.StartNode(keys[0], "a", kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  s.EndRun(s.StartNode(keys[1], "a", kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  s.EndRun(s.StartNode(keys[2], "a", kT0 + 1s), RunState::kFailed, kT0 + 2s);
  std::vector<StepRequest> steps;
  for (const RunKey& key : keys) steps.push_back(s.StepOf(key));
  for (const WakeUp& one : s.WakeUps()) {
    for (StepRequest& step : steps) {
      if (step.run == one.run) step.wake_ups.push_back(one.id);
    }
  }
  const std::vector<StepEffect> effects = s.v(s.workflows.Step(steps, s.fence, kT0 + 3s));
  ASSERT_EQ(effects.size(), 3u);
  EXPECT_EQ(s.KeysOf(effects[0].released), std::vector<RunKey>{s.RowOf(keys[0], "b").key});
  EXPECT_TRUE(effects[1].released.empty());
  EXPECT_EQ(effects[2].skipped, 1);
  EXPECT_EQ(effects[2].ended, RunState::kFailed);
  EXPECT_FALSE(effects[0].again || effects[1].again || effects[2].again);
  EXPECT_TRUE(s.WakeUps().empty());
  EXPECT_EQ(s.States(keys[0]), "a COMPLETED, b PENDING");
  s.ExpectEnd(keys[2], RunState::kFailed, reason::kNodeFailed);
}

TYPED_TEST(WorkflowContract, AStepThatIsRefusedRefusesThoseBesideIt) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey bad = s.Begun(flow, kT0);
  const RunKey good = s.Begun(s.CreateFlow(s.Chain(), "other"), kT0);
  s.EndRun(s.StartNode(good, "a", kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  const std::vector<StepRequest> steps = {s.StepOf(good), s.StepOf(bad)};
  this->handle().DamageDefinition(flow, true);
  EXPECT_CODE(s.workflows.Step(steps, s.fence, kT0 + 3s), ErrorCode::kCorrupt);
  EXPECT_EQ(s.States(good), "a COMPLETED, b blocked");
  EXPECT_EQ(s.Step(steps[0], kT0 + 3s).released.size(), 1u);
  this->handle().DamageDefinition(flow, false);
}

TYPED_TEST(WorkflowContract, StepNeedsTheFenceOfItsSegment) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Execute(s.CreateFlow(s.Chain()), kT0).key;
  s.ExpectBegin(key, kT0);
  StepRequest step = s.StepOf(key);
  step.wake_ups = {s.WakeUps()[0].id};
  Fence others = s.fence;
  std::erase_if(others, [&](const FencedSegment& held) { return held.segment == step.segment; });
  EXPECT_CODE(s.workflows.Step({step}, others, kT0 + 1s), ErrorCode::kInvalid);
  const Fence old = s.fence;
  s.fence = s.Take(2);
  EXPECT_CODE(s.workflows.Step({step}, old, kT0 + 1s), ErrorCode::kFenced);
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
  EXPECT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.Steps(kT0 + 2s).released.size(), 1u);
}

TYPED_TEST(WorkflowContract, StepNeedsAReadableDefinition) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Begun(flow, kT0);
  s.EndRun(s.StartNode(key, "a", kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  StepRequest step = s.StepOf(key);
  step.wake_ups = {s.WakeUps()[0].id};
  this->handle().DamageDefinition(flow, true);
  EXPECT_CODE(s.workflows.Step({step}, s.fence, kT0 + 3s), ErrorCode::kCorrupt);
  EXPECT_CODE(s.workflows.GetWorkflowRun(key), ErrorCode::kCorrupt);
  EXPECT_EQ(s.WakeUps().size(), 1u);
  this->handle().DamageDefinition(flow, false);
  EXPECT_EQ(s.Steps(kT0 + 4s).released.size(), 1u);
}

TYPED_TEST(WorkflowContract, MaxParallelLimitsActiveNodes) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition definition = s.Flow({s.Node("a"), s.Node("b"), s.Node("c")});
  definition.workflow->max_parallel = 2;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  EXPECT_EQ(s.States(key), "a PENDING, b PENDING, c blocked");
  const RunRow b = s.StartNode(key, "b", kT0 + 1s);
  EXPECT_TRUE(s.Rotate(kT0 + 2s).released.empty());
  s.EndRun(b, RunState::kFailed, kT0 + 3s);
  EXPECT_EQ(s.KeysOf(s.Steps(kT0 + 4s).released), std::vector<RunKey>{s.RowOf(key, "c").key});
  EXPECT_EQ(s.States(key), "a PENDING, b FAILED, c PENDING");
}

TYPED_TEST(WorkflowContract, ConditionsChooseTheNodesThatRun) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(
      s.Flow({s.Node("load"), s.Node("big", {{.node = "load", .condition = "outputs.rows > 100"}}),
              s.Node("small", {{.node = "load", .condition = "outputs.rows <= 100"}}),
              s.Node("after-small", {{.node = "small"}}),
              s.Node("odd", {{.node = "load", .condition = "outputs.missing > 1"}})}));
  const RunKey key = s.Begun(flow, kT0);
  const StepEffect effect =
      s.Finish(key, "load", kT0 + 1s, RunState::kCompleted, {{"rows", "250"}});
  EXPECT_EQ(effect.skipped, 3);
  EXPECT_EQ(s.States(key),
            "load COMPLETED, big PENDING, small SKIPPED not_selected, after-small SKIPPED "
            "not_selected, odd SKIPPED bad_condition");
  EXPECT_EQ(s.Get(s.RowOf(key, "odd").key).result.error,
            "the condition after node load cannot be computed from its end: outputs.missing > 1; "
            "an output is missing, or is not of the type with which it is compared");
  EXPECT_EQ(s.Get(s.RowOf(key, "small").key).result.error, "");
  EXPECT_EQ(s.NodeOf(key, "load").row.outputs, (Outputs{{"rows", "250"}}));
  EXPECT_EQ(s.NodeOf(key, "load").row.exit_code, 0);
  EXPECT_EQ(s.Finish(key, "big", kT0 + 2s).ended, RunState::kFailed);
  EXPECT_NE(s.Get(key).result.error.find("odd"), std::string::npos) << s.Get(key).result.error;
}

TYPED_TEST(WorkflowContract, FailedNodeFailsTheRunWithADeadLetter) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  const RunKey key = s.Begun(flow, kT0);
  const StepEffect effect = s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  EXPECT_EQ(effect.ended, RunState::kFailed);
  EXPECT_EQ(effect.skipped, 1);
  EXPECT_EQ(s.States(key), "a FAILED, b SKIPPED upstream_failed");
  s.ExpectEnd(key, RunState::kFailed, reason::kNodeFailed);
  EXPECT_EQ(s.Get(key).result.error, "A node failed: a.");
  const std::vector<DeadLetter> letters = s.v(s.runs.ListDeadLetters({.job_id = flow.job_id}));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].key, key);
  EXPECT_EQ(letters[0].state, RunState::kFailed);
  EXPECT_EQ(letters[0].reason, reason::kNodeFailed);
}

TYPED_TEST(WorkflowContract, RepairedFailureDoesNotFailTheRun) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("repair", {{.node = "a",
                                                                   .on = EdgeOn::kFailure,
                                                                   .condition = "exit_code == 3",
                                                                   .recovers = true}})})),
              kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a FAILED, repair PENDING");
  EXPECT_EQ(s.Finish(key, "repair", kT0 + 2s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, EndStartsDependents) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("a")}));
  JobDefinition after = s.Manual();
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "flow"}};
  const StoredJob dependent = s.Create("after", after);
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_TRUE(s.Finish(key, "a", kT0 + 1s).completed);
  const std::vector<RunCompletion> ends = s.v(s.completions.ScanCompletions(s.All(), 100));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].key, key);
  EXPECT_EQ(ends[0].target, CompletionTarget::kDependents);
  const auto effects = s.v(s.completions.Apply(ends, s.fence, kT0 + 2s));
  ASSERT_EQ(effects[0].started.size(), 1u);
  EXPECT_EQ(effects[0].started[0].job_no, dependent.job_no);
}

TYPED_TEST(WorkflowContract, EndsOfNodesStartDependentsOfTheirJobs) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Chain());
  JobDefinition after = s.Manual();
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "a"}};
  s.Create("after", after);
  const RunKey key = s.Begun(flow, kT0);
  s.EndRun(s.StartNode(key, "a", kT0 + 1s), RunState::kCompleted, kT0 + 2s);
  EXPECT_EQ(s.v(s.completions.ScanCompletions(s.All(), 100)).size(), 1u);
  EXPECT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.Steps(kT0 + 3s).released.size(), 1u);
  EXPECT_EQ(s.v(s.completions.ScanCompletions(s.All(), 100)).size(), 1u);
}

TYPED_TEST(WorkflowContract, RunningWorkflowHasNoLease) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow node = s.StartNode(key, "a", kT0 + 1s);
  std::vector<RunRow> running = s.v(s.firing.ScanRunning(s.All(), std::nullopt, 100)).runs;
  EXPECT_EQ(s.KeysOf(running), std::vector<RunKey>{node.key});
  EXPECT_TRUE(s.Lose(s.Get(key).row, s.fence, kT0 + 2s).empty());
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 3s}));
  running = s.v(s.firing.ScanCancelRequests(s.All(), std::nullopt, 100)).runs;
  EXPECT_EQ(s.KeysOf(running), std::vector<RunKey>{node.key});
}

TYPED_TEST(WorkflowContract, LateSuccessOfALostNodeIsTold) {
  WorkflowDriver s = this->workflow_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Node("b")})), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  s.Lose(a, s.fence, kT0 + 2s);
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(key), "a LOST, b PENDING");
  s.EndRun(a, RunState::kCompleted, kT0 + 4s);
  EXPECT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 5s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowContract, NodeKeepsTheRetriesOfItsJob) {
  WorkflowDriver s = this->workflow_driver();
  JobDefinition retried = s.Manual();
  retried.retry_count = 1;
  s.Create("a", retried);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.EndRun(s.StartNode(key, "a", kT0 + 1s), RunState::kFailed, kT0 + 2s);
  EXPECT_TRUE(s.WakeUps().empty());
  s.Rotate(kT0 + 3s);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  EXPECT_EQ(s.RowOf(key, "a").attempt, 2);
  s.Finish(key, "a", kT0 + 10min);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING");
}

TYPED_TEST(WorkflowContract, ScanOpenGoesOnAfterANumber) {
  WorkflowDriver s = this->workflow_driver();
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("a")}));
  std::vector<WorkflowRunId> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(s.View(s.Begun(flow, kT0 + i * 1s)).run);
  EXPECT_LT(runs[0].no, runs[1].no);
  EXPECT_LT(runs[1].no, runs[2].no);
  const auto scan = [&](uint64_t after, size_t limit) {
    std::vector<WorkflowRunId> found;
    for (const OpenWorkflowRun& open : s.v(s.workflows.ScanOpen(s.All(), after, limit))) {
      found.push_back(open.run);
    }
    return found;
  };
  EXPECT_EQ(scan(0, 100), runs);
  EXPECT_EQ(scan(0, 2), (std::vector<WorkflowRunId>{runs[0], runs[1]}));
  EXPECT_EQ(scan(runs[1].no, 2), std::vector<WorkflowRunId>{runs[2]});
  std::vector<SegmentId> others = s.All();
  std::erase(others, flow.segment);
  EXPECT_TRUE(s.v(s.workflows.ScanOpen(others, 0, 100)).empty());
}

}  // namespace carillon::test
