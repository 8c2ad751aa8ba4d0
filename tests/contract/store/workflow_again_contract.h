// The contract of runs of workflows that begin once more: which of them continue, and which
// begin anew.
#pragma once

#include "common/domain/queue/group.h"
#include "common/wire/json/job/given_parameters.h"
#include "tests/contract/store/workflow_nested_contract.h"

namespace carillon::test {

// "flow" runs a and then b every hour from kT0 on, and is created half an hour after its
// third fire.
class AgainDriver : public WorkflowDriver {
 public:
  static constexpr WallTime kNow = kT0 + 2h + 30min;

  explicit AgainDriver(StoreHandle& store) : WorkflowDriver(store) {}

  // The node a is given the parameter v of the workflow.
  JobDefinition Hourly() {
    WorkflowNode a = Node("a");
    a.parameters = {{"v", std::string("{{workflow.parameters.v}}")}};
    JobDefinition definition = Flow({a, Node("b", {{.node = "a"}})});
    definition.parameters = {{"v", std::string("one")}};
    definition.schedules = {{.kind = ScheduleKind::kRate, .every = 1h, .start = kT0}};
    return definition;
  }
  // Runs the fire of kT0 by a backfill; the run has not begun yet.
  RunKey Backfilled(const StoredJob& job, BackfillRerun rerun, const std::string& parameters = "") {
    flow = job;
    const Backfill made = v(backfills.CreateBackfill(Terms(rerun, parameters), {}, {.now = kNow}));
    number = made.number;
    v(backfills.StepBackfill({number, job.job_no, job.segment}, fence, kNow, 14 * 24h));
    return {kT0, job.schedules.at(0).schedule_id, 0};
  }
  BackfillTerms Terms(BackfillRerun rerun, const std::string& parameters = "") const {
    return {.job_id = flow.job_id,
            .schedule_id = flow.schedules.at(0).schedule_id,
            .from = kT0,
            .to = kT0 + 1h,
            .rerun = rerun,
            .parameters_json = parameters};
  }
  BackfillCounts Counts() { return v(backfills.GetBackfill(number)).counts; }
  // The backfill ends with its run, so that there may be another one.
  void EndBackfill() {
    for (int i = 0; i < 2; ++i) {
      v(backfills.StepBackfill({number, flow.job_no, flow.segment}, fence, kNow, 14 * 24h));
    }
    EXPECT_TRUE(HasEnded(v(backfills.GetBackfill(number))));
  }
  void ExpectKind(const RunKey& key, WallTime now, BeginKind kind) {
    const BeginReply reply = Begin(key, now);
    EXPECT_EQ(reply.verdict, ClaimVerdict::kAccepted) << Name(reply.reason);
    EXPECT_EQ(Name(reply.kind), Name(kind));
    EXPECT_EQ(reply.run, View(key).run);
    EXPECT_EQ(Get(key).row.flags & run_flag::kAnew, 0u);
    Steps(now);
  }
  std::string ValueOf(const RunKey& own, const std::string& node) {
    const RunRequest request = v(firing.LoadRunRequest(RowOf(own, node).key));
    return GivenToText(v(GivenFromText(request.parameters_json)));
  }
  void Completes(const RunKey& key, WallTime now) {
    for (const WorkflowNode& node : View(key).definition.nodes) Finish(key, node.id, now);
    ExpectEnd(key, RunState::kCompleted);
  }
  StoredJob ReplaceA(const JobDefinition& definition) {
    return Replace(v(jobs.GetJob(JobId("a"))), definition, kT0);
  }
  JobDefinition FailsWhenLost() {
    JobDefinition definition = Manual();
    definition.on_lost = OnLost::kFail;
    return definition;
  }

  StoredJob flow;
  uint64_t number = 0;
};

template <typename Factory>
class WorkflowAgainContract : public StoreContract<Factory> {
 protected:
  AgainDriver again_driver() { return AgainDriver(this->handle()); }
  NestedDriver nested() { return NestedDriver(this->handle()); }
};
TYPED_TEST_SUITE(WorkflowAgainContract, StoreFactories);

TYPED_TEST(WorkflowAgainContract, RetryThatOnlySkipsRunsNothing) {
  AgainDriver s = this->again_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.Finish(key, "a", kT0 + 1s);
  EXPECT_EQ(s.Finish(key, "b", kT0 + 2s, RunState::kFailed).ended, RunState::kFailed);
  const WorkflowRetry retry{.skip = {"b"}};
  EXPECT_TRUE(s.v(s.workflows.PreviewRetry(key, retry)).run_again.empty());
  s.v(s.runs.RetryRun({.key = key, .workflow = retry}, {.now = kT0 + 3s}));
  s.ExpectKind(key, kT0 + 4s, BeginKind::kContinued);
  EXPECT_EQ(s.States(key), "a COMPLETED, b SKIPPED skipped_by_hand");
  EXPECT_EQ(s.RowOf(key, "a").attempt, 1);
  EXPECT_EQ(s.RowOf(key, "b").attempt, 2);
  s.ExpectEnd(key, RunState::kCompleted);
}

TYPED_TEST(WorkflowAgainContract, RetryContinuesWithItsGraphAndParameters) {
  AgainDriver s = this->again_driver();
  const StoredJob flow = s.CreateFlow(s.Hourly());
  const RunKey key = s.Execute(flow, kT0).key;
  s.ExpectKind(key, kT0, BeginKind::kFirst);
  const WorkflowRunId run = s.View(key).run;
  EXPECT_EQ(s.Finish(key, "a", kT0 + 1s, RunState::kFailed).ended, RunState::kFailed);
  JobDefinition edited = s.Hourly();
  edited.parameters = {{"v", std::string("two")}};
  edited.workflow->nodes.push_back(s.Node("b2", {{.node = "b"}}));
  s.Create("b2", s.Manual());
  s.Replace(flow, edited, kT0 + 2s);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}));
  s.ExpectKind(key, kT0 + 4s, BeginKind::kContinued);
  EXPECT_EQ(s.View(key).run, run);
  EXPECT_EQ(s.View(key).def_version, flow.version);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  EXPECT_NE(s.ValueOf(key, "a").find("one"), std::string::npos) << s.ValueOf(key, "a");
}

TYPED_TEST(WorkflowAgainContract, RerunOfABackfillBeginsAnew) {
  AgainDriver s = this->again_driver();
  const StoredJob flow = s.Create(
      "flow",
      [&] {
        s.Create("a", s.Manual());
        s.Create("b", s.Manual());
        return s.Hourly();
      }(),
      s.kNow);
  const RunKey key = s.Backfilled(flow, BackfillRerun::kNone);
  s.ExpectKind(key, s.kNow, BeginKind::kFirst);
  const WorkflowRunId before = s.View(key).run;
  const RunKey node_before = s.RowOf(key, "a").key;
  s.Completes(key, s.kNow + 1s);
  s.EndBackfill();

  JobDefinition edited = s.Hourly();
  edited.workflow->nodes.push_back(s.Node("c", {{.node = "b"}}));
  s.Create("c", s.Manual());
  const StoredJob second = s.Replace(flow, edited, s.kNow + 2s);
  EXPECT_EQ(s.Backfilled(second, BackfillRerun::kAll, R"({"v":"two"})"), key);
  EXPECT_EQ(s.Counts().rerun, 1);
  // What ran before is there until the run begins.
  EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED");
  s.ExpectKind(key, s.kNow + 3s, BeginKind::kAnew);
  const WorkflowRunView view = s.View(key);
  EXPECT_NE(view.run, before);
  EXPECT_EQ(view.own.row.attempt, 2);
  EXPECT_EQ(view.def_version, second.version);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked, c blocked");
  EXPECT_EQ(s.RowOf(key, "a").attempt, 1);
  EXPECT_NE(s.ValueOf(key, "a").find("two"), std::string::npos) << s.ValueOf(key, "a");
  const std::vector<OpenWorkflowRun> open = s.v(s.workflows.ScanOpen(s.All(), 0, 100));
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].run, view.run);

  // The runs from before are history.
  const RunDetail old = s.Get(node_before);
  EXPECT_EQ(old.row.state, RunState::kCompleted);
  EXPECT_EQ(old.node->workflow_run, key);
  EXPECT_CODE(s.runs.RetryRun({.key = node_before}, {.now = s.kNow + 4s}), ErrorCode::kConflict);
  s.Completes(key, s.kNow + 5s);
  s.EndBackfill();
  EXPECT_EQ(s.Counts().succeeded, 1);
}

TYPED_TEST(WorkflowAgainContract, RetryOfARerunThatNeverBeganContinues) {
  AgainDriver s = this->again_driver();
  s.Create("a", s.Manual());
  s.Create("b", s.Manual());
  const StoredJob flow = s.Create("flow", s.Hourly(), s.kNow);
  const RunKey key = s.Backfilled(flow, BackfillRerun::kNone);
  s.ExpectKind(key, s.kNow, BeginKind::kFirst);
  const WorkflowRunId run = s.View(key).run;
  s.Finish(key, "a", s.kNow + 1s, RunState::kFailed);
  s.EndBackfill();
  s.Backfilled(flow, BackfillRerun::kFailed);
  s.v(s.runs.CancelRun(key, {.now = s.kNow + 2s}));
  s.Steps(s.kNow + 2s);
  s.v(s.runs.RetryRun({.key = key}, {.now = s.kNow + 3s}));
  s.ExpectKind(key, s.kNow + 4s, BeginKind::kContinued);
  EXPECT_EQ(s.View(key).run, run);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  s.Completes(key, s.kNow + 5s);
}

TYPED_TEST(WorkflowAgainContract, RerunEndsWhatARetryHadBlockedAgain) {
  AgainDriver s = this->again_driver();
  s.Create("a", s.Manual());
  s.Create("b", s.Manual());
  const StoredJob flow = s.Create("flow", s.Hourly(), s.kNow);
  const RunKey key = s.Backfilled(flow, BackfillRerun::kNone);
  s.ExpectKind(key, s.kNow, BeginKind::kFirst);
  const RunKey node = s.RowOf(key, "a").key;
  s.Finish(key, "a", s.kNow + 1s, RunState::kFailed);
  s.EndBackfill();
  s.v(s.runs.RetryRun({.key = key}, {.now = s.kNow + 2s}));
  s.v(s.runs.CancelRun(key, {.now = s.kNow + 3s}));  // no step follows
  s.Backfilled(flow, BackfillRerun::kFailed);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = s.kNow + 4s}), ErrorCode::kConflict);
  s.ExpectKind(key, s.kNow + 4s, BeginKind::kAnew);
  EXPECT_EQ(s.Get(node).row.state, RunState::kCancelled);
  EXPECT_NE(s.RowOf(key, "a").key, node);
  EXPECT_EQ(s.v(s.workflows.ScanOpen(s.All(), 0, 100)).size(), 1u);
  s.Completes(key, s.kNow + 5s);
}

TYPED_TEST(WorkflowAgainContract, NodeThatMayStillRunRefusesTheRerun) {
  AgainDriver s = this->again_driver();
  s.Create("a", s.FailsWhenLost());
  s.Create("b", s.Manual());
  const StoredJob flow = s.Create("flow", s.Hourly(), s.kNow);
  const RunKey key = s.Backfilled(flow, BackfillRerun::kNone);
  s.ExpectKind(key, s.kNow, BeginKind::kFirst);
  const RunRow lost = s.StartNode(key, "a", s.kNow + 1s);
  s.Lose(lost, s.fence, s.kNow + 2s);
  s.Steps(s.kNow + 3s);
  s.ExpectEnd(key, RunState::kFailed, reason::kNodeFailed);
  s.EndBackfill();
  for (const BackfillRerun rerun : {BackfillRerun::kFailed, BackfillRerun::kAll}) {
    const BackfillPreview preview = s.v(s.backfills.PreviewBackfill(s.Terms(rerun)));
    EXPECT_EQ(preview.refused, 1);
    EXPECT_EQ(preview.to_run, 0);
    s.Backfilled(flow, rerun);
    EXPECT_EQ(s.Counts().refused, 1);
    EXPECT_EQ(s.StateOf(key), RunState::kFailed);
    s.EndBackfill();
  }
  // Its host reports the end.
  s.Apply(s.ReportOf(lost, RunState::kFailed), s.fence, s.kNow + 4s);
  s.Backfilled(flow, BackfillRerun::kFailed);
  EXPECT_EQ(s.Counts().rerun, 1);
  s.ExpectKind(key, s.kNow + 5s, BeginKind::kAnew);
}

TYPED_TEST(WorkflowAgainContract, ReportedEndOfALostNodeAllowsTheRetry) {
  AgainDriver s = this->again_driver();
  s.Create("a", s.FailsWhenLost());
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow lost = s.StartNode(key, "a", kT0 + 1s);
  s.Lose(lost, s.fence, kT0 + 2s);
  s.Steps(kT0 + 3s);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 4s}), ErrorCode::kConflict);
  s.Apply(s.ReportOf(lost, RunState::kFailed), s.fence, kT0 + 5s);
  s.v(s.runs.RetryRun({.key = key}, {.now = kT0 + 6s}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked");
}

TYPED_TEST(WorkflowAgainContract, NodesOfABackfillAreBackfilled) {
  AgainDriver s = this->again_driver();
  s.Create("a", s.Manual());
  s.Create("b", s.Manual());
  JobDefinition after = s.Manual();
  after.schedules = {{.kind = ScheduleKind::kAfter, .upstream = "a"}};
  s.Create("after", after);
  s.CreateFlow(s.Chain(), "inner");
  JobDefinition hourly = s.Hourly();
  hourly.workflow->nodes = {s.Node("a"), s.Node("inner")};
  const StoredJob flow = s.Create("flow", hourly, s.kNow);
  const RunKey key = s.Backfilled(flow, BackfillRerun::kNone);
  s.ExpectKind(key, s.kNow, BeginKind::kFirst);
  const RunKey inner = s.RowOf(key, "inner").key;
  s.ExpectKind(inner, s.kNow, BeginKind::kFirst);
  constexpr uint32_t kExpected = run_flag::kNode | run_flag::kHasRequest | run_flag::kBackground;
  for (const RunRow& row : {s.RowOf(key, "a"), s.RowOf(key, "inner"), s.RowOf(inner, "a")}) {
    EXPECT_EQ(row.flags, kExpected) << EncodeRunId(row.key);
    RunRow live = row;
    live.flags &= ~run_flag::kBackground;
    EXPECT_GT(PlaceInGroup(row).rank, PlaceInGroup(live).rank);
  }
  s.EndRun(s.StartNode(key, "a", s.kNow + 1s), RunState::kCompleted, s.kNow + 2s);
  s.EndRun(s.StartNode(inner, "a", s.kNow + 1s), RunState::kCompleted, s.kNow + 2s);
  EXPECT_TRUE(s.v(s.completions.ScanCompletions(s.All(), 100)).empty());
}

TYPED_TEST(WorkflowAgainContract, RetentionDeletesTheNodesFromBefore) {
  AgainDriver s = this->again_driver();
  ASSERT_OK(s.housekeeping.Maintain(kT0, {.runs = 14 * 24h}));
  s.Create("a", s.Manual());
  s.Create("b", s.Manual());
  JobDefinition brief = s.Hourly();
  brief.retention_days = 1;
  const StoredJob flow = s.Create("flow", brief, s.kNow);
  const RunKey key = s.Backfilled(flow, BackfillRerun::kNone);
  s.ExpectKind(key, s.kNow, BeginKind::kFirst);
  const RunKey before = s.RowOf(key, "a").key;
  s.Completes(key, s.kNow + 1s);
  s.EndBackfill();
  s.Backfilled(flow, BackfillRerun::kAll);
  s.ExpectKind(key, s.kNow + 2s, BeginKind::kAnew);
  const RunKey node = s.RowOf(key, "a").key;
  s.Completes(key, s.kNow + 3s);
  for (int i = 0; i < 3; ++i) ASSERT_OK(s.housekeeping.Maintain(kT0 + 4 * 24h, {.runs = 14 * 24h}));
  EXPECT_CODE(s.workflows.GetWorkflowRun(key), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(node), ErrorCode::kNotFound);
  EXPECT_CODE(s.runs.GetRun(before), ErrorCode::kNotFound);
}

TYPED_TEST(WorkflowAgainContract, NestedRunBehindANodeThatRunsAgainBeginsAnew) {
  AgainDriver s = this->again_driver();
  WorkflowNode last = s.Node("inner", {{.node = "a"}});
  last.parameters = {{"v", std::string("{{nodes.a.outputs.v}}")}};
  WorkflowNode inner_b = s.Node("c");
  inner_b.parameters = {{"v", std::string("{{workflow.parameters.v}}")}};
  JobDefinition inner_flow = s.Flow({inner_b, s.Node("d", {{.node = "c"}})});
  inner_flow.parameters = {{"v", std::string("none")}};
  s.CreateFlow(inner_flow, "inner");
  const RunKey outer = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), last})), kT0);
  s.Finish(outer, "a", kT0 + 1s, RunState::kCompleted, {{"v", "old"}});
  const RunKey inner = s.RowOf(outer, "inner").key;
  s.ExpectKind(inner, kT0 + 2s, BeginKind::kFirst);
  const WorkflowRunId before = s.View(inner).run;
  EXPECT_NE(s.ValueOf(inner, "c").find("old"), std::string::npos);
  s.Finish(inner, "c", kT0 + 3s);
  s.Finish(inner, "d", kT0 + 4s, RunState::kFailed);
  s.ExpectEnd(outer, RunState::kFailed, reason::kNodeFailed);

  s.v(s.runs.RetryRun({.key = outer, .workflow = {.from = RetryFrom::kNodes, .nodes = {"a"}}},
                      {.now = kT0 + 5s}));
  s.ExpectKind(outer, kT0 + 6s, BeginKind::kContinued);
  s.Finish(outer, "a", kT0 + 7s, RunState::kCompleted, {{"v", "new"}});
  s.ExpectKind(inner, kT0 + 8s, BeginKind::kAnew);
  EXPECT_NE(s.View(inner).run, before);
  EXPECT_EQ(s.States(inner), "c PENDING, d blocked");
  EXPECT_NE(s.ValueOf(inner, "c").find("new"), std::string::npos) << s.ValueOf(inner, "c");
  s.Completes(inner, kT0 + 9s);
  s.ExpectEnd(outer, RunState::kCompleted);
}

TYPED_TEST(WorkflowAgainContract, NestedRunThatContinuesIsCancelledWithTheOuterOne) {
  NestedDriver s = this->nested();
  s.FailByA();
  s.v(s.runs.RetryRun({.key = s.outer}, {.now = kT0 + 10s}));
  EXPECT_EQ(s.States(s.inner), "a blocked, b blocked");
  s.v(s.runs.CancelRun(s.outer, {.now = kT0 + 11s}));
  s.Rotate(kT0 + 12s);
  s.Rotate(kT0 + 12s);
  s.Steps(kT0 + 12s);
  EXPECT_EQ(s.States(s.outer), "inner CANCELLED, last CANCELLED");
  EXPECT_EQ(s.States(s.inner), "a CANCELLED, b CANCELLED");
  EXPECT_TRUE(s.v(s.workflows.ScanOpen(s.All(), 0, 100)).empty());
}

TYPED_TEST(WorkflowAgainContract, RetryOfARunThatMayNotOverlapWaits) {
  AgainDriver s = this->again_driver();
  JobDefinition definition = s.Chain();
  definition.overlap_policy = OverlapPolicy::kSkip;
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey failed = s.Begun(flow, kT0);
  s.Finish(failed, "a", kT0 + 1s, RunState::kFailed);
  const RunKey active = s.Begun(flow, kT0 + 2s);
  s.v(s.runs.RetryRun({.key = failed}, {.now = kT0 + 3s}));
  EXPECT_EQ(s.Begin(failed, kT0 + 4s).verdict, ClaimVerdict::kEnqueued);
  EXPECT_EQ(s.States(failed), "a blocked, b blocked");
  s.Completes(active, kT0 + 5s);
  const AdmissionEffect admitted =
      s.v(s.queues.Admit({flow.job_no, flow.segment}, s.fence, kT0 + 6s));
  EXPECT_EQ(s.KeysOf(admitted.admitted), std::vector<RunKey>{failed});
  s.ExpectKind(failed, kT0 + 7s, BeginKind::kContinued);
  s.Completes(failed, kT0 + 8s);
}

TYPED_TEST(WorkflowAgainContract, NodeOfAPausedJobCanBeSkipped) {
  AgainDriver s = this->again_driver();
  s.Pause(s.Create("a", s.Manual()), kT0);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0 + 1s);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked");
  s.v(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 2s}));
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, b PENDING");
  EXPECT_EQ(s.Finish(key, "b", kT0 + 4s).ended, RunState::kCompleted);
}

TYPED_TEST(WorkflowAgainContract, NodeInItsBackOffCanBeSkippedOrRunNow) {
  AgainDriver s = this->again_driver();
  JobDefinition slow = s.Manual();
  slow.retry_count = 3;
  slow.retry_interval_s = 3600;
  s.Create("a", slow);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.EndRun(s.StartNode(key, "a", kT0 + 1s), RunState::kFailed, kT0 + 2s);
  EXPECT_TRUE(s.Pending(kT0 + 3s).empty());
  const RunKey a = s.RowOf(key, "a").key;
  EXPECT_EQ(s.v(s.workflows.PreviewRetry(a, {})).run_again, std::vector<std::string>{"a"});
  s.v(s.runs.RetryRun({.key = a}, {.now = kT0 + 3s}));
  EXPECT_EQ(s.RowOf(key, "a").due, kT0 + 3s);
  EXPECT_EQ(s.RowOf(key, "a").attempt, 2);
  s.EndRun(s.StartNode(key, "a", kT0 + 4s), RunState::kFailed, kT0 + 5s);
  s.v(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 6s}));
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, b PENDING");
  EXPECT_EQ(s.Get(a).attempts.size(), 2u);
  EXPECT_TRUE(s.v(s.runs.ListDeadLetters({})).empty());
}

TYPED_TEST(WorkflowAgainContract, QueuedNodeThatIsSkippedLeavesTheQueue) {
  AgainDriver s = this->again_driver();
  JobDefinition single = s.Manual();
  single.overlap_policy = OverlapPolicy::kQueueAll;
  const StoredJob a = s.Create("a", single);
  const RunRow holder = s.Execute(a, kT0);
  EXPECT_EQ(s.Claim(s.ClaimOf(holder, 1, OverlapPolicy::kQueueAll), s.fence, kT0).verdict,
            ClaimVerdict::kAccepted);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0 + 1s);
  const ClaimRequest claim = s.ClaimOf(s.RowOf(key, "a"), 2, OverlapPolicy::kQueueAll);
  EXPECT_EQ(s.Claim(claim, s.fence, kT0 + 2s).verdict, ClaimVerdict::kEnqueued);
  s.v(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 3s}));
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, b PENDING");
  EXPECT_TRUE(s.v(s.queues.Admit({a.job_no, a.segment}, s.fence, kT0 + 4s)).admitted.empty());
  EXPECT_EQ(s.Claim(claim, s.fence, kT0 + 5s).verdict, ClaimVerdict::kRefused);
}

TYPED_TEST(WorkflowAgainContract, HeldNodeCanBeSkippedOnceItsProcessIsDead) {
  AgainDriver s = this->again_driver();
  JobDefinition holds = s.Manual();
  holds.on_lost = OnLost::kHold;
  s.Create("a", holds);
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  s.Lose(s.StartNode(key, "a", kT0 + 1s), s.fence, kT0 + 2s);
  EXPECT_EQ(s.States(key), "a HELD, b blocked");
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 3s}),
              ErrorCode::kConflict);
  EXPECT_CODE(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}), ErrorCode::kConflict);
  s.v(s.workflows.SkipNode({.key = key, .node = "a"}, {.now = kT0 + 4s, .confirm_overlap = true}));
  s.Steps(kT0 + 4s);
  EXPECT_EQ(s.States(key), "a SKIPPED skipped_by_hand, b PENDING");
}

TYPED_TEST(WorkflowAgainContract, RetryAndSkipAreRefusedWhileTheRunTimesOut) {
  AgainDriver s = this->again_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Chain()), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  s.Rotate(kT0 + 3600s);
  EXPECT_EQ(s.States(key), "a RUNNING, b CANCELLED");
  EXPECT_CODE(s.runs.RetryRun({.key = s.RowOf(key, "b").key}, {.now = kT0 + 3601s}),
              ErrorCode::kConflict);
  EXPECT_CODE(s.workflows.SkipNode({.key = key, .node = "b"}, {.now = kT0 + 3601s}),
              ErrorCode::kConflict);
  EXPECT_EQ(s.States(key), "a RUNNING, b CANCELLED");
  s.EndRun(a, RunState::kCancelled, kT0 + 3602s);
  s.Steps(kT0 + 3602s);
  s.ExpectEnd(key, RunState::kTimedOut, reason::kTimeout);
}

}  // namespace carillon::test
