// The contract of finally nodes, of trigger rules that count successes, and of the outputs of a
// workflow run.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "tests/contract/store/node_driver.h"

namespace carillon::test {

template <typename Factory>
class FinallyContract : public StoreContract<Factory> {
 protected:
  NodeDriver node_driver() { return NodeDriver(this->handle()); }
  // a, then b; at last f.
  static JobDefinition Flow() {
    WorkflowNode last = NodeDriver::Finally(NodeDriver::Task("f"));
    last.parameters = {{"state", std::string("{{workflow.state}}")}};
    return NodeDriver::Flow({NodeDriver::Node("a"), NodeDriver::Node("b", {{.node = "a"}}), last});
  }
  static bool Told(NodeDriver& s, const RunKey& key, const std::string& state) {
    const std::string& text = s.NodeOf(key, "f").detail.parameters_json;
    return text.find('"' + state + '"') != std::string::npos;
  }
  // Until only f is left.
  static RunKey Left(NodeDriver& s, const StoredJob& flow) {
    const RunKey key = s.Begun(flow, kT0);
    s.Finish(key, "a", kT0 + 1s);
    s.Finish(key, "b", kT0 + 2s);
    EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED, f PENDING");
    return key;
  }
};
TYPED_TEST_SUITE(FinallyContract, StoreFactories);

TYPED_TEST(FinallyContract, FinallyNodesStartWhenAllOthersHaveEnded) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  EXPECT_EQ(s.States(key), "a PENDING, b blocked, f blocked");
  s.Finish(key, "a", kT0 + 1s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b PENDING, f blocked");
  s.Finish(key, "b", kT0 + 2s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED, f PENDING");
  EXPECT_TRUE(this->Told(s, key, "completed"));
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  EXPECT_EQ(s.Finish(key, "f", kT0 + 3s).ended, RunState::kCompleted);
}

TYPED_TEST(FinallyContract, FinallyNodesRunAfterAFailure) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a FAILED, b SKIPPED upstream_failed, f PENDING");
  EXPECT_TRUE(this->Told(s, key, "failed"));
  EXPECT_EQ(s.Finish(key, "f", kT0 + 3s).ended, RunState::kFailed);
}

TYPED_TEST(FinallyContract, AFailedFinallyNodeFailsTheRun) {
  NodeDriver s = this->node_driver();
  const RunKey key = this->Left(s, s.CreateFlow(this->Flow()));
  EXPECT_EQ(s.Finish(key, "f", kT0 + 3s, RunState::kFailed).ended, RunState::kFailed);
  s.ExpectEnd(key, RunState::kFailed, reason::kNodeFailed);
  EXPECT_EQ(s.Get(key).result.error, "A node failed: f.");
}

TYPED_TEST(FinallyContract, FinallyNodesFollowOneAnother) {
  NodeDriver s = this->node_driver();
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({s.Finally(s.Task("g", {{.node = "f", .on = EdgeOn::kDone}})),
                                   s.Finally(s.Task("f")), s.Node("a")})),
              kT0);
  EXPECT_EQ(s.States(key), "g blocked, f blocked, a PENDING");
  s.Finish(key, "a", kT0 + 1s);
  EXPECT_EQ(s.States(key), "g blocked, f PENDING, a COMPLETED");
  s.Finish(key, "f", kT0 + 2s);
  EXPECT_EQ(s.States(key), "g PENDING, f COMPLETED, a COMPLETED");
  EXPECT_EQ(s.Finish(key, "g", kT0 + 3s).ended, RunState::kCompleted);
}

// ---- cancels ------------------------------------------------------------------------------------

TYPED_TEST(FinallyContract, AGracefulCancelLeavesFinallyNodes) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(key, {.now = kT0 + 2s})));
  EXPECT_EQ(s.States(key), "a RUNNING, b CANCELLED, f blocked");
  EXPECT_FALSE(s.Steps(kT0 + 3s).ended.has_value());
  EXPECT_EQ(s.States(key), "a RUNNING, b CANCELLED, f blocked");
  s.EndRun(a, RunState::kCancelled, kT0 + 4s);
  EXPECT_EQ(s.Steps(kT0 + 5s).released.size(), 1u);
  EXPECT_TRUE(this->Told(s, key, "cancelled"));
  // A second request changes nothing.
  s.v(s.runs.CancelRun(key, {.now = kT0 + 6s}));
  s.Steps(kT0 + 6s);
  EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED, f PENDING");
  EXPECT_EQ(s.Finish(key, "f", kT0 + 7s).ended, RunState::kCancelled);
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
}

TYPED_TEST(FinallyContract, AKillEndsFinallyNodes) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  const WriteContext kill{.now = kT0 + 1s, .cancel_mode = CancelMode::kKill};
  EXPECT_TRUE(s.v(s.runs.CancelRun(key, kill)));
  EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED, f CANCELLED");
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kCancelled);
}

TYPED_TEST(FinallyContract, AKillEndsFinallyNodesThatRun) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 1s}));
  s.Steps(kT0 + 1s);
  const RunRow last = s.StartNode(key, "f", kT0 + 2s);
  EXPECT_FALSE(s.RowOf(key, "f").cancel_requested.has_value());
  s.v(s.runs.CancelRun(key, {.now = kT0 + 3s, .cancel_mode = CancelMode::kKill}));
  EXPECT_EQ(s.RowOf(key, "f").cancel_requested, CancelMode::kKill);
  s.EndRun(last, RunState::kCancelled, kT0 + 4s);
  EXPECT_EQ(s.Steps(kT0 + 4s).ended, RunState::kCancelled);
}

TYPED_TEST(FinallyContract, ACancelOfTheLastPhaseLeavesItToEnd) {
  NodeDriver s = this->node_driver();
  const RunKey key = this->Left(s, s.CreateFlow(this->Flow()));
  const RunRow last = s.StartNode(key, "f", kT0 + 3s);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 4s}));
  s.Steps(kT0 + 4s);
  EXPECT_FALSE(s.RowOf(key, "f").cancel_requested.has_value());
  s.EndRun(last, RunState::kCompleted, kT0 + 5s);
  EXPECT_EQ(s.Steps(kT0 + 5s).ended, RunState::kCancelled);
}

TYPED_TEST(FinallyContract, ACancelThatConfirmsTheOverlapEndsAHeldFinallyNode) {
  NodeDriver s = this->node_driver();
  JobDefinition held = s.TaskOf("true");
  held.on_lost = OnLost::kHold;
  const RunKey key = s.Begun(
      s.CreateFlow(s.Flow({s.Task("a"), s.Finally(s.Task("f", {}, held)), s.Finally(s.Task("g"))})),
      kT0);
  s.Finish(key, "a", kT0 + 1s);
  s.Lose(s.StartNode(key, "f", kT0 + 2s), s.fence, kT0 + 3s);
  EXPECT_EQ(s.States(key), "a COMPLETED, f HELD, g PENDING");
  s.v(s.runs.CancelRun(key, {.now = kT0 + 4s}));
  EXPECT_EQ(s.States(key), "a COMPLETED, f HELD, g PENDING");
  s.v(s.runs.CancelRun(key, {.now = kT0 + 5s, .confirm_overlap = true}));
  EXPECT_EQ(s.States(key), "a COMPLETED, f CANCELLED, g PENDING");
  EXPECT_EQ(s.Finish(key, "g", kT0 + 6s).ended, RunState::kCancelled);
}

TYPED_TEST(FinallyContract, ARunThatDidNotBeginAgainHasNoFinallyNodes) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(this->Flow()), kT0);
  s.Finish(key, "a", kT0 + 1s, RunState::kFailed);
  s.Finish(key, "f", kT0 + 2s);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 3s}));
  EXPECT_EQ(s.States(key), "a blocked, b blocked, f blocked");
  s.v(s.runs.CancelRun(key, {.now = kT0 + 4s}));
  s.Steps(kT0 + 4s);
  EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED, f CANCELLED");
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
}

TYPED_TEST(FinallyContract, ANestedRunHasFinallyNodesOfItsOwn) {
  NodeDriver s = this->node_driver();
  s.CreateFlow(this->Flow(), "inner");
  WorkflowNode node = s.Node("n");
  node.job = JobId("inner");
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({node}), "outer"), kT0);
  const RunKey inner = s.RowOf(key, "n").key;
  s.ExpectBegin(inner, kT0 + 1s);
  s.Steps(kT0 + 1s);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 2s}));
  s.Steps(kT0 + 3s);
  EXPECT_EQ(s.States(inner), "a CANCELLED, b CANCELLED, f PENDING");
  EXPECT_EQ(s.StateOf(key), RunState::kRunning);
  EXPECT_EQ(s.Finish(inner, "f", kT0 + 4s).ended, RunState::kCancelled);
  s.ExpectEnd(key, RunState::kCancelled, reason::kCancelRequested);
}

TYPED_TEST(FinallyContract, AnApprovalAtTheEndIsDecidedAfterACancel) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Node("a"), s.Finally(s.Ask("ask"))})), kT0);
  s.v(s.runs.CancelRun(key, {.now = kT0 + 1s}));
  s.Steps(kT0 + 1s);
  EXPECT_EQ(s.States(key), "a CANCELLED, ask PENDING");
  EXPECT_EQ(s.Decide(key, "ask", Decision::kApprove, kT0 + 2s).ended, RunState::kCancelled);
}

// ---- times --------------------------------------------------------------------------------------

TYPED_TEST(FinallyContract, FinallyNodesRunAfterTheDeadline) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.timeout_s = 60;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  s.Rotate(kT0 + 60s);
  EXPECT_EQ(s.States(key), "a CANCELLED, b CANCELLED, f PENDING");
  EXPECT_TRUE(this->Told(s, key, "timed_out"));
  s.Steps(kT0 + 61s);
  EXPECT_EQ(s.Finish(key, "f", kT0 + 70s).ended, RunState::kTimedOut);
}

TYPED_TEST(FinallyContract, TheDeadlineIsOfTheOtherNodes) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.timeout_s = 60;
  const RunKey key = this->Left(s, s.CreateFlow(definition));
  s.Rotate(kT0 + 60s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED, f PENDING");
  EXPECT_EQ(s.Finish(key, "f", kT0 + 70s).ended, RunState::kCompleted);
}

TYPED_TEST(FinallyContract, FinallyNodesHaveATimeOfTheirOwn) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.workflow->finally_timeout_s = 30;
  const RunKey key = this->Left(s, s.CreateFlow(definition));
  const RunRow last = s.StartNode(key, "f", kT0 + 3s);
  s.SetPaused(kT0 + 10s);
  s.Rotate(kT0 + 90s);
  EXPECT_FALSE(s.RowOf(key, "f").cancel_requested.has_value());
  s.SetPaused(std::nullopt, 5s);
  s.Rotate(kT0 + 36s);
  EXPECT_FALSE(s.RowOf(key, "f").cancel_requested.has_value());
  s.Rotate(kT0 + 37s);
  EXPECT_TRUE(s.RowOf(key, "f").cancel_requested.has_value());
  s.EndRun(last, RunState::kCancelled, kT0 + 38s);
  EXPECT_EQ(s.Steps(kT0 + 38s).ended, RunState::kFailed);
}

TYPED_TEST(FinallyContract, APauseGivesThemNoMoreThanItTook) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.workflow->finally_timeout_s = 30;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  s.SetPaused(kT0 + 2s);
  s.EndRun(a, RunState::kFailed, kT0 + 50s);
  s.Steps(kT0 + 50s);
  s.SetPaused(std::nullopt, 60s);  // at kT0 + 62s
  s.StartNode(key, "f", kT0 + 63s);
  s.Rotate(kT0 + 91s);
  EXPECT_FALSE(s.RowOf(key, "f").cancel_requested.has_value());
  s.Rotate(kT0 + 92s);
  EXPECT_TRUE(s.RowOf(key, "f").cancel_requested.has_value());
}

// ---- retries ------------------------------------------------------------------------------------

TYPED_TEST(FinallyContract, ARetryRunsFinallyNodesAgain) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.workflow->finally_timeout_s = 30;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  s.Finish(key, "a", kT0 + 1s);
  s.Finish(key, "b", kT0 + 2s, RunState::kFailed);
  EXPECT_EQ(s.Finish(key, "f", kT0 + 3s).ended, RunState::kFailed);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 1h}));
  EXPECT_EQ(s.States(key), "a COMPLETED, b blocked, f blocked");
  s.ExpectBegin(key, kT0 + 1h);
  s.Steps(kT0 + 1h);
  s.Finish(key, "b", kT0 + 1h + 1s);
  // Their time begins again.
  s.Rotate(kT0 + 1h + 20s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED, f PENDING");
  EXPECT_TRUE(this->Told(s, key, "completed"));
  EXPECT_EQ(s.Finish(key, "f", kT0 + 1h + 25s).ended, RunState::kCompleted);
}

TYPED_TEST(FinallyContract, OnlyAFailedFinallyNodeIsRetried) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = this->Flow();
  definition.workflow->finally_timeout_s = 30;
  const RunKey key = this->Left(s, s.CreateFlow(definition));
  EXPECT_EQ(s.Finish(key, "f", kT0 + 3s, RunState::kFailed).ended, RunState::kFailed);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 1h}));
  EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED, f blocked");
  s.ExpectBegin(key, kT0 + 1h);
  s.Steps(kT0 + 1h);
  s.Rotate(kT0 + 1h + 20s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b COMPLETED, f PENDING");
  EXPECT_EQ(s.Finish(key, "f", kT0 + 1h + 25s).ended, RunState::kCompleted);
}

// ---- trigger rules ------------------------------------------------------------------------------

TYPED_TEST(FinallyContract, ARuleMayCountSuccesses) {
  NodeDriver s = this->node_driver();
  const auto allowed = [&](const std::string& id) {
    WorkflowNode node = s.Node(id);
    node.allow_failure = true;
    return node;
  };
  WorkflowNode two = s.Task("two", {{.node = "a"}, {.node = "b"}, {.node = "c"}});
  two.trigger_rule = {.least = 2, .succeeded = true};
  WorkflowNode all = s.Task("all", {{.node = "a"}, {.node = "b"}, {.node = "c"}});
  all.trigger_rule = {.succeeded = true};
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({allowed("a"), allowed("b"), allowed("c"), two, all})), kT0);
  s.Finish(key, "a", kT0 + 1s);
  s.Finish(key, "b", kT0 + 2s, RunState::kFailed);
  EXPECT_EQ(s.States(key), "a COMPLETED, b FAILED, c PENDING, two blocked, all blocked");
  s.Finish(key, "c", kT0 + 3s);
  EXPECT_EQ(s.States(key), "a COMPLETED, b FAILED, c COMPLETED, two PENDING, all SKIPPED too_few");
  EXPECT_EQ(s.Finish(key, "two", kT0 + 4s).ended, RunState::kFailed);
  EXPECT_EQ(s.Get(key).result.error, "A node failed: all.");
}

// ---- outputs ------------------------------------------------------------------------------------

TYPED_TEST(FinallyContract, AWorkflowRunHasOutputs) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Task("a"), s.Task("b")});
  definition.workflow->outputs = {{"rows", "{{nodes.a.outputs.rows}}"},
                                  {"more", "{{nodes.b.outputs.more}}"}};
  s.CreateFlow(definition, "inner");
  WorkflowNode node = s.Node("n");
  node.job = JobId("inner");
  WorkflowNode user = s.Task("u", {{.node = "n"}});
  user.parameters = {{"count", std::string("{{nodes.n.outputs.rows}} rows")}};
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({node, user}), "outer"), kT0);
  const RunKey inner = s.RowOf(key, "n").key;
  s.ExpectBegin(inner, kT0 + 1s);
  s.Steps(kT0 + 1s);
  s.Finish(inner, "a", kT0 + 2s, RunState::kCompleted, {{"rows", "12"}});
  s.Finish(inner, "b", kT0 + 3s);
  EXPECT_EQ(s.Get(inner).result.outputs, (Outputs{{"rows", "12"}}));
  EXPECT_EQ(s.States(key), "n COMPLETED, u PENDING");
  EXPECT_NE(s.NodeOf(key, "u").detail.parameters_json.find("12 rows"), std::string::npos);
}

TYPED_TEST(FinallyContract, OutputsThatAreTooLargeFailTheRun) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Task("a")});
  definition.workflow->outputs = {{"x", "{{nodes.a.outputs.text}}"},
                                  {"y", "{{nodes.a.outputs.text}}"}};
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  const StepEffect effect =
      s.Finish(key, "a", kT0 + 1s, RunState::kCompleted, {{"text", std::string(10'000, 'x')}});
  EXPECT_EQ(effect.ended, RunState::kFailed);
  s.ExpectEnd(key, RunState::kFailed, reason::kBadOutputs);
  EXPECT_TRUE(s.Get(key).result.outputs.empty());
}

}  // namespace carillon::test
