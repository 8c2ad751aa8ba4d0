#include "scheduler/ends/workflow_loop.h"

#include <gtest/gtest.h>

#include "common/adapters/memory/memory_coordinator.h"
#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

// Has other wake-ups and steps than the store.
class OddWorkflows final : public test::FaultWorkflowStore {
 public:
  using FaultWorkflowStore::FaultWorkflowStore;
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override {
    if (hides_wake_ups) return std::vector<WakeUp>();
    auto others = FaultWorkflowStore::ScanWakeUps(segments, limit);
    if (crowd.no == 0 || !others.ok()) return others;
    // Older wake-ups than those of the store.
    std::vector<WakeUp> found(std::min(limit, crowd_size),
                              WakeUp{.id = 1, .segment = segments.front(), .run = crowd});
    for (const WakeUp& one : *others) {
      if (found.size() < limit) found.push_back(one);
    }
    return found;
  }
  Result<std::vector<StepEffect>> Step(const std::vector<StepRequest>& requests, const Fence& fence,
                                       WallTime now) override {
    if (again == 0) return FaultWorkflowStore::Step(requests, fence, now);
    --again;
    return std::vector<StepEffect>(requests.size(), {.again = true});
  }

  bool hides_wake_ups = false;
  int again = 0;             // so many steps say that more is to be done
  WorkflowRunId crowd = {};  // has many wake-ups
  size_t crowd_size = 0;
};

class WorkflowLoopTest : public test::RoomTest {
 protected:
  WorkflowLoopTest() {
    signals_.slot_freed.Connect([this] { ++freed_; });
    signals_.due.Connect([this](const ChangedWork& work) { started_.push_back(work); });
  }
  StoredJob CreateFlow(const std::string& id, OverlapPolicy policy = OverlapPolicy::kAllow) {
    JobDefinition node;
    node.type = JobType::kNoop;
    for (const char* name : {"a", "b"}) {
      if (!stores_.jobs.GetJob(JobId(name)).ok()) CreateJob(name, node);
    }
    JobDefinition flow;
    flow.type = JobType::kWorkflow;
    flow.timeout_s = 60;
    flow.overlap_policy = policy;
    flow.workflow =
        WorkflowDefinition{.nodes = {{.id = "a", .job = JobId("a")},
                                     {.id = "b", .job = JobId("b"), .after = {{.node = "a"}}}}};
    return CreateJob(id, flow);
  }
  // A run by hand that is due, as the firing loop hands it over.
  DueWorkflow Due(const StoredJob& flow) {
    const auto created = stores_.runs.ExecuteJob({.job_id = flow.job_id}, {.now = clock_.Wall()});
    EXPECT_TRUE(created.ok());
    clock_.Advance(1ms);
    const RunRow row = stores_.runs.GetRun(created->key)->row;
    const OwnedSegment* owned = table_.View()->Find(row.segment);
    EXPECT_NE(owned, nullptr);
    return {ToPendingRun(row, owned->epoch), OverlapRulesOf(flow.definition)};
  }
  RunKey Begun(const StoredJob& flow) {
    const DueWorkflow due = Due(flow);
    EXPECT_TRUE(loop_.Add(due).ok());
    Step();
    return due.run.key;
  }
  SteadyTime Step() {
    clock_.Advance(20ms);
    SampleClock();
    return loop_.Step(clock_.Steady());
  }
  void StepFor(Duration time) {
    for (Duration passed{}; passed < time; passed += 520ms) {
      clock_.Advance(500ms);
      Step();
    }
  }
  WorkflowRunView View(const RunKey& key) {
    auto view = stores_.workflows.GetWorkflowRun(key);
    EXPECT_TRUE(view.ok()) << (view.ok() ? "" : view.error().message);
    return *std::move(view);
  }
  RunState StateOf(const RunKey& key) { return stores_.runs.GetRun(key)->row.state; }
  RunRow NodeRowOf(const RunKey& key, size_t position) {
    return View(key).nodes[position].detail.row;
  }
  // Starts and ends the run of a node.
  void Finish(const RunKey& key, size_t position, RunState state = RunState::kCompleted) {
    const RunRow row = NodeRowOf(key, position);
    ClaimRequest claim{.key = row.key,
                       .segment = row.segment,
                       .job_no = row.job_no,
                       .attempt = row.attempt,
                       .def_version = row.def_version,
                       .token = {1, row.key.schedule_id.value()},
                       .executor = ExecutorId("x"),
                       .incarnation = {}};
    const Fence fence = table_.View()->FenceFor({row.segment});
    const auto claimed = stores_.firing.Claim({claim}, fence, clock_.Wall());
    ASSERT_TRUE(claimed.ok());
    ASSERT_EQ(claimed->front().verdict, ClaimVerdict::kAccepted) << Name(claimed->front().reason);
    const ResultReport report{.key = row.key,
                              .segment = row.segment,
                              .job_no = row.job_no,
                              .attempt = row.attempt,
                              .token = claim.token,
                              .executor = claim.executor,
                              .result = {.state = state, .ended = clock_.Wall()}};
    ASSERT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  }

  // Makes each step of this run fail.
  void FailSteps(WorkflowRunId run, ErrorCode code) {
    faults_.plan.Refuse<StepRequest>(
        [this, run](const StepRequest& request) {
          const bool fails = request.run.no == run.no;
          failed_steps_ += fails ? 1 : 0;
          return fails;
        },
        code);
  }

  int freed_ = 0;
  std::vector<ChangedWork> started_;
  std::vector<RunKey> begun_;
  std::vector<RunKey> not_begun_;
  OddWorkflows store_{stores_.workflows, faults_.plan};
  int failed_steps_ = 0;
  memory::MemoryEnsemble ensemble_;
  std::unique_ptr<Coordinator> coordinator_ = ensemble_.NewClient();
  UpgradeWatch upgrade_{{.coordinator = *coordinator_, .store = stores_.schema}};
  WorkflowLoop loop_{{.owner = {cluster_, table_, fences_, settings_, signals_, metrics_},
                      .store = store_,
                      .upgrade = upgrade_,
                      .begun = [this](const RunKey& key) { begun_.push_back(key); },
                      .not_begun = [this](const RunKey& key) { not_begun_.push_back(key); }}};
};

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
TEST_F(WorkflowLoopTest, ANestedRunEndsByTheTimeoutOfItsNode) {
  CreateFlow("inner");  // its own timeout is a minute
  JobDefinition outer;
  outer.type = JobType::kWorkflow;
  outer.workflow = WorkflowDefinition{
      .nodes = {{.id = "n", .job = JobId("inner"), .rules = {.timeout_s = 300}}}};
  const RunKey key = Begun(CreateJob("outer", outer));
  Step();
  const RunRow row = NodeRowOf(key, 0);
  ASSERT_TRUE(IsTime(row.due));
  DueWorkflow stale{ToPendingRun(row, EpochOf(row.segment))};
  stale.run.extras = nullptr;
  ASSERT_TRUE(loop_.Add(stale).ok());
  Step();
  EXPECT_EQ(StateOf(row.key), RunState::kPending);
  ASSERT_TRUE(loop_.Add({ToPendingRun(row, EpochOf(row.segment))}).ok());
  Step();
  ASSERT_EQ(StateOf(row.key), RunState::kRunning);
  const Duration left = View(row.key).deadline - clock_.Wall();
  EXPECT_GT(left, 290s);
  EXPECT_LE(left, 300s);
}

TEST_F(WorkflowLoopTest, ARunThatIsOfferedTwiceBeginsOnce) {
  const StoredJob flow = CreateFlow("flow");
  const DueWorkflow due = Due(flow);
  ASSERT_TRUE(loop_.Add(due).ok());
  ASSERT_TRUE(loop_.Add(due).ok());
  Step();
  EXPECT_EQ(faults_.plan.calls("Begin"), 1);
  ASSERT_TRUE(loop_.Add(due).ok());
  Step();
  EXPECT_EQ(faults_.plan.calls("Begin"), 2);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "accepted_again").value(), 1u);
  EXPECT_EQ(started_.size(), 1u);
}

TEST_F(WorkflowLoopTest, ABeginThatFailsIsCountedOnce) {
  faults_.plan.Arm("Begin", ErrorCode::kUnavailable);
  const RunKey key = Begun(CreateFlow("flow"));
  EXPECT_EQ(StateOf(key), RunState::kPending);
  EXPECT_EQ(metrics_.counter("carillon_store_errors_total", "unavailable").value(), 1u);
}

TEST_F(WorkflowLoopTest, NothingBeginsWhileTheClusterIsPaused) {
  Pause();
  const RunKey key = Begun(CreateFlow("flow"));
  EXPECT_EQ(StateOf(key), RunState::kPending);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "cluster_paused").value(), 1u);
}

TEST_F(WorkflowLoopTest, StepsGoOnWhileTheClusterIsPaused) {
  const RunKey key = Begun(CreateFlow("flow"));
  Pause();
  Finish(key, 0);
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(key, 1).due));
}

TEST_F(WorkflowLoopTest, ARunOfASegmentThatIsLostIsDropped) {
  DueWorkflow due = Due(CreateFlow("flow"));
  due.run.epoch = Epoch(due.run.epoch.value() + 1);
  ASSERT_TRUE(loop_.Add(due).ok());
  Step();
  EXPECT_EQ(faults_.plan.calls("Begin"), 0);
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

TEST_F(WorkflowLoopTest, AFireInPartsBegins) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.total = 3};
  const DueWorkflow due = Due(CreateJob("a", job));
  const DueWorkflow in_parts = ToDue(due.run, job, {});
  EXPECT_TRUE(in_parts.fans_out);
  EXPECT_FALSE(in_parts.counts_hosts);
  ASSERT_TRUE(loop_.Add(in_parts).ok());
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kRunning);
  ASSERT_EQ(started_.size(), 1u);  // the sweep finds all parts by the fire of one
  RunKey part = due.run.key;
  part.shard = 1;
  EXPECT_EQ(started_[0].run, part);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "accepted").value(), 1u);
  EXPECT_EQ(begun_, std::vector<RunKey>{due.run.key});
  EXPECT_TRUE(not_begun_.empty());
  ASSERT_TRUE(loop_.Add(in_parts).ok());
  Step();
  EXPECT_EQ(begun_.size(), 1u);
  EXPECT_EQ(not_begun_, std::vector<RunKey>{due.run.key}) << "it has begun before";
}

TEST_F(WorkflowLoopTest, AFireWhoseBeginIsNotAnsweredMayHaveBegun) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.total = 3};
  const StoredJob stored = CreateJob("a", job);
  const DueWorkflow away = ToDue(Due(stored).run, job, {});
  const DueWorkflow unanswered = ToDue(Due(stored).run, job, {});
  faults_.plan.Arm("BeginParts", test::Fault::kUnavailable);
  ASSERT_TRUE(loop_.Add(away).ok());
  Step();
  EXPECT_EQ(not_begun_, std::vector<RunKey>{away.run.key}) << "nothing was done";
  EXPECT_TRUE(begun_.empty());
  faults_.plan.Arm("BeginParts", test::Fault::kTimeoutAfter);
  ASSERT_TRUE(loop_.Add(unanswered).ok());
  Step();
  EXPECT_EQ(StateOf(unanswered.run.key), RunState::kRunning);
  EXPECT_EQ(begun_, std::vector<RunKey>{unanswered.run.key});
  EXPECT_EQ(not_begun_.size(), 1u);
}

// All executors may be known to the store by old heartbeats only.
TEST_F(WorkflowLoopTest, AYoungMemberDoesNotCountHosts) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.shards = Shards{.alive = true};
  const DueWorkflow due = Due(CreateJob("a", job));
  const DueWorkflow alive = ToDue(due.run, job, {});
  EXPECT_TRUE(alive.counts_hosts);
  ASSERT_TRUE(loop_.Add(alive).ok());
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kPending);
  EXPECT_EQ(not_begun_, std::vector<RunKey>{due.run.key});
  StepFor(21s);
  ASSERT_TRUE(loop_.Add(alive).ok());  // as the firing loop does when the sweep offers it again
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kRunning);
}

TEST_F(WorkflowLoopTest, ABroadcastToNobodyEndsAtOnce) {
  JobDefinition job;
  job.type = JobType::kNoop;
  job.broadcast = Broadcast{};
  const DueWorkflow due = Due(CreateJob("a", job));
  ASSERT_TRUE(loop_.Add(ToDue(due.run, job, {})).ok());
  Step();
  EXPECT_EQ(StateOf(due.run.key), RunState::kSkipped);
  EXPECT_EQ(metrics_.counter("carillon_runs_total", "SKIPPED").value(), 1u);
  EXPECT_EQ(freed_, 1);
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(not_begun_, std::vector<RunKey>{due.run.key});
}

}  // namespace
}  // namespace carillon::scheduler
