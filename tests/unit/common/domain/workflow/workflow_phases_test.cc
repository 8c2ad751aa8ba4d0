// Nodes without a process, finally nodes, and trigger rule `succeeded`.
#include <gtest/gtest.h>

#include "common/domain/nodes/approval.h"
#include "common/domain/workflow/workflow_step.h"
#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

constexpr WallTime kAtNoon = FromUnixMicros(1'767'960'000'000'000);  // 2026-01-09T12:00:00Z

StepFacts FactsAt(WallTime now, WorkflowCause cause = WorkflowCause::kNone) {
  return {.cause = cause, .now = now, .fire = kAtNoon, .time_zone = "UTC"};
}

// ---- approvals and waits -----------------------------------------------------------------------

TEST(OpenedNodesTest, AnApprovalOpensWithItsEnd) {
  const WorkflowGraph graph =
      Graph({Node("a"), Gate("gate", {.timeout_s = 60}, {Success("a")}), Gate("open")});
  EXPECT_EQ(StepText(graph, {Released(), Blocked(), Opened()}, FactsAt(kAtNoon)), "");
  const NodeRows rows{Completed(), Blocked(), Blocked()};
  const WorkflowStep step = StepWorkflow(graph, rows, FactsAt(kAtNoon));
  ASSERT_EQ(StepText(graph, rows, FactsAt(kAtNoon)), "open gate, open open");
  EXPECT_EQ(step.decisions[0].due, kUndecided);
  EXPECT_EQ(step.decisions[0].until, kAtNoon + 60s);
  EXPECT_EQ(step.decisions[1].until, WallTime{}) << "it waits for ever";
}

TEST(OpenedNodesTest, AnApprovalExpiresAtItsEndAndNotDuringAPause) {
  const WorkflowGraph graph =
      Graph({Gate("gate", {.timeout_s = 60}), Node("b", {Success("gate")})});
  NodeRow gate = Opened(kAtNoon + 60s);
  gate.started = kAtNoon;
  EXPECT_EQ(StepText(graph, {gate, Blocked()}, FactsAt(kAtNoon + 60s - 1us)), "");
  StepFacts facts = FactsAt(kAtNoon + 60s);
  EXPECT_EQ(StepText(graph, {gate, Blocked()}, facts),
            "finish gate FAILED not_decided, skip b upstream_failed; FAILED gate");
  const WorkflowStep step = StepWorkflow(graph, {gate, Blocked()}, facts);
  EXPECT_EQ(step.decisions[0].result.started, kAtNoon);
  EXPECT_EQ(step.decisions[0].result.outputs.at("decision"), "timeout");
  facts.paused = true;
  EXPECT_EQ(StepText(graph, {gate, Blocked()}, facts), "");
  EXPECT_EQ(StepText(graph, {Opened(), Blocked()}, FactsAt(kAtNoon + 8'760h)), "");
}

TEST(OpenedNodesTest, AnApprovalMayApproveWhenItExpires) {
  const WorkflowGraph graph =
      Graph({Gate("gate", {.timeout_s = 60, .approves_on_timeout = true}),
             Node("b", {Success("gate", "outputs.decision == 'timeout'")})});
  EXPECT_EQ(StepText(graph, {Opened(kAtNoon), Blocked()}, FactsAt(kAtNoon)),
            "finish gate COMPLETED, release b");
}

TEST(OpenedNodesTest, AWaitEndsAtItsTimeAlsoDuringAPause) {
  const WorkflowGraph graph =
      Graph({Waits("pause", {.for_s = 900}), Waits("open", {.until = "06:30"})});
  const NodeRows rows(2);
  const WorkflowStep step = StepWorkflow(graph, rows, FactsAt(kAtNoon + 5s));
  ASSERT_EQ(StepText(graph, rows, FactsAt(kAtNoon + 5s)), "open pause, open open");
  EXPECT_EQ(step.decisions[0].due, kTimed);
  EXPECT_EQ(step.decisions[0].until, kAtNoon + 905s);
  EXPECT_EQ(step.decisions[1].until, kAtNoon + 18h + 30min);
  StepFacts later = FactsAt(kAtNoon + 905s);
  later.paused = true;
  EXPECT_EQ(StepText(graph, {Opened(kAtNoon + 905s), Opened(kAtNoon + 18h + 30min)}, later),
            "finish pause COMPLETED");
}

TEST(OpenedNodesTest, AWaitThatIsOverWhenItOpensEndsAtOnce) {
  const WorkflowGraph graph =
      Graph({Waits("open", {.until = "12:00"}), Node("b", {Success("open")})});
  EXPECT_EQ(StepText(graph, NodeRows(2), FactsAt(kAtNoon + 7 * 24h)),
            "finish open COMPLETED, release b");
  const WorkflowGraph last = Graph({Waits("open", {.until = "12:00"})});
  EXPECT_EQ(StepText(last, NodeRows(1), FactsAt(kAtNoon + 1s)), "finish open COMPLETED; COMPLETED");
}

TEST(OpenedNodesTest, ATimeThatCannotBeReadSkipsTheNode) {
  const WorkflowGraph graph =
      Graph({Waits("open", {.until = "{{workflow.parameters.at}}"}), Node("b", {Success("open")})});
  const std::map<std::string, ParameterValue> good{{"at", std::string("13:00")}};
  const std::map<std::string, ParameterValue> bad{{"at", std::string("soon")}};
  StepFacts facts = FactsAt(kAtNoon);
  EXPECT_EQ(StepText(graph, NodeRows(2), facts), "skip open bad_parameters");
  facts.parameters = &bad;
  EXPECT_EQ(StepText(graph, NodeRows(2), facts), "skip open bad_parameters");
  EXPECT_NE(StepWorkflow(graph, NodeRows(2), facts).decisions[0].error, "");
  facts.parameters = &good;
  EXPECT_EQ(StepText(graph, NodeRows(2), facts), "open open");
}

TEST(OpenedNodesTest, TheyTakeNoPlaceOfMaxParallel) {
  std::vector<WorkflowNode> nodes;
  for (int i = 0; i < 40; ++i) nodes.push_back(Gate("gate" + std::to_string(i)));
  nodes.push_back(Node("a"));
  nodes.push_back(Node("b"));
  nodes.push_back(Waits("c", {.for_s = 9}));
  const WorkflowGraph graph = Graph(std::move(nodes), 1);
  NodeRows rows(43, Opened());
  rows[40] = rows[41] = rows[42] = Blocked();
  EXPECT_EQ(StepText(graph, rows, FactsAt(kAtNoon)), "release a, open c");
  rows[40] = Row(RunState::kRunning);
  EXPECT_EQ(StepText(graph, rows, FactsAt(kAtNoon)), "open c");
}

TEST(OpenedNodesTest, ACancelEndsThem) {
  const WorkflowGraph graph = Graph({Gate("gate"), Waits("pause", {.for_s = 9}), Node("b")});
  for (const WorkflowCause cause : {WorkflowCause::kCancel, WorkflowCause::kDeadline}) {
    EXPECT_TRUE(StepText(graph, {Opened(), Opened(kAtNoon), Completed()}, FactsAt(kAtNoon, cause))
                    .starts_with("cancel gate, cancel pause; "));
  }
}

TEST(OpenedNodesTest, AStepThatIsRepeatedDecidesTheSame) {
  const WorkflowGraph graph =
      Graph({Gate("gate", {.timeout_s = 60}), Waits("pause", {.for_s = 9})});
  const NodeRows rows{Opened(kAtNoon), Blocked()};
  const WorkflowStep first = StepWorkflow(graph, rows, FactsAt(kAtNoon));
  EXPECT_EQ(StepWorkflow(graph, rows, FactsAt(kAtNoon)).decisions, first.decisions);
  EXPECT_EQ(StepText(graph, {Failed(), Opened(kAtNoon + 9s)}, FactsAt(kAtNoon + 1s)), "");
}

// ---- trigger rule succeeded --------------------------------------------------------------------

std::string AfterThree(const NodeRow& a, const NodeRow& b, const NodeRow& c, int64_t least) {
  WorkflowNode lenient = Node("b");
  lenient.allow_failure = true;
  WorkflowNode last = Node("d", {Success("a"), Success("b"), Done("c", "state != 'LOST'")});
  last.trigger_rule = {.least = least, .succeeded = true};
  const WorkflowGraph graph = Graph({Node("a"), lenient, Node("c"), last});
  const NodeVerdict verdict = JudgeNode(graph, 3, {a, b, c, Blocked()});
  switch (verdict.kind) {
    case NodeVerdict::Kind::kWait: return "waits";
    case NodeVerdict::Kind::kStart: return "starts";
    case NodeVerdict::Kind::kSkip: break;
  }
  return std::string(verdict.reason);
}

TEST(SucceededTest, OnlySuccessesCount) {
  const NodeRow by_hand = Skipped("skipped_by_hand");
  struct Case {
    NodeRow a, b, c;
    std::string two, all;
  };
  for (const Case& one :
       std::vector<Case>{{Completed(), Completed(), Completed(), "starts", "starts"},
                         {Completed(), by_hand, Released(), "starts", "waits"},
                         {Completed(), Failed(), Released(), "waits", "waits"},
                         {Completed(), Failed(), Completed(), "starts", "too_few"},
                         {Completed(), Failed(), Failed(), "too_few", "too_few"},
                         {Completed(), Skipped("not_selected"), Completed(), "starts", "too_few"},
                         {Skipped("not_selected"), Skipped("not_selected"), Skipped("not_selected"),
                          "too_few", "too_few"},
                         {Completed(), Skipped("upstream_failed"), Failed(), "too_few", "too_few"},
                         {Completed(), Completed(), Row(RunState::kLost), "starts", "too_few"},
                         {Completed(), Row(RunState::kRunning), Failed(), "waits", "waits"}}) {
    EXPECT_EQ(AfterThree(one.a, one.b, one.c, 2), one.two) << Name(one.b.state);
    EXPECT_EQ(AfterThree(one.a, one.b, one.c, TriggerRule::kAll), one.all) << Name(one.b.state);
  }
}

TEST(SucceededTest, AConditionThatCannotBeComputedIsSaid) {
  WorkflowNode last = Node("b", {Success("a", "outputs.n > 1")});
  last.trigger_rule = {.least = 1, .succeeded = true};
  const WorkflowGraph graph = Graph({Node("a"), last});
  EXPECT_EQ(StepText(graph, {Completed(), Blocked()}), "skip b bad_condition; FAILED b");
}

TEST(BrokenConditionTest, TheReasonIsSaid) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b", {Done("a", "exit_code == 3")})});
  const auto said = [&](const NodeRow& a) { return BrokenConditionOf(graph, 1, {a, Blocked()}); };
  EXPECT_TRUE(said(Skipped("upstream_failed"))
                  .ends_with("exit_code == 3; it was SKIPPED (upstream_failed), and so has neither "
                             "exit code nor outputs"));
  EXPECT_TRUE(said(Row(RunState::kLost)).ends_with("; it has no exit code"));
  EXPECT_EQ(said(Failed(3)), "");
}

TEST(SucceededTest, NothingThatFollowsAFailureStartsAfterTooFew) {
  WorkflowNode strict = Node("b", {Success("a"), Done("x")});
  strict.trigger_rule = {.least = TriggerRule::kAll, .succeeded = true};
  WorkflowEdge repair = Failure("b");
  repair.recovers = true;
  const WorkflowGraph graph =
      Graph({Node("a"), Node("x"), strict, Node("c", {Success("b")}), Node("d", {repair})});
  EXPECT_EQ(StepText(graph, {Failed(), Completed(), Blocked(), Blocked(), Blocked()}),
            "skip b too_few, skip c upstream_failed, skip d not_selected; FAILED a")
      << "only a has failed";
  EXPECT_EQ(StepText(graph, {Completed(), Failed(), Blocked(), Blocked(), Blocked()}),
            "skip b too_few, skip c upstream_failed, skip d not_selected; FAILED x");
}

TEST(SucceededTest, TooFewMakesTheRunFailUnlessANodeBeforeItDoes) {
  WorkflowNode lenient = Node("a");
  lenient.allow_failure = true;
  WorkflowNode strict = Node("b", {Success("a")});
  strict.trigger_rule = {.least = TriggerRule::kAll, .succeeded = true};
  WorkflowNode stricter = Node("c", {Success("b")});
  stricter.trigger_rule = strict.trigger_rule;
  const WorkflowGraph graph = Graph({lenient, strict, stricter, Node("d", {Success("c")})});
  EXPECT_EQ(StepText(graph, {Failed(), Blocked(), Blocked(), Blocked()}),
            "skip b too_few, skip c too_few, skip d upstream_failed; FAILED b");
  EXPECT_EQ(StepText(graph, {Skipped("not_selected"), Blocked(), Blocked(), Blocked()}),
            "skip b too_few, skip c too_few, skip d upstream_failed; FAILED b");
  const NodeRow few = Skipped("too_few");
  EXPECT_TRUE(IsSkippedByRule(few));
  EXPECT_EQ(EndOf(few), NodeEnd::kTooFew);
}

TEST(SucceededTest, TooFewAfterARepairedFailureIsNotForgotten) {
  WorkflowEdge repair = Failure("a");
  repair.recovers = true;
  WorkflowNode strict = Node("b", {Success("a")});
  strict.trigger_rule = {.least = TriggerRule::kAll, .succeeded = true};
  WorkflowEdge instead = Done("b");
  instead.recovers = true;
  const WorkflowGraph graph = Graph({Node("a"), Node("r", {repair}), strict});
  EXPECT_EQ(StepText(graph, {Failed(), Completed(), Blocked()}), "skip b too_few; FAILED b");
  const WorkflowGraph mended =
      Graph({Node("a"), Node("r", {repair}), strict, Node("c", {instead})});
  EXPECT_EQ(StepText(mended, {Failed(), Completed(), Skipped("too_few"), Completed()}),
            "COMPLETED");
}

TEST(SucceededTest, WhereTooFewMayFailTheRunGoesOn) {
  WorkflowNode lenient = Node("a");
  lenient.allow_failure = true;
  WorkflowNode strict = Node("b", {Success("a")});
  strict.trigger_rule = {.least = TriggerRule::kAll, .succeeded = true};
  strict.allow_failure = true;
  const WorkflowGraph graph =
      Graph({lenient, strict, Node("c", {Success("b")}), Node("d", {Failure("b")})});
  EXPECT_EQ(StepText(graph, {Failed(), Blocked(), Blocked(), Blocked()}),
            "skip b too_few, skip d not_selected, release c");
}

// ---- finally nodes -----------------------------------------------------------------------------

WorkflowGraph WithFinally() {
  return Graph({Finally("clean"), Node("a"), Node("b", {Success("a")}),
                Finally("mail", {Success("clean")})});
}

TEST(FinallyTest, TheyStartWhenAllOthersHaveEnded) {
  const WorkflowGraph graph = WithFinally();
  EXPECT_EQ(StepText(graph, NodeRows(4)), "release a");
  EXPECT_EQ(StepText(graph, {Blocked(), Completed(), Released(), Blocked()}), "");
  EXPECT_EQ(JudgeNode(graph, 0, {Blocked(), Completed(), Released(), Blocked()}).kind,
            NodeVerdict::Kind::kWait);
  // The skip of b is written first: it may come out otherwise.
  EXPECT_EQ(StepText(graph, {Blocked(), Failed(), Blocked(), Blocked()}), "skip b upstream_failed");
  EXPECT_EQ(StepText(graph, {Blocked(), Completed(), Completed(), Blocked()}),
            "finally begins, release clean");
  EXPECT_EQ(StepText(graph, {Completed(), Completed(), Completed(), Blocked()},
                     StepFacts{.finally_since = kAtNoon}),
            "release mail");
  EXPECT_EQ(StepText(graph, {Completed(), Completed(), Completed(), Completed()}), "COMPLETED");
}

TEST(FinallyTest, TheirBeginIsToldOnceAndAlsoIfNothingIsReleased) {
  const WorkflowGraph graph = WithFinally();
  const NodeRows rows{Awaiting(), Completed(), Completed(), Blocked()};
  EXPECT_EQ(StepText(graph, rows), "finally begins");
  EXPECT_EQ(StepText(graph, rows, StepFacts{.finally_since = kAtNoon}), "");
  EXPECT_EQ(StepText(Graph({Node("a")}), {Completed()}), "COMPLETED");
}

// Cause × phase: what a step decides about a main node and a finally node.
TEST(FinallyTest, OnlyAKillKeepsThemFromRunning) {
  const WorkflowGraph graph = Graph({Node("a"), Finally("clean")});
  struct Case {
    WorkflowCause cause;
    bool killed;
    std::string main_runs, main_ended, finally_runs, finally_ended;
  };
  using enum WorkflowCause;
  for (const Case& one : std::vector<Case>{
           {kNone, false, "", "finally begins, release clean", "", "COMPLETED"},
           {kCancel, false, "stop a", "finally begins, release clean", "", "CANCELLED"},
           {kDeadline, false, "stop a", "finally begins, release clean", "", "TIMED_OUT"},
           {kCancel, true, "stop a, cancel clean", "cancel clean; CANCELLED clean", "stop clean",
            "CANCELLED"}}) {
    StepFacts facts{.cause = one.cause, .now = kAtNoon, .killed = one.killed};
    EXPECT_EQ(StepText(graph, {Row(RunState::kRunning), Blocked()}, facts), one.main_runs);
    EXPECT_EQ(StepText(graph, {Completed(), Blocked()}, facts), one.main_ended);
    facts.finally_since = kAtNoon;
    EXPECT_EQ(StepText(graph, {Completed(), Row(RunState::kRunning)}, facts), one.finally_runs);
    EXPECT_EQ(StepText(graph, {Completed(), Completed()}, facts), one.finally_ended);
  }
}

TEST(FinallyTest, TheyAreStoppedWhenTheirTimeIsOver) {
  WorkflowDefinition workflow{
      .nodes = {Node("a"), Finally("clean"), Finally("mail"), Finally("gate")},
      .finally_timeout_s = 60};
  workflow.nodes[3] = Gate("gate");
  workflow.nodes[3].is_finally = true;
  const WorkflowGraph graph = WorkflowGraph::Compile(workflow).value();
  const NodeRows rows{Completed(), Row(RunState::kRunning), Blocked(), Opened()};
  StepFacts facts{.now = kAtNoon + 60s - 1us, .finally_since = kAtNoon};
  EXPECT_EQ(StepText(graph, rows, facts), "release mail");
  facts.now = kAtNoon + 60s;
  EXPECT_EQ(StepText(graph, rows, facts), "stop clean, cancel mail, cancel gate");
  facts.paused = true;
  EXPECT_EQ(StepText(graph, rows, facts), "release mail") << "the resume moves finally_since";
  facts.paused = false;
  const NodeRow cancelled = Row(RunState::kCancelled);
  EXPECT_EQ(StepText(graph, {Completed(), cancelled, cancelled, cancelled}, facts),
            "FAILED clean mail gate");
  // Before they began, nothing ends them.
  EXPECT_EQ(StepText(graph, {Row(RunState::kRunning), Blocked(), Blocked(), Blocked()}, facts), "");
}

TEST(FinallyTest, TheOtherNodesDecideTheResultFirst) {
  const WorkflowGraph graph = Graph({Node("a"), Finally("clean")});
  EXPECT_EQ(StepText(graph, {Completed(), Failed()}), "FAILED clean");
  EXPECT_EQ(StepText(graph, {Failed(), Completed()}), "FAILED a");
  EXPECT_EQ(StepText(graph, {Failed(), Failed()}), "FAILED a clean");
  EXPECT_EQ(StepText(graph, {Completed(), Failed()}, WorkflowCause::kCancel), "CANCELLED clean");
  EXPECT_EQ(StepText(graph, {Completed(), Failed()}, WorkflowCause::kDeadline), "TIMED_OUT clean");
}

TEST(FinallyTest, TheyKnowTheStateOfTheOthers) {
  const WorkflowGraph graph = Graph({Node("a"), Finally("clean"), Finally("mail")});
  const auto state = [&](const NodeRows& rows, WorkflowCause cause = WorkflowCause::kNone) {
    return StepWorkflow(graph, rows, {.cause = cause}).state;
  };
  EXPECT_FALSE(state({Row(RunState::kRunning), Blocked(), Blocked()}));
  EXPECT_EQ(state({Completed(), Blocked(), Blocked()}), RunState::kCompleted);
  EXPECT_EQ(state({Failed(), Blocked(), Blocked()}), RunState::kFailed);
  EXPECT_EQ(state({Completed(), Failed(), Blocked()}), RunState::kCompleted);
  EXPECT_EQ(state({Completed(), Blocked(), Blocked()}, WorkflowCause::kCancel),
            RunState::kCancelled);
  EXPECT_EQ(state({Failed(), Blocked(), Blocked()}, WorkflowCause::kDeadline), RunState::kTimedOut);
}

TEST(FinallyTest, RulesBetweenThemAreThoseOfAllNodes) {
  const WorkflowGraph graph = WithFinally();
  const StepFacts facts{.finally_since = kAtNoon};
  EXPECT_EQ(StepText(graph, {Failed(), Completed(), Completed(), Blocked()}, facts),
            "skip mail upstream_failed; FAILED clean");
}

TEST(FinallyTest, NoEdgeLeadsFromOnePhaseToTheOther) {
  EXPECT_EQ(WorkflowGraph::Compile({.nodes = {Node("a"), Finally("b", {Done("a")})}}).code(),
            ErrorCode::kCorrupt);
  EXPECT_EQ(WorkflowGraph::Compile({.nodes = {Finally("a"), Node("b", {Done("a")})}}).code(),
            ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace carillon::test
