// The contract of workflow runs whose nodes are workflows themselves.
#pragma once

#include "tests/contract/store/workflow_driver.h"

namespace carillon::test {

// "outer" has the nodes "inner", a workflow of "a" and then "b", and "last" after it.
class NestedDriver : public WorkflowDriver {
 public:
  explicit NestedDriver(StoreHandle& store)
      : WorkflowDriver(store),
        inner_job(CreateFlow(Chain(), "inner")),
        outer_job(CreateFlow(Flow({Node("inner"), Node("last", {{.node = "inner"}})}), "outer")),
        outer(Begun(outer_job, kT0)),
        inner(RowOf(outer, "inner").key) {}

  void BeginInner(WallTime now) {
    ExpectBegin(inner, now);
    Steps(now);
  }
  // The outer run has failed, because of a.
  void FailByA() {
    BeginInner(kT0 + 1s);
    EXPECT_EQ(Finish(inner, "a", kT0 + 2s, RunState::kFailed).ended, RunState::kFailed);
    ExpectEnd(inner, RunState::kFailed, reason::kNodeFailed);
    ExpectEnd(outer, RunState::kFailed, reason::kNodeFailed);
    EXPECT_EQ(States(outer), "inner FAILED, last SKIPPED upstream_failed");
  }
  void RetryOuter(const WorkflowRetry& retry, WallTime now) {
    v(runs.RetryRun({.key = outer, .workflow = retry}, {.now = now}));
    ExpectBegin(outer, now);
    Steps(now);
  }

  const StoredJob inner_job;
  const StoredJob outer_job;
  const RunKey outer;
  const RunKey inner;
};

template <typename Factory>
class NestedWorkflowContract : public StoreContract<Factory> {
 protected:
  NestedDriver nested() { return NestedDriver(this->handle()); }
};
TYPED_TEST_SUITE(NestedWorkflowContract, StoreFactories);

TYPED_TEST(NestedWorkflowContract, EndOfTheInnerRunLetsTheOuterOneGoOn) {
  NestedDriver s = this->nested();
  EXPECT_EQ(s.NodeOf(s.outer, "inner").detail.job_type, JobType::kWorkflow);
  s.BeginInner(kT0 + 1s);
  EXPECT_EQ(s.States(s.outer), "inner RUNNING, last blocked");
  EXPECT_EQ(s.States(s.inner), "a PENDING, b blocked");
  EXPECT_EQ(s.RowOf(s.inner, "a").key.fire, s.outer.fire);
  s.Finish(s.inner, "a", kT0 + 2s);
  s.EndRun(s.StartNode(s.inner, "b", kT0 + 3s), RunState::kCompleted, kT0 + 4s);
  const std::vector<WakeUp> wake_ups = s.WakeUps();
  ASSERT_EQ(wake_ups.size(), 1u);
  EXPECT_EQ(wake_ups[0].segment, s.inner_job.segment);
  StepRequest step = s.StepOf(s.inner);
  step.wake_ups = {wake_ups[0].id};
  const StepEffect effect = s.Step(step, kT0 + 5s);
  EXPECT_EQ(effect.ended, RunState::kCompleted);
  EXPECT_TRUE(effect.completed);
  ASSERT_EQ(s.WakeUps().size(), 1u);
  EXPECT_EQ(s.WakeUps()[0].run, s.View(s.outer).run);
  EXPECT_EQ(s.WakeUps()[0].segment, s.outer_job.segment);
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.States(s.outer), "inner COMPLETED, last PENDING");
  EXPECT_EQ(s.Finish(s.outer, "last", kT0 + 7s).ended, RunState::kCompleted);
}

// The end of the inner run is an end of a node of the outer one.
TYPED_TEST(NestedWorkflowContract, AStepOfTheOuterRunComesAfterThatOfTheInnerOne) {
  NestedDriver s = this->nested();
  s.BeginInner(kT0 + 1s);
  s.Finish(s.inner, "a", kT0 + 2s);
  s.EndRun(s.StartNode(s.inner, "b", kT0 + 3s), RunState::kCompleted, kT0 + 4s);
  const std::vector<StepRequest> both = {s.StepOf(s.outer), s.StepOf(s.inner)};
  const std::vector<StepEffect> first = s.v(s.workflows.Step(both, s.fence, kT0 + 5s));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(first[0].again);
  EXPECT_TRUE(first[0].released.empty());
  EXPECT_EQ(first[1].ended, RunState::kCompleted);
  EXPECT_EQ(s.States(s.outer), "inner COMPLETED, last blocked");
  const std::vector<StepEffect> second = s.v(s.workflows.Step(both, s.fence, kT0 + 6s));
  EXPECT_EQ(second.at(0).released.size(), 1u);
  EXPECT_FALSE(second.at(0).again);
}

TYPED_TEST(NestedWorkflowContract, CancelReachesEachLevel) {
  NestedDriver s = this->nested();
  s.BeginInner(kT0 + 1s);
  const RunRow a = s.StartNode(s.inner, "a", kT0 + 2s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(s.outer, {.now = kT0 + 3s})));
  EXPECT_EQ(s.States(s.outer), "inner RUNNING, last CANCELLED");
  EXPECT_EQ(s.States(s.inner), "a RUNNING, b CANCELLED");
  EXPECT_TRUE(s.RowOf(s.outer, "inner").cancel_requested.has_value());
  EXPECT_TRUE(s.RowOf(s.inner, "a").cancel_requested.has_value());
  s.Steps(kT0 + 4s);
  s.EndRun(a, RunState::kCancelled, kT0 + 5s);
  s.Steps(kT0 + 6s);
  s.ExpectEnd(s.inner, RunState::kCancelled, reason::kCancelRequested);
  s.ExpectEnd(s.outer, RunState::kCancelled, reason::kCancelRequested);
}

TYPED_TEST(NestedWorkflowContract, CancelBeforeTheInnerBegin) {
  NestedDriver s = this->nested();
  const ClaimRequest begin = s.RequestFor(s.inner);
  s.v(s.runs.CancelRun(s.outer, {.now = kT0 + 1s}));
  EXPECT_EQ(s.v(s.workflows.Begin(begin, s.fence, kT0 + 2s)).verdict, ClaimVerdict::kRefused);
  EXPECT_EQ(s.Steps(kT0 + 3s).ended, RunState::kCancelled);
  EXPECT_EQ(s.States(s.outer), "inner CANCELLED, last CANCELLED");
}

TYPED_TEST(NestedWorkflowContract, DeadlineOfTheOuterRunReachesTheNodesOfTheInnerOne) {
  NestedDriver s = this->nested();
  s.BeginInner(kT0 + 1s);
  s.Rotate(kT0 + 3600s);
  s.Steps(kT0 + 3600s);
  EXPECT_EQ(s.States(s.inner), "a CANCELLED, b CANCELLED");
  s.ExpectEnd(s.inner, RunState::kCancelled, reason::kCancelRequested);
  s.ExpectEnd(s.outer, RunState::kTimedOut, reason::kTimeout);
}

TYPED_TEST(NestedWorkflowContract, FailedInnerRunGoesOnWhereItFailed) {
  NestedDriver s = this->nested();
  s.BeginInner(kT0 + 1s);
  s.Finish(s.inner, "a", kT0 + 2s);
  s.Finish(s.inner, "b", kT0 + 3s, RunState::kFailed);
  s.ExpectEnd(s.outer, RunState::kFailed, reason::kNodeFailed);
  s.RetryOuter({}, kT0 + 10s);
  const WorkflowRunId run = s.View(s.inner).run;
  EXPECT_EQ(s.Get(s.inner).row.attempt, 2);
  EXPECT_EQ(s.States(s.inner), "a COMPLETED, b blocked");
  EXPECT_EQ(Name(s.Begin(s.inner, kT0 + 11s).kind), Name(BeginKind::kContinued));
  EXPECT_EQ(s.View(s.inner).run, run);
  EXPECT_EQ(s.States(s.inner), "a COMPLETED, b blocked");
  s.Steps(kT0 + 12s);
  EXPECT_EQ(s.RowOf(s.inner, "b").attempt, 2);
  s.Finish(s.inner, "b", kT0 + 13s);
  EXPECT_EQ(s.States(s.outer), "inner COMPLETED, last PENDING");
}

TYPED_TEST(NestedWorkflowContract, CompletedInnerRunStartsOver) {
  NestedDriver s = this->nested();
  s.BeginInner(kT0 + 1s);
  s.Finish(s.inner, "a", kT0 + 2s);
  s.Finish(s.inner, "b", kT0 + 3s);
  s.Finish(s.outer, "last", kT0 + 4s);
  s.RetryOuter({.from = RetryFrom::kStart}, kT0 + 10s);
  EXPECT_EQ(s.States(s.outer), "inner PENDING, last blocked");
  const WorkflowRunId before = s.View(s.inner).run;
  EXPECT_EQ(Name(s.Begin(s.inner, kT0 + 11s).kind), Name(BeginKind::kAnew));
  EXPECT_NE(s.View(s.inner).run, before);
  EXPECT_EQ(s.States(s.inner), "a blocked, b blocked");
}

TYPED_TEST(NestedWorkflowContract, RetryBelowNamesTheOutermostRun) {
  NestedDriver s = this->nested();
  s.FailByA();
  for (const RunKey& key : {s.inner, s.RowOf(s.inner, "a").key}) {
    const auto refused = s.runs.RetryRun({.key = key}, {.now = kT0 + 10s});
    EXPECT_CODE(refused, ErrorCode::kConflict);
    EXPECT_NE(refused.error().message.find(EncodeRunId(s.outer)), std::string::npos)
        << refused.error().message;
  }
  EXPECT_EQ(s.States(s.inner), "a FAILED, b SKIPPED upstream_failed");
}

TYPED_TEST(NestedWorkflowContract, RetryOfAnInnerRunThatNeverBeganIsOneOfTheOuterRun) {
  NestedDriver s = this->nested();
  s.v(s.runs.CancelRun(s.inner, {.now = kT0 + 1s}));
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kFailed);
  s.v(s.runs.RetryRun({.key = s.inner}, {.now = kT0 + 3s}));
  EXPECT_EQ(s.States(s.outer), "inner blocked, last blocked");
  s.ExpectBegin(s.outer, kT0 + 4s);
  s.Steps(kT0 + 4s);
  s.BeginInner(kT0 + 5s);
  EXPECT_EQ(s.States(s.inner), "a PENDING, b blocked");
}

TYPED_TEST(NestedWorkflowContract, ProcessBelowThatMayStillRunRefusesTheRetry) {
  NestedDriver s = this->nested();
  StoredJob a = s.v(s.jobs.GetJob(JobId("a")));
  JobDefinition fails = a.definition;
  fails.on_lost = OnLost::kFail;
  s.Replace(a, fails, kT0);
  s.BeginInner(kT0 + 1s);
  s.Lose(s.StartNode(s.inner, "a", kT0 + 2s), s.fence, kT0 + 3s);
  s.Steps(kT0 + 4s);
  s.ExpectEnd(s.outer, RunState::kFailed, reason::kNodeFailed);
  EXPECT_CODE(s.runs.RetryRun({.key = s.outer}, {.now = kT0 + 5s}), ErrorCode::kConflict);
  s.v(s.runs.RetryRun({.key = s.outer}, {.now = kT0 + 6s, .confirm_overlap = true}));
  EXPECT_EQ(s.States(s.outer), "inner blocked, last blocked");
}

TYPED_TEST(NestedWorkflowContract, SkipOfAFailedInnerRun) {
  NestedDriver s = this->nested();
  JobDefinition definition = s.outer_job.definition;
  definition.workflow->nodes.push_back(s.Node("slow"));
  s.Create("slow", s.Manual());
  const RunKey outer = s.Begun(s.Replace(s.outer_job, definition, kT0), kT0 + 1s);
  const RunKey inner = s.RowOf(outer, "inner").key;
  s.ExpectBegin(inner, kT0 + 2s);
  s.Steps(kT0 + 2s);
  s.Finish(inner, "a", kT0 + 3s, RunState::kFailed);
  EXPECT_EQ(s.States(outer), "inner FAILED, last SKIPPED upstream_failed, slow PENDING");
  s.v(s.workflows.SkipNode({.key = outer, .node = "inner"}, {.now = kT0 + 4s}));
  s.Steps(kT0 + 5s);
  EXPECT_EQ(s.States(outer), "inner SKIPPED skipped_by_hand, last PENDING, slow PENDING");
}

}  // namespace carillon::test
