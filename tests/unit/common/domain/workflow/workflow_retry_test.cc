#include "common/domain/workflow/workflow_retry.h"

#include <gtest/gtest.h>

#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

// "block a 2, skip b 1; running: c; may still run: d". After an attempt: "+", the old one is
// recorded; "-", it is given back.
std::string PlanText(const WorkflowGraph& graph, const Result<RetryPlan>& plan) {
  if (!plan.ok()) return plan.error().message;
  std::string text;
  for (const NodeChange& change : plan->changes) {
    if (!text.empty()) text += ", ";
    text += change.to == NodeChange::To::kAgain ? "block " : "skip ";
    text += graph.node(change.position).id + " " + std::to_string(change.attempt);
    if (change.record_attempt) text += "+";
    if (change.given_back) text += "-";
  }
  return plan->refused() ? text + "; " + RefusalSentence(graph, *plan) : text;
}

std::string Retried(const WorkflowGraph& graph, const NodeRows& rows, const WorkflowRetry& retry) {
  return PlanText(graph, PlanRetry(graph, rows, retry));
}
std::string SkippedByHand(const WorkflowGraph& graph, const NodeRows& rows, std::string_view node,
                          Overlap overlap = Overlap::kUnconfirmed) {
  return PlanText(graph, PlanSkip(graph, rows, node, overlap));
}

// load -> audit -> publish -> report, and repair if audit fails.
WorkflowGraph Nightly() {
  WorkflowEdge recovers = Failure("audit", "exit_code == 3");
  recovers.recovers = true;
  WorkflowNode publish = Node("publish", {Success("audit"), Success("repair")});
  publish.trigger_rule.least = TriggerRule::kAny;
  WorkflowNode report = Node("report", {Done("publish")});
  report.allow_failure = true;
  return Graph({Node("load"), Node("audit", {Success("load")}), Node("repair", {recovers}), publish,
                report});
}

NodeRows Rows(std::vector<NodeRow> rows) { return rows; }

// It was blocked by an earlier retry, so it would continue after what runs again.
TEST(WorkflowRetryTest, ANodeThatARetrySkipsIsNotRunAgainByIt) {
  const WorkflowGraph graph = Graph({Node("a"), Node("b", {Success("a")})});
  NodeRow tried = Blocked();
  tried.attempt = 2;
  EXPECT_EQ(Retried(graph, {Completed(), tried},
                    {.from = RetryFrom::kNodes, .nodes = {"a"}, .skip = {"b"}}),
            "block a 2+, skip b 2");
}

TEST(WorkflowRetryTest, RunsFailedNodesAndAllDownstreamAgain) {
  const NodeRows rows = Rows(
      {Completed(), Failed(1), Skipped("not_selected"), Skipped("upstream_failed"), Completed()});
  EXPECT_EQ(Retried(Nightly(), rows, {}),
            "block audit 2+, block repair 1, block publish 1, "
            "block report 2+");
}

TEST(WorkflowRetryTest, ARefusalNamesTheConfirmationIfThatIsAllItLacks) {
  const WorkflowGraph graph = Nightly();
  EXPECT_EQ(RefusalOf("retry", graph, {.may_still_run = {1}}),
            (Error{ErrorCode::kConflict, "retry: may still run: audit", "/confirm_overlap"}));
  EXPECT_EQ(RefusalOf("skip", graph, {.open = {0}, .may_still_run = {1}}),
            (Error{ErrorCode::kConflict, "skip: running: load; may still run: audit"}));
}

TEST(WorkflowRetryTest, LeavesRepairedAndAllowedFailuresAlone) {
  const NodeRows rows =
      Rows({Completed(), Failed(3), Completed(), Failed(), Skipped("bad_parameters")});
  EXPECT_EQ(Retried(Nightly(), rows, {}), "block publish 2+, block report 2-");
  const NodeRows good = Rows({Completed(), Failed(3), Completed(), Completed(), Failed()});
  EXPECT_EQ(Retried(Nightly(), good, {}), "no node is to be run again");
}

TEST(WorkflowRetryTest, RunsCancelledNodesAgainEvenIfTheyMayFail) {
  const NodeRows rows = Rows(
      {Completed(), Completed(), Skipped("not_selected"), Completed(), Row(RunState::kCancelled)});
  EXPECT_EQ(Retried(Nightly(), rows, {}), "block report 2+");
}

TEST(WorkflowRetryTest, RunsWhatALostRunHadStoppedBeforeItsLateSuccess) {
  const NodeRows rows = Rows(
      {Completed(), Completed(), Skipped("not_selected"), Skipped("upstream_failed"), Completed()});
  EXPECT_EQ(Retried(Nightly(), rows, {}), "block publish 1, block report 2+");
}

TEST(WorkflowRetryTest, FromTheStartOrFromNamedNodes) {
  const NodeRows rows =
      Rows({Completed(), Completed(), Skipped("not_selected"), Completed(), Completed()});
  EXPECT_EQ(Retried(Nightly(), rows, {.from = RetryFrom::kStart}),
            "block load 2+, block audit 2+, block repair 1, block publish 2+, block report 2+");
  EXPECT_EQ(Retried(Nightly(), rows, {.from = RetryFrom::kNodes, .nodes = {"publish"}}),
            "block publish 2+, block report 2+");
  const auto unknown =
      PlanRetry(Nightly(), rows, {.from = RetryFrom::kNodes, .nodes = {"load", "lod"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().pointer, "/from/1");
}

TEST(WorkflowRetryTest, IsRefusedForWhatIsOpen) {
  NodeRows rows =
      Rows({Completed(), Failed(1), Skipped("not_selected"), Released(), Row(RunState::kRunning)});
  EXPECT_EQ(Retried(Nightly(), rows, {}),
            "block audit 2+, block repair 1; running: publish, report");
  rows[3] = Blocked();
  rows[4] = Blocked();
  EXPECT_EQ(Retried(Nightly(), rows, {}), "block audit 2+, block repair 1");
}

TEST(WorkflowRetryTest, NamedNodesThatWaitAlreadyAreNoConflict) {
  NodeRow again = Blocked();
  again.attempt = 2;
  const NodeRows rows = Rows({Completed(), again, Blocked(), Blocked(), Blocked()});
  EXPECT_EQ(Retried(Nightly(), rows, {.from = RetryFrom::kNodes, .nodes = {"audit"}}), "");
  EXPECT_EQ(Retried(Nightly(), rows, {}), "no node is to be run again");
  EXPECT_EQ(PlanText(Nightly(), PlanRetry(Nightly(), rows, {}, true)), "");
  // What would continue does not, if a node before it runs again.
  const auto plan = PlanRetry(Nightly(), rows, {.from = RetryFrom::kNodes, .nodes = {"load"}});
  EXPECT_EQ(PlanText(Nightly(), plan), "block load 2+, block audit 2");
  EXPECT_TRUE(plan->changes[1].anew);
}

TEST(WorkflowRetryTest, AProcessThatMayStillRunNeedsAConfirmation) {
  NodeRows rows = Rows({Completed(), Row(RunState::kFailed, "executor_lost"),
                        Skipped("bad_condition"), Skipped("upstream_failed"), Blocked()});
  rows[1].may_still_run = true;
  EXPECT_EQ(Retried(Nightly(), rows, {}), "block repair 1, block publish 1; may still run: audit");
  EXPECT_EQ(Retried(Nightly(), rows, {.overlap = Overlap::kConfirmed}),
            "block audit 2+, block repair 1, block publish 1");
  rows[1].state = RunState::kHeld;
  const WorkflowRetry named{.from = RetryFrom::kNodes, .nodes = {"audit"}};
  EXPECT_NE(Retried(Nightly(), rows, named).find("may still run: audit"), std::string::npos);
  rows[1].may_still_run = false;
  EXPECT_EQ(Retried(Nightly(), rows, named), "block audit 2+, block repair 1, block publish 1");
}

TEST(WorkflowRetryTest, SkipsNodesInsteadOfRunningThem) {
  const NodeRows rows = Rows(
      {Completed(), Failed(1), Skipped("not_selected"), Skipped("upstream_failed"), Completed()});
  EXPECT_EQ(Retried(Nightly(), rows, {.skip = {"audit"}}),
            "skip audit 2+, block repair 1, block publish 1, block report 2+");
  EXPECT_EQ(
      Retried(Nightly(), rows, {.skip = {"load"}}),
      "node 'load' is COMPLETED; only a node that waits, is HELD or has failed can be skipped");
  // Outside of what is run again, only the nodes that it had stopped follow.
  EXPECT_EQ(
      Retried(Nightly(), rows, {.from = RetryFrom::kNodes, .nodes = {"report"}, .skip = {"audit"}}),
      "skip audit 2+, block publish 1, block report 2+");
  const auto unknown = PlanRetry(Nightly(), rows, {.skip = {"x"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().pointer, "/skip/0");
}

TEST(WorkflowRetryTest, AnAttemptIsNeverUsedTwice) {
  const WorkflowGraph graph = Graph({Node("a")});
  NodeRows rows{Failed()};
  const auto skip = PlanSkip(graph, rows, "a", Overlap::kUnconfirmed);
  ASSERT_TRUE(skip.ok());
  ApplyChanges(skip->changes, rows);
  EXPECT_EQ(rows[0].attempt, 2);
  EXPECT_EQ(rows[0].reason, "skipped_by_hand");
  // The skip has made no attempt, which counts as given back.
  EXPECT_EQ(Retried(graph, rows, {.from = RetryFrom::kStart}), "block a 3-");
}

// Whatever an executor was offered before must not start what runs now.
TEST(WorkflowRetryTest, OnlyWhatWasNeverOfferedKeepsItsAttempt) {
  const WorkflowGraph graph = Graph({Node("a")});
  const WorkflowRetry all{.from = RetryFrom::kStart};
  for (const char* why : {"not_selected", "upstream_failed", "bad_condition"}) {
    EXPECT_EQ(Retried(graph, {Skipped(why)}, all), "block a 1") << why;
  }
  for (const char* why : {"skipped_by_hand", "forbidden", "queue_timeout", "overlap", "deleted",
                          "bad_definition", "bad_parameters"}) {
    EXPECT_EQ(Retried(graph, {Skipped(why)}, all), "block a 2-") << why;
  }
  EXPECT_EQ(Retried(graph, {Skipped("forbidden")}, {.from = RetryFrom::kStart, .skip = {"a"}}),
            "skip a 1");
}

TEST(WorkflowSkipTest, ANodeThatWaitsOrHasFailedCanBeSkipped) {
  const NodeRows rows = Rows(
      {Completed(), Failed(1), Skipped("not_selected"), Skipped("upstream_failed"), Released()});
  EXPECT_EQ(SkippedByHand(Nightly(), rows, "audit"), "skip audit 2+, block publish 1");
  EXPECT_EQ(SkippedByHand(Nightly(), rows, "report"), "skip report 1");
  EXPECT_EQ(
      SkippedByHand(Nightly(), rows, "publish"),
      "node 'publish' is SKIPPED upstream_failed; only a node that waits, is HELD or has failed "
      "can be skipped");
  EXPECT_EQ(SkippedByHand(Nightly(), rows, "none"), "no node 'none'");
  EXPECT_EQ(SkippedByHand(Nightly(), NodeRows(5), "publish"), "skip publish 1");
}

TEST(WorkflowSkipTest, ANodeThatIsHeldCanBeSkippedOrRunAgain) {
  const WorkflowGraph graph = Graph({Node("a")});
  NodeRows rows{Row(RunState::kHeld, "executor_lost")};
  EXPECT_EQ(SkippedByHand(graph, rows, "a"), "skip a 2+");
  EXPECT_EQ(Retried(graph, rows, {}), "block a 2+");
  rows[0].may_still_run = true;
  EXPECT_EQ(SkippedByHand(graph, rows, "a"), "; may still run: a");
  EXPECT_EQ(Retried(graph, rows, {}), "; may still run: a");
  EXPECT_EQ(Retried(graph, rows, {.overlap = Overlap::kConfirmed}), "block a 2+");
}

TEST(WorkflowSkipTest, ARunningNodeCannotBeSkipped) {
  EXPECT_EQ(SkippedByHand(Graph({Node("a")}), {Row(RunState::kRunning)}, "a"),
            "node 'a' is RUNNING; only a node that waits, is HELD or has failed can be skipped");
}

TEST(WorkflowRetryTest, NestedRunsContinueIfTheyFailedAndNothingBeforeThemChanges) {
  const WorkflowGraph graph =
      Graph({Node("a"), Node("b", {Success("a")}), Node("c", {Done("b")}), Node("d")});
  const NodeRows rows{Completed(), Failed(), Completed(), Skipped("deleted")};
  const auto anew = [&](const WorkflowRetry& retry) {
    std::string text;
    const auto plan = PlanRetry(graph, rows, retry);
    for (const NodeChange& change : plan->changes) {
      text += graph.node(change.position).id + (change.anew ? "+ " : " ");
    }
    return text;
  };
  EXPECT_EQ(anew({}), "b c+ d+ ");
  EXPECT_EQ(anew({.from = RetryFrom::kNodes, .nodes = {"a"}}), "a+ b+ c+ ");
  EXPECT_EQ(anew({.from = RetryFrom::kNodes, .nodes = {"b"}, .skip = {"b"}}), "b c+ ");
  EXPECT_EQ(anew({.from = RetryFrom::kStart}), "a+ b+ c+ d+ ");
}

TEST(WorkflowSkipTest, ChainsOfSkippedNodesAreBlockedAgain) {
  const WorkflowGraph graph =
      Graph({Node("a"), Node("b", {Success("a")}), Node("c", {Success("b")}),
             Node("d", {Failure("a")}), Node("e", {Success("x")}), Node("x")});
  NodeRows rows{Failed(),    Skipped("upstream_failed"), Skipped("upstream_failed"),
                Completed(), Skipped("upstream_failed"), Failed()};
  const auto plan = PlanSkip(graph, rows, "a", Overlap::kUnconfirmed);
  EXPECT_EQ(PlanText(graph, plan), "skip a 2+, block b 1, block c 1");
  EXPECT_EQ(plan->run_again, (std::vector<std::string>{"b", "c"}));
  ApplyChanges(plan->changes, rows);
  EXPECT_EQ(StepText(graph, rows), "release b");
}

TEST(WorkflowSkipTest, AProcessThatMayStillRunNeedsAConfirmation) {
  const WorkflowGraph graph = Graph({Node("a")});
  NodeRows rows{Row(RunState::kFailed, "executor_lost")};
  rows[0].may_still_run = true;
  EXPECT_EQ(SkippedByHand(graph, rows, "a"), "; may still run: a");
  EXPECT_EQ(SkippedByHand(graph, rows, "a", Overlap::kConfirmed), "skip a 2+");
}

}  // namespace
}  // namespace carillon::test
