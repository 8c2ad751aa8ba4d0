// Retries and skips of approvals, waits and finally nodes.
#include <gtest/gtest.h>

#include "common/domain/workflow/workflow_retry.h"
#include "tests/unit/common/domain/workflow/workflow_samples.h"

namespace carillon::test {
namespace {

// "gate 2, clean 2*": a star for a nested workflow that would begin anew.
std::string AgainText(const WorkflowGraph& graph, const Result<RetryPlan>& plan) {
  if (!plan.ok()) return plan.error().message;
  if (plan->refused()) return RefusalSentence(graph, *plan);
  std::string text;
  for (const NodeChange& change : plan->changes) {
    text += (text.empty() ? "" : ", ") + graph.node(change.position).id + " ";
    text += change.to == NodeChange::To::kAgain ? std::to_string(change.attempt) : "skipped";
    if (change.anew) text += "*";
  }
  return text;
}

// clean, mail: finally nodes, mail after clean.
WorkflowGraph WithTwoFinally() {
  return Graph({Node("a"), Node("b", {Success("a")}), Finally("clean"),
                Finally("mail", {Success("clean")})});
}

TEST(FinallyRetryTest, WhateverRunsAgainIsCleanedUpAgain) {
  const WorkflowGraph graph = WithTwoFinally();
  const NodeRows rows{Completed(), Failed(), Completed(), Completed()};
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, rows, {})), "b 2, clean 2*, mail 2*");
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, rows, {.from = RetryFrom::kNodes, .nodes = {"b"}})),
            "b 2, clean 2*, mail 2*");
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, rows, {.from = RetryFrom::kStart})),
            "a 2*, b 2*, clean 2*, mail 2*");
  // One that a person skips in the same breath stays skipped.
  EXPECT_EQ(
      AgainText(graph, PlanRetry(graph, {Completed(), Failed(), Completed(), Failed()},
                                 {.from = RetryFrom::kNodes, .nodes = {"b"}, .skip = {"mail"}})),
      "b 2, clean 2*, mail skipped");
}

TEST(FinallyRetryTest, IfOnlyTheyFailedOnlyTheyRunAgain) {
  const WorkflowGraph graph = WithTwoFinally();
  EXPECT_EQ(
      AgainText(
          graph,
          PlanRetry(graph, {Completed(), Completed(), Failed(), Skipped("upstream_failed")}, {})),
      "clean 2, mail 1*");
  EXPECT_EQ(
      AgainText(
          graph,
          PlanRetry(graph, {Completed(), Completed(), Completed(), Row(RunState::kCancelled)}, {})),
      "mail 2");
}

TEST(FinallyRetryTest, AFinallyNodeThatRunsRefusesTheRetry) {
  const WorkflowGraph graph = WithTwoFinally();
  const NodeRows rows{Failed(), Skipped("upstream_failed"), Row(RunState::kRunning), Blocked()};
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, rows, {})), "running: clean");
  // What has not begun needs no change.
  EXPECT_EQ(
      AgainText(graph,
                PlanRetry(graph, {Failed(), Skipped("upstream_failed"), Blocked(), Blocked()}, {})),
      "a 2, b 1*");
}

TEST(FinallyRetryTest, ASkipThatLetsANodeRunBlocksThemAgain) {
  const WorkflowGraph graph = WithTwoFinally();
  const NodeRows rows{Failed(), Skipped("upstream_failed"), Failed(), Skipped("upstream_failed")};
  EXPECT_EQ(AgainText(graph, PlanSkip(graph, rows, "a", Overlap::kConfirmed)),
            "a skipped, b 1*, clean 2*, mail 1*");
  // Nothing else runs: what they have done stays done.
  const NodeRows last{Completed(), Failed(), Completed(), Completed()};
  EXPECT_EQ(AgainText(graph, PlanSkip(graph, last, "b", Overlap::kConfirmed)), "b skipped");
}

TEST(OpenedRetryTest, AnApprovalIsAskedAgain) {
  const WorkflowGraph graph =
      Graph({Node("a"), Gate("gate", {}, {Success("a")}), Node("b", {Success("gate")})});
  const NodeRows refused{Completed(), Row(RunState::kFailed, "refused"),
                         Skipped("upstream_failed")};
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, refused, {})), "gate 2, b 1*");
  const NodeRows approved{Completed(), Completed(), Failed()};
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, approved, {})), "b 2");
  EXPECT_EQ(
      AgainText(graph, PlanRetry(graph, approved, {.from = RetryFrom::kNodes, .nodes = {"a"}})),
      "a 2*, gate 2*, b 2*");
}

TEST(OpenedRetryTest, AnOpenNodeIsSkippedButNotAskedTwice) {
  WorkflowNode any = Gate("gate", {}, {Success("a"), Success("b")});
  any.trigger_rule.least = TriggerRule::kAny;
  const WorkflowGraph graph = Graph({Node("a"), Node("b"), any});
  const NodeRows rows{Completed(), Failed(), Opened()};
  EXPECT_EQ(AgainText(graph, PlanRetry(graph, rows, {})), "running: gate");
  EXPECT_EQ(AgainText(graph, PlanSkip(graph, rows, "gate", Overlap::kUnconfirmed)), "gate skipped");
  NodeRows after = rows;
  ApplyChanges(PlanSkip(graph, rows, "gate", Overlap::kUnconfirmed)->changes, after);
  EXPECT_FALSE(after[2].opened);
  EXPECT_EQ(after[2].reason, "skipped_by_hand");
}

}  // namespace
}  // namespace carillon::test
