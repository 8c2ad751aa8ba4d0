#include "scheduler/ends/workflow_loop.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/scheduler/room_fixture.h"

namespace carillon::scheduler {
namespace {

// Fails calls about certain workflow runs, or all calls.
class PickyWorkflowStore final : public WorkflowStore {
 public:
  explicit PickyWorkflowStore(WorkflowStore& store) : store_(store) {}

  Result<BeginReply> Begin(const ClaimRequest& request, const Fence& fence, WallTime now) override {
    ++begins;
    if (away || refuses_begins) return Error{ErrorCode::kUnavailable, "away"};
    return store_.Begin(request, fence, now);
  }
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override {
    ++scans;
    if (away) return Error{ErrorCode::kUnavailable, "away"};
    if (deaf) return std::vector<WakeUp>();
    if (crowd.no == 0) return store_.ScanWakeUps(segments, limit);
    // Older wake-ups than those of the store.
    std::vector<WakeUp> found(std::min(limit, crowd_size),
                              WakeUp{.id = 1, .segment = segments.front(), .run = crowd});
    auto others = store_.ScanWakeUps(segments, limit);
    for (const WakeUp& one : *others) {
      if (found.size() < limit) found.push_back(one);
    }
    return found;
  }
  Result<std::vector<OpenWorkflowRun>> ScanOpen(const std::vector<SegmentId>& segments,
                                                uint64_t after, size_t limit) override {
    if (away) return Error{ErrorCode::kUnavailable, "away"};
    return store_.ScanOpen(segments, after, limit);
  }
  Result<StepEffect> Step(const StepRequest& request, const Fence& fence, WallTime now) override {
    ++steps[request.run.no];
    if (again > 0) {
      --again;
      return StepEffect{.again = true};
    }
    if (away) return Error{ErrorCode::kUnavailable, "away"};
    if (corrupt.contains(request.run.no)) return Error{ErrorCode::kCorrupt, "corrupt"};
    if (silent.contains(request.run.no)) return Error{ErrorCode::kUnavailable, "no answer"};
    return store_.Step(request, fence, now);
  }
  Result<WorkflowRunView> GetWorkflowRun(const RunKey& key) override {
    return store_.GetWorkflowRun(key);
  }
  Result<WorkflowRunView> SkipNode(const SkipNodeRequest& request,
                                   const WriteContext& context) override {
    return store_.SkipNode(request, context);
  }
  Result<RetryPlan> PreviewRetry(const RunKey& key, const WorkflowRetry& retry) override {
    return store_.PreviewRetry(key, retry);
  }

  int begins = 0;
  int scans = 0;
  bool away = false;
  bool refuses_begins = false;
  bool deaf = false;         // sees no wake-ups
  int again = 0;             // so many steps say that more is to be done
  WorkflowRunId crowd = {};  // has many wake-ups
  size_t crowd_size = 0;
  std::set<uint64_t> corrupt;
  std::set<uint64_t> silent;
  std::map<uint64_t, int> steps;

 private:
  WorkflowStore& store_;
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

  int freed_ = 0;
  std::vector<ChangedWork> started_;
  PickyWorkflowStore picky_{stores_.workflows};
  WorkflowLoop loop_{
      {.owner = {cluster_, table_, fences_, settings_, signals_, metrics_}, .store = picky_}};
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

TEST_F(WorkflowLoopTest, ARunThatIsOfferedTwiceBeginsOnce) {
  const StoredJob flow = CreateFlow("flow");
  const DueWorkflow due = Due(flow);
  ASSERT_TRUE(loop_.Add(due).ok());
  ASSERT_TRUE(loop_.Add(due).ok());
  Step();
  EXPECT_EQ(picky_.begins, 1);
  ASSERT_TRUE(loop_.Add(due).ok());
  Step();
  EXPECT_EQ(picky_.begins, 2);
  EXPECT_EQ(metrics_.counter("carillon_workflow_begins_total", "accepted_again").value(), 1u);
  EXPECT_EQ(started_.size(), 1u);
}

TEST_F(WorkflowLoopTest, ABeginThatFailsIsCountedOnce) {
  picky_.refuses_begins = true;
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
  EXPECT_EQ(picky_.begins, 0);
}

TEST_F(WorkflowLoopTest, TheTurnFindsWhatNoWakeUpTells) {
  const RunKey key = Begun(CreateFlow("flow"));
  picky_.deaf = true;
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
  const uint64_t bad_no = View(bad).run.no;
  picky_.corrupt = {bad_no};
  Finish(bad, 0);
  Finish(good, 0);
  loop_.Nudge();
  Step();
  EXPECT_TRUE(IsTime(NodeRowOf(good, 1).due));
  EXPECT_EQ(NodeRowOf(bad, 1).due, kBlocked);
  EXPECT_EQ(metrics_.counter("carillon_workflow_steps_failed_total").value(), 1u);
  const int before = picky_.steps[bad_no];
  StepFor(5s);
  EXPECT_EQ(picky_.steps[bad_no], before);
  picky_.corrupt.clear();
  StepFor(7s);
  EXPECT_TRUE(IsTime(NodeRowOf(bad, 1).due));
}

TEST_F(WorkflowLoopTest, ARunWhoseStepsGetNoAnswerIsSetAsideAtTheThird) {
  const StoredJob flow = CreateFlow("flow");
  const RunKey bad = Begun(flow);
  const uint64_t bad_no = View(bad).run.no;
  picky_.silent = {bad_no};
  Finish(bad, 0);
  const int before = picky_.steps[bad_no];
  StepFor(5s);
  EXPECT_EQ(picky_.steps[bad_no], before + 3);
  EXPECT_EQ(metrics_.counter("carillon_workflow_steps_failed_total").value(), 1u);
  picky_.silent.clear();
  StepFor(12s);
  EXPECT_TRUE(IsTime(NodeRowOf(bad, 1).due));
}

TEST_F(WorkflowLoopTest, AStoreThatIsAwaySetsNothingAside) {
  const RunKey key = Begun(CreateFlow("flow"));
  Finish(key, 0);
  picky_.away = true;
  loop_.Nudge();
  Step();
  picky_.away = false;
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
  picky_.crowd = View(bad).run;
  picky_.crowd_size = 5'000;
  picky_.corrupt = {picky_.crowd.no};
  Finish(good, 0);
  for (int looks = 0; looks < 6; ++looks) Step();
  EXPECT_TRUE(IsTime(NodeRowOf(good, 1).due));
}

TEST_F(WorkflowLoopTest, AStepThatIsNeverDoneGoesOnAtTheNextLook) {
  const RunKey key = Begun(CreateFlow("flow"));
  Finish(key, 0);
  picky_.again = 20;
  loop_.Nudge();
  Step();
  EXPECT_EQ(picky_.again, 12);
  picky_.deaf = true;  // the wake-ups of this run are deleted
  Step();
  Step();
  EXPECT_EQ(picky_.again, 0);
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

}  // namespace
}  // namespace carillon::scheduler
