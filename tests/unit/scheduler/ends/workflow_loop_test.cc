#include "scheduler/ends/workflow_loop.h"

#include <gtest/gtest.h>

#include "tests/unit/scheduler/ends/workflow_room.h"

namespace carillon::scheduler {
namespace {

class WorkflowLoopTest : public WorkflowRoomTest {};

TEST_F(WorkflowLoopTest, ADueRunBeginsAndReleasesItsFirstNode) {
  const RunKey key = Begun(CreateFlow("flow"));
  EXPECT_EQ(StateOf(key), RunState::kRunning);
  ASSERT_EQ(started_.size(), 1u);
  EXPECT_EQ(started_[0].run, NodeRowOf(key, 0).key);
  EXPECT_EQ(NodeRowOf(key, 1).due, kBlocked);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "accepted").value(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_fires_total", "workflow").value(), 1u);
}

TEST_F(WorkflowLoopTest, EndsOfNodesLeadToTheEndOfTheRun) {
  const RunKey key = Begun(CreateFlow("flow"));
  Finish(key, 0);
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
  Finish(key, 1, RunState::kFailed);
  loop_.Nudge();
  Step();
  EXPECT_EQ(StateOf(key), RunState::kFailed);
  EXPECT_EQ(metrics_.counter("carillon_workflow_runs_total", "FAILED").value(), 1u);
}

// Nobody wakes the loop for an end that is a matter of time.
TEST_F(WorkflowLoopTest, OpenNodesEndWhenTheirTimeHasComeAndTheRunGoesOn) {
  JobDefinition job;
  job.type = JobType::kWorkflow;
  job.workflow = WorkflowDefinition{
      .nodes = {
          {.id = "pause", .wait = NodeWait{.for_s = 60}},
          {.id = "gate", .approval = Approval{.timeout_s = 120}, .after = {{.node = "pause"}}}}};
  const RunKey key = Begun(CreateJob("flow", job));
  Step();
  EXPECT_EQ(NodeRowOf(key, 0).due, kTimed);
  EXPECT_TRUE(started_.empty()) << "nothing is dispatched";
  StepFor(57s);
  EXPECT_EQ(NodeRowOf(key, 0).state, RunState::kPending);
  StepFor(13s);
  EXPECT_EQ(NodeRowOf(key, 0).state, RunState::kCompleted);
  EXPECT_EQ(NodeRowOf(key, 1).due, kUndecided);
  StepFor(100s);
  EXPECT_EQ(StateOf(key), RunState::kRunning);
  StepFor(30s);
  EXPECT_EQ(NodeRowOf(key, 1).state, RunState::kFailed);
  EXPECT_EQ(StateOf(key), RunState::kFailed);
  EXPECT_TRUE(started_.empty());
}

// Its begin is judged by the rules that the run had when it was offered.
TEST_F(WorkflowLoopTest, StepsGoOnWhileTheClusterIsPaused) {
  const RunKey key = Begun(CreateFlow("flow"));
  Pause();
  Finish(key, 0);
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
}

TEST_F(WorkflowLoopTest, TheTurnFindsWhatNoWakeUpTells) {
  const RunKey key = Begun(CreateFlow("flow"));
  store_.hides_wake_ups = true;
  Finish(key, 0);
  StepFor(7s);
  EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
  EXPECT_EQ(loop_.open(), 1);
}

TEST_F(WorkflowLoopTest, TheTurnFindsADeadline) {
  const RunKey key = Begun(CreateFlow("flow"));
  clock_.Advance(60s);
  StepFor(7s);
  EXPECT_EQ(StateOf(key), RunState::kTimedOut);
}

TEST_F(WorkflowLoopTest, ARunWhoseStepFailsHoldsNobodyUp) {
  const StoredJob flow = CreateFlow("flow");
  const RunKey bad = Begun(flow);
  const RunKey good = Begun(flow);
  FailSteps(View(bad).run, ErrorCode::kCorrupt);
  Finish(bad, 0);
  Finish(good, 0);
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(good, 1).due));
  EXPECT_EQ(NodeRowOf(bad, 1).due, kBlocked);
  EXPECT_EQ(metrics_.counter("carillon_workflow_steps_failed_total").value(), 1u);
  StepFor(5s);
  EXPECT_EQ(failed_steps_, 2) << "with the other run, and alone";
  faults_.plan.Refuse<StepRequest>(nullptr);
  StepFor(7s);
  EXPECT_TRUE(IsTime(NodeRowOf(bad, 1).due));
}

TEST_F(WorkflowLoopTest, ARunWhoseStepsGetNoAnswerIsSetAsideAtTheThird) {
  const StoredJob flow = CreateFlow("flow");
  const RunKey bad = Begun(flow);
  FailSteps(View(bad).run, ErrorCode::kUnavailable);
  Finish(bad, 0);
  StepFor(5s);
  EXPECT_EQ(failed_steps_, 3);
  EXPECT_EQ(metrics_.counter("carillon_workflow_steps_failed_total").value(), 1u);
  faults_.plan.Refuse<StepRequest>(nullptr);
  StepFor(12s);
  EXPECT_TRUE(IsTime(NodeRowOf(bad, 1).due));
}

TEST_F(WorkflowLoopTest, ARunWhoseStepsGetNoAnswerHoldsNobodyUp) {
  const StoredJob flow = CreateFlow("flow");
  const RunKey bad = Begun(flow);
  const RunKey good = Begun(flow);
  FailSteps(View(bad).run, ErrorCode::kUnavailable);
  Finish(bad, 0);
  Finish(good, 0);
  loop_.Nudge();
  Step();
  EXPECT_FALSE(IsTime(NodeRowOf(good, 1).due)) << "none has got an answer";
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(good, 1).due)) << "each alone";
}

TEST_F(WorkflowLoopTest, RunsThatEndTogetherShareAStep) {
  const StoredJob flow = CreateFlow("flow");
  std::vector<RunKey> keys;
  for (int i = 0; i < 60; ++i) keys.push_back(Begun(flow));
  for (const RunKey& key : keys) Finish(key, 0);
  const int before = faults_.plan.calls("Step");
  loop_.Nudge();
  Step();
  for (const RunKey& key : keys) EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
  EXPECT_LE(faults_.plan.calls("Step") - before, 4) << "of 50 runs each, and perhaps a turn";
}

TEST_F(WorkflowLoopTest, AStoreThatIsAwaySetsNothingAside) {
  const RunKey key = Begun(CreateFlow("flow"));
  Finish(key, 0);
  faults_.plan.ArmAlways("*", ErrorCode::kUnavailable);
  loop_.Nudge();
  Step();
  faults_.plan.Recover();
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
  EXPECT_EQ(metrics_.counter("carillon_workflow_steps_failed_total").value(), 0u);
}

TEST_F(WorkflowLoopTest, TheEndFreesTheSlotForTheNextRun) {
  const StoredJob flow = CreateFlow("flow", OverlapPolicy::kQueueOne);
  const RunKey key = Begun(flow);
  Finish(key, 0);
  loop_.Nudge();
  Step();
  Finish(key, 1);
  loop_.Nudge();
  Step();
  EXPECT_EQ(StateOf(key), RunState::kCompleted);
  EXPECT_EQ(freed_, 1);
}

TEST_F(WorkflowLoopTest, WakeUpsOfRunsSetAsideHideNoOthers) {
  const StoredJob flow = CreateFlow("flow");
  const RunKey bad = Begun(flow);
  const RunKey good = Begun(flow);
  store_.crowd = View(bad).run;
  store_.crowd_size = 5'000;
  FailSteps(store_.crowd, ErrorCode::kCorrupt);
  Finish(good, 0);
  loop_.Nudge();
  for (int looks = 0; looks < 6; ++looks) Step();
  EXPECT_TRUE(IsTime(NodeRowOf(good, 1).due));
}

TEST_F(WorkflowLoopTest, AStepThatIsNeverDoneGoesOnAtTheNextLook) {
  const RunKey key = Begun(CreateFlow("flow"));
  Finish(key, 0);
  store_.again = 20;
  loop_.Nudge();
  Step();
  EXPECT_EQ(store_.again, 12);
  store_.hides_wake_ups = true;  // the wake-ups of this run are deleted
  Step();
  Step();
  EXPECT_EQ(store_.again, 0);
  EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
}

TEST_F(WorkflowLoopTest, CountsTheRunsThatItEnds) {
  const RunKey key = Begun(CreateFlow("flow"));
  Finish(key, 0, RunState::kFailed);
  loop_.Nudge();
  Step();
  EXPECT_EQ(StateOf(key), RunState::kFailed);
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "SKIPPED").value(), 1u);  // the second node
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "FAILED").value(), 1u);   // the own run
}

TEST_F(WorkflowLoopTest, WithoutSegmentsNothingIsOpen) {
  Begun(CreateFlow("flow"));
  StepFor(3s);
  EXPECT_EQ(metrics_.gauge("carillon_workflow_runs_open").value(), 1.0);
  const auto view = table_.View();
  table_.Drop(view->FenceFor(view->Segments()), DropCause::kReassigned);
  StepFor(3s);
  EXPECT_EQ(metrics_.gauge("carillon_workflow_runs_open").value(), 0.0);
  EXPECT_EQ(loop_.open(), 0);
}

TEST_F(WorkflowLoopTest, LooksSoonerWhileRunsAreOpen) {
  Step();
  EXPECT_EQ(Step() - clock_.Steady(), 1s);
  Begun(CreateFlow("flow"));
  Step();
  EXPECT_LE(Step() - clock_.Steady(), 100ms);
}

// All executors may be known to the store by old heartbeats only.
}  // namespace
}  // namespace carillon::scheduler
