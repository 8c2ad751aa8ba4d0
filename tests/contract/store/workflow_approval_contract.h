// The contract of nodes without a process: approvals, which a person ends, and waits for a time.
#pragma once

#include "common/domain/workflow/node_rules.h"
#include "tests/contract/store/node_driver.h"

namespace carillon::test {

// ---- approvals ----------------------------------------------------------------------------------

TYPED_TEST(NodeContract, AnApprovalWaitsForAPerson) {
  NodeDriver s = this->node_driver();
  WorkflowNode ask = s.Ask("ask", {{.node = "a"}}, {.message = "Send {{nodes.a.outputs.rows}}?"});
  const StoredJob flow = s.CreateFlow(s.Flow({s.Node("a"), ask, s.Task("b", {{.node = "ask"}})}));
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_EQ(s.States(key), "a PENDING, ask blocked, b blocked");
  EXPECT_EQ(s.RowOf(key, "ask").job_no, TaskJobOf(flow.job_no));
  s.Finish(key, "a", kT0 + 1s, RunState::kCompleted, {{"rows", "12"}});

  const WorkflowNodeRun node = s.NodeOf(key, "ask");
  EXPECT_EQ(node.detail.row.state, RunState::kPending);
  EXPECT_EQ(node.detail.row.due, kUndecided);
  EXPECT_EQ(node.detail.until, WallTime{});
  EXPECT_EQ(node.detail.result.started, kT0 + 1s);
  EXPECT_NE(node.detail.parameters_json.find("Send 12?"), std::string::npos);
  EXPECT_EQ(node.detail.job_type, JobType::kNoop);
  EXPECT_EQ(node.detail.row.rules, "type=approval");
  EXPECT_TRUE(node.row.opened);
  EXPECT_FALSE(node.row.blocked);
  // No executor is asked.
  EXPECT_TRUE(s.Pending(kNever).empty());
  EXPECT_EQ(s.Claim(s.ClaimOf(node.detail.row, 77), s.fence, kT0 + 2s).verdict,
            ClaimVerdict::kRefused);
  EXPECT_EQ(s.Opened(kUndecided, kT0 + 2s), std::vector<RunKey>{node.detail.row.key});
  EXPECT_TRUE(s.Opened(kTimed, kT0 + 2s).empty());

  const auto decided =
      s.v(s.TryDecide(key, "ask", Decision::kApprove, kT0 + 9s, {"u1", "anna"}, "looks right"));
  EXPECT_EQ(decided.nodes[1].row.state, RunState::kCompleted);
  EXPECT_EQ(s.WakeUps().size(), 1u);
  const RunDetail done = s.Get(node.detail.row.key);
  EXPECT_EQ(done.row.state, RunState::kCompleted);
  EXPECT_EQ(done.result.started, kT0 + 1s);
  EXPECT_EQ(done.result.ended, kT0 + 9s);
  EXPECT_EQ(done.result.outputs,
            (Outputs{{"decision", "approved"}, {"by", "anna"}, {"reason", "looks right"}}));
  EXPECT_TRUE(s.Opened(kUndecided, kT0 + 9s).empty());
  s.Steps(kT0 + 10s);
  EXPECT_EQ(s.States(key), "a COMPLETED, ask COMPLETED, b PENDING");
  EXPECT_EQ(s.Finish(key, "b", kT0 + 11s).ended, RunState::kCompleted);
}

TYPED_TEST(NodeContract, ARefusalFailsTheRun) {
  NodeDriver s = this->node_driver();
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({s.Ask("ask"), s.Node("b", {{.node = "ask"}})})), kT0);
  EXPECT_OK(
      s.TryDecide(key, "ask", Decision::kRefuse, kT0 + 1s, {"u1", "anna"}, "the date is wrong"));
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kFailed);
  const RunDetail ask = s.NodeOf(key, "ask").detail;
  EXPECT_EQ(ask.row.state, RunState::kFailed);
  EXPECT_EQ(ask.result.reason, reason::kRefused);
  EXPECT_EQ(ask.result.error, "refused by anna: the date is wrong");
  EXPECT_EQ(s.States(key), "ask FAILED, b SKIPPED upstream_failed");
  ASSERT_EQ(s.v(s.runs.ListDeadLetters({})).size(), 1u);
  EXPECT_EQ(s.v(s.runs.ListDeadLetters({}))[0].key, key);
}

TYPED_TEST(NodeContract, OnlyAnOpenApprovalIsDecided) {
  NodeDriver s = this->node_driver();
  const StoredJob flow = s.CreateFlow(s.Flow(
      {s.Ask("ask"), s.Ask("later", {{.node = "ask"}}), s.Node("n"), s.Wait("w", {.for_s = 60})}));
  const RunKey own = s.Execute(flow, kT0).key;
  EXPECT_CODE(s.TryDecide(own, "ask", Decision::kApprove, kT0), ErrorCode::kNotFound);
  s.ExpectBegin(own, kT0);
  EXPECT_CODE(s.TryDecide(own, "ask", Decision::kApprove, kT0), ErrorCode::kConflict);
  s.Steps(kT0);
  for (const char* node : {"later", "n", "w"}) {
    EXPECT_CODE(s.TryDecide(own, node, Decision::kApprove, kT0 + 1s), ErrorCode::kConflict);
  }
  EXPECT_OK(s.TryDecide(own, "ask", Decision::kApprove, kT0 + 1s));
  EXPECT_CODE(s.TryDecide(own, "ask", Decision::kRefuse, kT0 + 2s), ErrorCode::kConflict);
  s.Steps(kT0 + 2s);
  EXPECT_TRUE(s.v(s.runs.CancelRun(own, {.now = kT0 + 3s})));
  EXPECT_CODE(s.TryDecide(own, "later", Decision::kApprove, kT0 + 4s), ErrorCode::kConflict);
  EXPECT_EQ(s.States(own), "ask COMPLETED, later CANCELLED, n CANCELLED, w CANCELLED");
  EXPECT_EQ(s.Steps(kT0 + 4s).ended, RunState::kCancelled);
}

TYPED_TEST(NodeContract, AnApprovalNamesWhoMayEndIt) {
  NodeDriver s = this->node_driver();
  const StoredJob flow = s.CreateFlow(s.Flow({s.Ask("ask", {}, {.by = {"u1", "u2"}})}));
  const RunKey key = s.Begun(flow, kT0);
  const Decider stranger{"u3", "carl"}, nobody{"", "token"}, bert{"u2", "bert"};
  for (const Decider& who : {stranger, nobody}) {
    EXPECT_CODE(s.TryDecide(key, "ask", Decision::kApprove, kT0 + 1s, who), ErrorCode::kDenied);
    EXPECT_CODE(
        s.workflows.SkipNode({.key = key, .node = "ask"}, {.now = kT0 + 1s, .decider = who}),
        ErrorCode::kDenied);
  }
  EXPECT_EQ(s.RowOf(key, "ask").due, kUndecided);
  EXPECT_OK(s.TryDecide(key, "ask", Decision::kRefuse, kT0 + 2s, bert));
  // What does not wait is said to everybody alike.
  EXPECT_CODE(s.TryDecide(key, "ask", Decision::kRefuse, kT0 + 2s, stranger), ErrorCode::kConflict);
  s.Steps(kT0 + 2s);
  const RetryRequest skip{.key = key, .workflow = {.skip = {"ask"}}};
  EXPECT_CODE(s.runs.RetryRun(skip, {.now = kT0 + 3s, .decider = stranger}), ErrorCode::kDenied);
  EXPECT_EQ(s.States(key), "ask FAILED");
  EXPECT_OK(s.runs.RetryRun(skip, {.now = kT0 + 4s, .decider = bert}));
  EXPECT_EQ(s.States(key), "ask SKIPPED skipped_by_hand");
  // Whoever may retry the run may have it ask again.
  const RunKey other = s.Begun(flow, kT0 + 5s);
  EXPECT_OK(s.TryDecide(other, "ask", Decision::kRefuse, kT0 + 6s, bert));
  s.Steps(kT0 + 6s);
  EXPECT_OK(s.runs.RetryRun({.key = other}, {.now = kT0 + 7s, .decider = stranger}));
  EXPECT_EQ(s.States(other), "ask blocked");
}

TYPED_TEST(NodeContract, ASkipEndsAnOpenApproval) {
  NodeDriver s = this->node_driver();
  const RunKey key =
      s.Begun(s.CreateFlow(s.Flow({s.Ask("ask"), s.Task("b", {{.node = "ask"}})})), kT0);
  EXPECT_OK(s.workflows.SkipNode({.key = key, .node = "ask"}, {.now = kT0 + 1s}));
  s.Steps(kT0 + 1s);
  EXPECT_EQ(s.States(key), "ask SKIPPED skipped_by_hand, b PENDING");
  EXPECT_TRUE(s.Opened(kUndecided, kT0 + 2s).empty());
}

TYPED_TEST(NodeContract, NobodyElseGoesPastAnApproval) {
  NodeDriver s = this->node_driver();
  const StoredJob flow =
      s.CreateFlow(s.Flow({s.Ask("ask", {}, {.by = {"u1"}}), s.Task("b", {{.node = "ask"}}),
                           s.Task("c", {{.node = "b"}}), s.Task("beside")}));
  const RunKey key = s.Begun(flow, kT0);
  const Decider stranger{"u3", "carl"}, anna{"u1", "anna"};
  const auto skip = [&](const std::string& node, WallTime now, const Decider& who) {
    return s.workflows.SkipNode({.key = key, .node = node}, {.now = now, .decider = who});
  };
  for (const std::string node : {"b", "c"}) {
    EXPECT_CODE(skip(node, kT0 + 1s, stranger), ErrorCode::kDenied);
  }
  EXPECT_OK(s.TryDecide(key, "ask", Decision::kApprove, kT0 + 2s, anna));
  EXPECT_OK(skip("c", kT0 + 3s, stranger));  // who may decide has approved
  const RunKey other = s.Begun(flow, kT0 + 5s);
  EXPECT_OK(s.workflows.SkipNode({.key = other, .node = "b"}, {.now = kT0 + 6s, .decider = anna}));
}

TYPED_TEST(NodeContract, ACancelOfAnOpenApprovalIsItsFailure) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Ask("ask")})), kT0);
  EXPECT_TRUE(s.v(s.runs.CancelRun(s.RowOf(key, "ask").key, {.now = kT0 + 1s})));
  EXPECT_EQ(s.Steps(kT0 + 2s).ended, RunState::kFailed);
  EXPECT_EQ(s.States(key), "ask CANCELLED");
}

TYPED_TEST(NodeContract, AnOpenApprovalIsNotRetried) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Ask("ask")})), kT0);
  const RunKey node = s.RowOf(key, "ask").key;
  EXPECT_CODE(s.runs.RetryRun({.key = node}, {.now = kT0 + 1s}), ErrorCode::kConflict);
  EXPECT_EQ(s.Get(node).row.due, kUndecided);
}

TYPED_TEST(NodeContract, ApprovalsExpire) {
  NodeDriver s = this->node_driver();
  const StoredJob flow =
      s.CreateFlow(s.Flow({s.Ask("no", {}, {.timeout_s = 60}),
                           s.Ask("yes", {}, {.timeout_s = 90, .approves_on_timeout = true})}));
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_EQ(s.NodeOf(key, "no").detail.until, kT0 + 60s);
  EXPECT_EQ(s.NodeOf(key, "yes").row.until, kT0 + 90s);
  s.Rotate(kT0 + 59s);
  EXPECT_EQ(s.States(key), "no PENDING, yes PENDING");
  s.Rotate(kT0 + 60s);
  EXPECT_EQ(s.States(key), "no FAILED, yes PENDING");
  const RunDetail no = s.NodeOf(key, "no").detail;
  EXPECT_EQ(no.result.reason, reason::kNotDecided);
  EXPECT_EQ(no.result.ended, kT0 + 60s);
  EXPECT_EQ(no.result.outputs.at("decision"), "timeout");
  EXPECT_CODE(s.TryDecide(key, "no", Decision::kApprove, kT0 + 61s), ErrorCode::kConflict);
  EXPECT_EQ(s.Rotate(kT0 + 95s).ended, RunState::kFailed);
  EXPECT_EQ(s.States(key), "no FAILED, yes COMPLETED");
}

TYPED_TEST(NodeContract, NoApprovalExpiresDuringAPause) {
  NodeDriver s = this->node_driver();
  const StoredJob flow =
      s.CreateFlow(s.Flow({s.Ask("ask", {}, {.timeout_s = 60}), s.Wait("wait", {.for_s = 60})}));
  const RunKey key = s.Begun(flow, kT0);
  s.SetPaused(kT0 + 20s);
  s.Rotate(kT0 + 70s);
  EXPECT_EQ(s.States(key), "ask PENDING, wait COMPLETED");
  s.SetPaused(std::nullopt, 60s);
  EXPECT_EQ(s.NodeOf(key, "ask").detail.until, kT0 + 120s);
  s.Rotate(kT0 + 119s);
  EXPECT_EQ(s.States(key), "ask PENDING, wait COMPLETED");
  s.Rotate(kT0 + 120s);
  EXPECT_EQ(s.States(key), "ask FAILED, wait COMPLETED");
}

TYPED_TEST(NodeContract, AnApprovalThatOpensInAPauseGetsTheRestOfIt) {
  NodeDriver s = this->node_driver();
  const StoredJob flow =
      s.CreateFlow(s.Flow({s.Task("a"), s.Ask("ask", {{.node = "a"}}, {.timeout_s = 60})}));
  const RunKey key = s.Begun(flow, kT0);
  const RunRow a = s.StartNode(key, "a", kT0 + 1s);
  s.SetPaused(kT0 + 10s);
  s.EndRun(a, RunState::kCompleted, kT0 + 50s);
  s.Steps(kT0 + 50s);
  EXPECT_EQ(s.NodeOf(key, "ask").detail.until, kT0 + 110s);
  s.SetPaused(std::nullopt, 60s);  // at kT0 + 70s
  EXPECT_EQ(s.NodeOf(key, "ask").detail.until, kT0 + 130s);
}

TYPED_TEST(NodeContract, AWaitForATimeGoesOnDuringAPause) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Wait("wait", {.for_s = 600})})), kT0);
  s.SetPaused(kT0 + 20s);
  s.SetPaused(std::nullopt, 60s);
  EXPECT_EQ(s.NodeOf(key, "wait").detail.until, kT0 + 600s);
}

TYPED_TEST(NodeContract, ARetryAsksAgain) {
  NodeDriver s = this->node_driver();
  const StoredJob flow = s.CreateFlow(s.Flow({s.Ask("ask", {}, {.timeout_s = 60})}));
  const RunKey key = s.Begun(flow, kT0);
  EXPECT_EQ(s.Decide(key, "ask", Decision::kRefuse, kT0 + 1s).ended, RunState::kFailed);
  EXPECT_OK(s.runs.RetryRun({.key = key}, {.now = kT0 + 100s}));
  EXPECT_EQ(s.States(key), "ask blocked");
  EXPECT_EQ(s.NodeOf(key, "ask").detail.until, WallTime{});
  s.ExpectBegin(key, kT0 + 100s);
  s.Steps(kT0 + 100s);
  EXPECT_EQ(s.RowOf(key, "ask").due, kUndecided);
  EXPECT_EQ(s.RowOf(key, "ask").attempt, 2);
  EXPECT_EQ(s.NodeOf(key, "ask").detail.until, kT0 + 160s);
  EXPECT_EQ(s.Decide(key, "ask", Decision::kApprove, kT0 + 101s).ended, RunState::kCompleted);
  EXPECT_EQ(s.Notices(NoticeKind::kApproval).size(), 2u);
}

TYPED_TEST(NodeContract, OpeningIsNotifiedByTheRulesOfTheWorkflow) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Ask("ask"), s.Wait("wait", {.for_s = 60})});
  definition.notify.mail_to = {"ops@example.com"};
  const StoredJob flow = s.CreateFlow(definition);
  const RunKey key = s.Begun(flow, kT0);
  s.Rotate(kT0 + 1s);
  const std::vector<OpenNotice> notices = s.Notices(NoticeKind::kApproval);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].notice.key, s.RowOf(key, "ask").key);
  EXPECT_EQ(notices[0].notice.job_no, flow.job_no);
  EXPECT_EQ(notices[0].notice.segment, flow.segment);
  EXPECT_EQ(notices[0].notice.attempt, 1);
  EXPECT_EQ(notices[0].notice.created, kT0);
  EXPECT_EQ(notices[0].job_id, flow.job_id);
  EXPECT_EQ(notices[0].rules.mail_to, definition.notify.mail_to);
  const auto run = s.v(s.notices.FindRun(notices[0].notice));
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->node->node, "ask");
}

TYPED_TEST(NodeContract, OpenNodesTakeNoPlaceOfMaxParallel) {
  NodeDriver s = this->node_driver();
  std::vector<WorkflowNode> nodes;
  for (int i = 0; i < 40; ++i) nodes.push_back(s.Ask("ask" + std::to_string(i)));
  nodes.push_back(s.Task("a"));
  nodes.push_back(s.Task("b"));
  JobDefinition definition = s.Flow(nodes);
  definition.workflow->max_parallel = 1;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  EXPECT_EQ(s.Opened(kUndecided, kT0).size(), 40u);
  EXPECT_EQ(s.RowOf(key, "a").due, kT0);
  EXPECT_EQ(s.RowOf(key, "b").due, kBlocked);
}

TYPED_TEST(NodeContract, OpenNodesAreListedByTheirWorkflow) {
  NodeDriver s = this->node_driver();
  const StoredJob one = s.CreateFlow(s.Flow({s.Ask("ask"), s.Wait("w", {.for_s = 60})}), "one");
  const StoredJob two = s.CreateFlow(s.Flow({s.Ask("ask")}), "two");
  const RunKey first = s.Begun(one, kT0);
  s.Begun(two, kT0 + 1s);
  const WallTime now = kT0 + 2s;
  EXPECT_EQ(s.Opened(kUndecided, now).size(), 2u);
  EXPECT_EQ(s.Opened(kTimed, now), std::vector<RunKey>{s.RowOf(first, "w").key});
  EXPECT_EQ(s.Listed({.job_id = one.job_id, .opened = kUndecided}, now),
            std::vector<RunKey>{s.RowOf(first, "ask").key});
}

TYPED_TEST(NodeContract, AMessageThatCannotBeRenderedSkipsTheApproval) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(
      s.CreateFlow(s.Flow(
          {s.Node("a"), s.Ask("ask", {{.node = "a"}}, {.message = "{{nodes.a.outputs.rows}}"})})),
      kT0);
  s.Finish(key, "a", kT0 + 1s);
  EXPECT_EQ(s.States(key), "a COMPLETED, ask SKIPPED bad_parameters");
  EXPECT_EQ(s.StateOf(key), RunState::kFailed);
}

TYPED_TEST(NodeContract, ADecisionIsAnsweredOnce) {
  NodeDriver s = this->node_driver();
  const RunKey key = s.Begun(s.CreateFlow(s.Flow({s.Ask("ask"), s.Ask("more")})), kT0);
  const auto decide = [&](const std::string& node) {
    EXPECT_OK(s.idempotency.BeginRequest("anna", "k", "body", kT0));
    DecideNodeRequest request{.key = key, .node = node};
    request.keyed = KeyedAnswer<WorkflowRunView>{"anna", "k", [](const WorkflowRunView&) {
                                                   return StoredAnswer{200, "done", "", ""};
                                                 }};
    return s.workflows.DecideNode(request, {.now = kT0 + 1s});
  };
  EXPECT_OK(decide("ask"));
  EXPECT_CODE(decide("more"), ErrorCode::kConflict);
  EXPECT_EQ(s.States(key), "ask COMPLETED, more PENDING");
}

// ---- waits --------------------------------------------------------------------------------------

TYPED_TEST(NodeContract, AWaitEndsAtItsTime) {
  NodeDriver s = this->node_driver();
  JobDefinition definition =
      s.Flow({s.Wait("w", {.until = "06:30"}), s.Task("b", {{.node = "w"}})});
  definition.timeout_s = 86'400;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  const RunDetail open = s.NodeOf(key, "w").detail;
  EXPECT_EQ(open.row.due, kTimed);
  EXPECT_EQ(open.until, kT0 + 6h + 30min);
  EXPECT_EQ(open.row.rules, "type=wait");
  EXPECT_TRUE(s.Notices(NoticeKind::kApproval).empty());
  EXPECT_TRUE(s.Pending(kNever).empty());
  s.Rotate(open.until - 1s);
  EXPECT_EQ(s.States(key), "w PENDING, b blocked");
  s.Rotate(open.until);
  EXPECT_EQ(s.States(key), "w COMPLETED, b PENDING");
  const RunDetail done = s.NodeOf(key, "w").detail;
  EXPECT_EQ(done.result.started, kT0);
  EXPECT_EQ(done.result.ended, open.until);
  EXPECT_EQ(done.result.reason, "");
}

TYPED_TEST(NodeContract, AWaitThatIsOverEndsWhenItOpens) {
  NodeDriver s = this->node_driver();
  const StoredJob flow =
      s.CreateFlow(s.Flow({s.Node("a"), s.Wait("w", {.until = "00:30"}, {{.node = "a"}}),
                           s.Task("b", {{.node = "w"}})}));
  const RunKey key = s.Begun(flow, kT0);
  const StepEffect effect = s.Finish(key, "a", kT0 + 50min);
  EXPECT_EQ(s.States(key), "a COMPLETED, w COMPLETED, b PENDING");
  EXPECT_EQ(effect.released.size(), 1u);
  EXPECT_EQ(s.NodeOf(key, "w").detail.result.ended, kT0 + 50min);
}

TYPED_TEST(NodeContract, AWaitTakesTheZoneOfTheWorkflow) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Wait("w", {.until = "06:30", .day = 1})});
  definition.time_zone = "Europe/Zurich";
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  EXPECT_EQ(s.NodeOf(key, "w").detail.until, kT0 + 24h + 5h + 30min);
}

TYPED_TEST(NodeContract, AWaitTakesItsTimeFromAParameter) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Wait("w", {.until = "{{workflow.parameters.at}}"})});
  definition.parameters = {{"at", std::string("04:00")}};
  const StoredJob flow = s.CreateFlow(definition);
  EXPECT_EQ(s.NodeOf(s.Begun(flow, kT0), "w").detail.until, kT0 + 4h);
  const RunKey bad =
      s.v(s.runs.ExecuteJob({.job_id = flow.job_id, .parameters_json = R"({"at":"soon"})"},
                            {.now = kT0 + 1s}))
          .key;
  s.ExpectBegin(bad, kT0 + 1s);
  EXPECT_EQ(s.Steps(kT0 + 1s).ended, RunState::kFailed);
  EXPECT_EQ(s.States(bad), "w SKIPPED bad_parameters");
  EXPECT_NE(s.NodeOf(bad, "w").detail.result.error, "");
}

TYPED_TEST(NodeContract, TheDeadlineEndsOpenNodes) {
  NodeDriver s = this->node_driver();
  JobDefinition definition = s.Flow({s.Ask("ask"), s.Wait("w", {.for_s = 600})});
  definition.timeout_s = 60;
  const RunKey key = s.Begun(s.CreateFlow(definition), kT0);
  EXPECT_EQ(s.Rotate(kT0 + 60s).ended, RunState::kTimedOut);
  EXPECT_EQ(s.States(key), "ask CANCELLED, w CANCELLED");
}

}  // namespace carillon::test
