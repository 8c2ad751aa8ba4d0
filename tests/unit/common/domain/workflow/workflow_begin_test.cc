#include "common/domain/workflow/workflow_begin.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

RunRow Own(uint32_t flags) { return {.kind = RunKind::kCron, .flags = flags}; }

TEST(WorkflowBeginTest, TheFlagAndNothingElseDecidesAboutASecondBegin) {
  EXPECT_EQ(KindOfBegin(Own(0), false), BeginKind::kFirst);
  // A backfill runs again what was SKIPPED and has never begun.
  EXPECT_EQ(KindOfBegin(Own(run_flag::kAnew), false), BeginKind::kFirst);
  EXPECT_EQ(KindOfBegin(Own(run_flag::kBackground | run_flag::kDependents), true),
            BeginKind::kContinued);
  EXPECT_EQ(KindOfBegin(Own(run_flag::kBackground | run_flag::kAnew), true), BeginKind::kAnew);
}

TEST(WorkflowBeginTest, NodesTakeOverThatTheyAreBackfilled) {
  constexpr uint32_t kNode = run_flag::kNode | run_flag::kHasRequest;
  EXPECT_EQ(FlagsOfNode(Own(0), false), kNode);
  EXPECT_EQ(FlagsOfNode(Own(0), true), kNode | run_flag::kDependents);
  const uint32_t background = FlagsOfNode(Own(run_flag::kBackground | run_flag::kAnew), true);
  EXPECT_EQ(background, kNode | run_flag::kBackground);
  // Also the nodes of a nested workflow run.
  EXPECT_EQ(FlagsOfNode(Own(background), true), background);
}

TEST(WorkflowBeginTest, NodesTakeOverThatAPersonStartedThem) {
  const uint32_t node = FlagsOfNode({.kind = RunKind::kManual}, false);
  EXPECT_EQ(node, run_flag::kNode | run_flag::kHasRequest | run_flag::kByHand);
  // Also the nodes of a nested workflow run.
  EXPECT_EQ(FlagsOfNode({.kind = RunKind::kWorkflow, .flags = node}, false), node);
}

}  // namespace
}  // namespace carillon::test
