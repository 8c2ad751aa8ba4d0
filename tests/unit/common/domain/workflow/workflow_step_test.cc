#include "common/domain/workflow/workflow_step.h"

#include <gtest/gtest.h>

#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

// Rows of two nodes, the second of which is after the first.
EdgeVerdict Judged(NodeRow upstream, WorkflowEdge edge, bool allow_failure = false) {
  WorkflowNode first = Node("a");
  first.allow_failure = allow_failure;
  const WorkflowGraph graph = Graph({first, Node("b", {std::move(edge)})});
  return JudgeEdge(graph, graph.edges()[0], {std::move(upstream), Blocked()});
}

TEST(NodeRulesTest, AnEdgeFollowsTheTable) {
  using enum EdgeVerdict;
  struct Line {
    NodeRow upstream;
    EdgeVerdict success, failure, done;
    bool allow_failure = false;
  };
  for (const Line& line : std::vector<Line>{
           {Blocked(), kOpen, kOpen, kOpen},
           {Released(), kOpen, kOpen, kOpen},
           {Row(RunState::kRunning), kOpen, kOpen, kOpen},
           {Row(RunState::kHeld), kOpen, kOpen, kOpen},
           {Completed(), kMet, kIgnored, kMet},
           {Skipped("skipped_by_hand"), kMet, kIgnored, kMet},
           {Failed(), kFailed, kMet, kMet},
           {Row(RunState::kTimedOut), kFailed, kMet, kMet},
           {Row(RunState::kLost), kFailed, kMet, kMet},
           {Row(RunState::kCancelled), kFailed, kMet, kMet},
           {Skipped("overlap"), kFailed, kMet, kMet},
           {Skipped("deleted"), kFailed, kMet, kMet},
           {Skipped("bad_condition"), kFailed, kMet, kMet},
           {Skipped("bad_parameters"), kFailed, kMet, kMet},
           {Skipped("forbidden"), kFailed, kMet, kMet},
           {Failed(), kMet, kMet, kMet, true},
           {Skipped("bad_condition"), kMet, kMet, kMet, true},
           {Completed(), kMet, kIgnored, kMet, true},
           {Skipped("not_selected"), kIgnored, kIgnored, kIgnored},
           {Skipped("not_selected"), kIgnored, kIgnored, kIgnored, true},
           {Skipped("upstream_failed"), kFailed, kIgnored, kMet},
           {Skipped("upstream_failed"), kFailed, kIgnored, kMet, true},
       }) {
    const std::string what = std::string(Name(line.upstream.state)) + " " + line.upstream.reason;
    EXPECT_EQ(Judged(line.upstream, Success("a"), line.allow_failure), line.success) << what;
    EXPECT_EQ(Judged(line.upstream, Failure("a"), line.allow_failure), line.failure) << what;
    EXPECT_EQ(Judged(line.upstream, Done("a"), line.allow_failure), line.done) << what;
  }
}

TEST(NodeRulesTest, AConditionIsAskedWhereTheEdgeIsMet) {
  using enum EdgeVerdict;
  EXPECT_EQ(Judged(Failed(3), Failure("a", "exit_code == 3")), kMet);
  EXPECT_EQ(Judged(Failed(2), Failure("a", "exit_code == 3")), kIgnored);
  EXPECT_EQ(Judged(Row(RunState::kLost), Failure("a", "exit_code == 3")), kBroken);
  EXPECT_EQ(Judged(Completed(), Failure("a", "outputs.x == 1")), kIgnored);
  EXPECT_EQ(Judged(Failed(), Success("a", "outputs.x == 1")), kFailed);
  EXPECT_EQ(Judged(Skipped("skipped_by_hand"), Success("a", "outputs.x == 1")), kMet);
  EXPECT_EQ(Judged(Skipped("upstream_failed"), Done("a", "state == 'SKIPPED'")), kMet);
  // The outputs of an earlier attempt do not belong to a run that is skipped now.
  NodeRow skipped = Skipped("overlap");
  skipped.outputs["x"] = "1";
  EXPECT_EQ(Judged(skipped, Failure("a", "outputs.x == 1")), kBroken);
}

TEST(WorkflowStepTest, NodesWithoutUpstreamStartAtOnce) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), Node("c", {Success("a")})});
  EXPECT_EQ(StepText(graph, NodeRows(3)), "release a, release b");
  EXPECT_EQ(StepText(graph, {Completed(), Released(), Blocked()}), "release c");
  EXPECT_EQ(StepText(graph, {Completed(), Released(), Released()}), "");
  EXPECT_EQ(StepText(graph, {Completed(), Completed(), Completed()}), "COMPLETED");
}

TEST(WorkflowStepTest, ANodeThatWaitsForOtherJobsIsNotReleased) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), Node("c", {Success("a")})}, 1);
  EXPECT_EQ(StepText(graph, {Awaiting(), Blocked(), Blocked()}), "release b")
      << "it takes no place";
  EXPECT_EQ(StepText(graph, {Awaiting(), Completed(), Blocked()}), "") << "nothing is left to do";
  EXPECT_EQ(StepText(graph, {Completed(), Completed(), Awaiting()}), "");
  EXPECT_EQ(StepText(graph, {Failed(), Completed(), Awaiting()}),
            "skip c upstream_failed; FAILED a");
  EXPECT_EQ(StepText(graph, {Completed(), Released(), Awaiting()}, WorkflowCause::kCancel),
            "cancel b, cancel c; CANCELLED b c");
}

TEST(WorkflowStepTest, ANodeThatWaitedInVainHasRepairedNothing) {
  WorkflowEdge repairs = Failure("a");
  repairs.recovers = true;
  WorkflowNode b = Node("b", {repairs});
  b.allow_failure = true;
  const WorkflowGraph graph = Graph({Node("a"), b});
  NodeRow vain = Row(RunState::kFailed, "upstream_timeout");
  vain.claimed = false;
  EXPECT_EQ(StepText(graph, {Failed(), vain}), "FAILED a");
  EXPECT_EQ(StepText(graph, {Failed(), Failed()}), "COMPLETED");
}

TEST(WorkflowStepTest, TheRowSaysWhetherANodeWaits) {
  RunRow run{.due = kAwaiting};
  EXPECT_EQ(NodeRowOf(run, {}, WallTime{}).awaiting, true);
  EXPECT_TRUE(IsBlocked(NodeRowOf(run, {}, WallTime{})));
  run.due = kBlocked;
  EXPECT_EQ(NodeRowOf(run, {}, WallTime{}).awaiting, false);
  EXPECT_TRUE(IsBlocked(NodeRowOf(run, {}, WallTime{})));
  run = {.state = RunState::kSkipped, .due = kAwaiting};
  EXPECT_EQ(NodeRowOf(run, {}, WallTime{}).awaiting, false);
}

TEST(WorkflowStepTest, RuleAllWaitsForAllUpstream) {
  const WorkflowGraph graph =
      Graph({Node("a"), Node("b"), Node("c", {Success("a"), Failure("b")})});
  EXPECT_EQ(StepText(graph, {Failed(), Released(), Blocked()}), "");
  EXPECT_EQ(StepText(graph, {Failed(), Failed(), Blocked()}), "skip c upstream_failed; FAILED a b");
  EXPECT_EQ(StepText(graph, {Completed(), Completed(), Blocked()}), "release c");
  EXPECT_EQ(StepText(graph, {Completed(), Failed(), Blocked()}), "release c");
}

TEST(WorkflowStepTest, ANodeOfWhichNothingIsMetIsNotSelected) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b", {Failure("a")}), Node("c", {Done("b")})});
  EXPECT_EQ(StepText(graph, {Completed(), Blocked(), Blocked()}),
            "skip b not_selected, skip c not_selected; COMPLETED");
}

TEST(WorkflowStepTest, RuleAnyStartsWithTheFirst) {
  WorkflowNode last = Node("c", {Success("a"), Success("b")});
  last.trigger_rule.least = TriggerRule::kAny;
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), last});
  EXPECT_EQ(StepText(graph, {Failed(), Released(), Blocked()}), "");
  EXPECT_EQ(StepText(graph, {Released(), Completed(), Blocked()}), "release c");
  EXPECT_EQ(StepText(graph, {Failed(), Completed(), Blocked()}), "release c");
  EXPECT_EQ(StepText(graph, {Failed(), Skipped("not_selected"), Blocked()}),
            "skip c upstream_failed; FAILED a");
}

TEST(WorkflowStepTest, ANumberCountsMetEdges) {
  WorkflowNode last = Node("d", {Success("a"), Success("b"), Success("c")});
  last.trigger_rule.least = 2;
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), Node("c"), last});
  EXPECT_EQ(StepText(graph, {Completed(), Released(), Released(), Blocked()}), "");
  EXPECT_EQ(StepText(graph, {Completed(), Released(), Completed(), Blocked()}), "release d");
  EXPECT_EQ(StepText(graph, {Completed(), Failed(), Failed(), Blocked()}),
            "skip d upstream_failed; FAILED b c");
}

TEST(WorkflowStepTest, ABrokenConditionIsAFailureOnceAllHaveEnded) {
  WorkflowNode last = Node("c", {Success("a", "outputs.x > 1"), Success("b")});
  const WorkflowGraph all = Graph({Node("a"), Node("b"), last});
  EXPECT_EQ(StepText(all, {Completed(), Released(), Blocked()}), "");
  EXPECT_EQ(StepText(all, {Completed(), Completed(), Blocked()}), "skip c bad_condition; FAILED c");
  EXPECT_EQ(StepText(all, {Completed(), Failed(), Blocked()}), "skip c bad_condition; FAILED b c");
  // Another edge is enough here, whichever of the two ends first.
  last.trigger_rule.least = TriggerRule::kAny;
  const WorkflowGraph any = Graph({Node("a"), Node("b"), last});
  EXPECT_EQ(StepText(any, {Completed(), Released(), Blocked()}), "");
  EXPECT_EQ(StepText(any, {Completed(), Completed(), Blocked()}), "release c");
  EXPECT_EQ(StepText(any, {Completed(), Failed(), Blocked()}), "skip c bad_condition; FAILED b c");
}

TEST(WorkflowStepTest, MaxParallelCountsActiveRunsInTheOrderOfTheDefinition) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), Node("c"), Node("d")}, 2);
  EXPECT_EQ(StepText(graph, NodeRows(4)), "release a, release b");
  EXPECT_EQ(StepText(graph, {Released(), Row(RunState::kRunning), Blocked(), Blocked()}), "");
  EXPECT_EQ(StepText(graph, {Completed(), Row(RunState::kHeld), Blocked(), Blocked()}),
            "release c");
  // A lower limit than before an edit only delays.
  EXPECT_EQ(StepText(graph, {Released(), Released(), Released(), Blocked()}), "");
}

TEST(WorkflowStepTest, AFailureThatIsRepairedDoesNotFailTheRun) {
  WorkflowEdge recovers = Failure("a", "exit_code == 3");
  recovers.recovers = true;
  const WorkflowGraph graph = Graph({Node("a"), Node("b", {recovers})});
  EXPECT_EQ(StepText(graph, {Failed(3), Completed()}), "COMPLETED");
  EXPECT_EQ(StepText(graph, {Failed(3), Skipped("skipped_by_hand")}), "COMPLETED");
  EXPECT_EQ(StepText(graph, {Failed(3), Failed()}), "FAILED b");
  EXPECT_EQ(StepText(graph, {Failed(2), Blocked()}), "skip b not_selected; FAILED a");
  EXPECT_EQ(StepText(graph, {Row(RunState::kLost), Blocked()}), "skip b bad_condition; FAILED a b");
}

TEST(WorkflowStepTest, ANodeThatDidNotStartRepairsNothing) {
  WorkflowEdge recovers = Failure("a");
  recovers.recovers = true;
  WorkflowEdge other = Failure("b");
  other.recovers = true;
  const WorkflowGraph graph =
      Graph({Node("a"), Node("b"), Node("c", {recovers, Success("b")}), Node("d", {other})});
  EXPECT_EQ(StepText(graph, {Failed(), Failed(), Blocked(), Completed()}),
            "skip c upstream_failed; FAILED a");
}

TEST(WorkflowStepTest, ARepairThatNeverStartedHidesNoFailure) {
  WorkflowEdge recovers = Failure("a");
  recovers.recovers = true;
  WorkflowNode repair = Node("b", {recovers});
  repair.allow_failure = true;
  const WorkflowGraph graph = Graph({Node("a"), repair});
  for (const RunState state :
       {RunState::kFailed, RunState::kTimedOut, RunState::kLost, RunState::kCancelled}) {
    EXPECT_EQ(StepText(graph, {Failed(), Row(state)}), "COMPLETED") << Name(state);
  }
  for (const char* reason : {"deleted", "bad_parameters", "queue_timeout", "overlap", "paused",
                             "misfire", "bad_condition"}) {
    EXPECT_EQ(StepText(graph, {Failed(), Skipped(reason)}), "FAILED a") << reason;
  }
  NodeRow cancelled = Row(RunState::kCancelled);
  cancelled.claimed = false;
  EXPECT_EQ(StepText(graph, {Failed(), cancelled}), "FAILED a");
  EXPECT_EQ(StepText(graph, {Failed(), Skipped("skipped_by_hand")}), "COMPLETED");
}

TEST(WorkflowStepTest, AnAllowedFailureDoesNotFailTheRun) {
  WorkflowNode first = Node("a");
  first.allow_failure = true;
  const WorkflowGraph graph = Graph({first, Node("b", {Success("a")})});
  EXPECT_EQ(StepText(graph, {Failed(), Blocked()}), "release b");
  EXPECT_EQ(StepText(graph, {Failed(), Completed()}), "COMPLETED");
}

TEST(WorkflowStepTest, ALateSuccessDoesNotHideWhatWasSkipped) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b", {Success("a")})});
  EXPECT_EQ(StepText(graph, {Row(RunState::kLost), Blocked()}), "skip b upstream_failed; FAILED a");
  EXPECT_EQ(StepText(graph, {Completed(), Skipped("upstream_failed")}), "FAILED b");
}

TEST(WorkflowStepTest, ACancelEndsWhatIsOpen) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), Node("c"), Node("d"), Node("e")});
  NodeRows rows{Completed(), Released(), Row(RunState::kRunning), Row(RunState::kHeld), Blocked()};
  EXPECT_EQ(StepText(graph, rows, WorkflowCause::kCancel), "cancel b, stop c, stop d, cancel e");
  rows[2].cancel_requested = true;
  rows[3].cancel_requested = true;
  EXPECT_EQ(StepText(graph, rows, WorkflowCause::kCancel), "cancel b, cancel e");
  const NodeRow cancelled = Row(RunState::kCancelled);
  EXPECT_EQ(StepText(graph, {Completed(), cancelled, cancelled, Completed(), Blocked()},
                     WorkflowCause::kCancel),
            "cancel e; CANCELLED b c e");
  EXPECT_EQ(StepText(graph, NodeRows(5, cancelled), WorkflowCause::kDeadline),
            "TIMED_OUT a b c d e");
  EXPECT_EQ(StepText(graph, NodeRows(5, Completed()), WorkflowCause::kCancel), "CANCELLED");
}

TEST(WorkflowStepTest, ALargeGraphIsDecidedAtOnce) {
  std::vector<WorkflowNode> nodes;
  for (size_t i = 0; i < kWorkflowNodesMax; ++i) {
    nodes.push_back(Node("n" + std::to_string(i)));
    for (size_t back = 1; back <= 10 && back <= i; ++back) {
      nodes.back().after.push_back(Success("n" + std::to_string(i - back)));
    }
  }
  const WorkflowGraph graph = Graph(std::move(nodes));
  NodeRows rows(graph.size());
  rows[0] = Failed();
  const WorkflowStep step = StepWorkflow(graph, rows, {});
  EXPECT_EQ(step.decisions.size(), graph.size() - 1);
  ASSERT_TRUE(step.end);
  EXPECT_EQ(step.end->state, RunState::kFailed);
}

}  // namespace
}  // namespace carillon::test
