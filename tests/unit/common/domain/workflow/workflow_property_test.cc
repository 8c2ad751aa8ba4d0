// Random workflows against the reference. Each rule that a test switches off must be noticed.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "tests/support/failpoint_on.h"
#include "tests/unit/common/domain/workflow/workflow_world.h"

namespace carillon::test {
namespace {

// Runs a random workflow, with persons who cancel, skip and retry; returns the first complaint.
// Counts the ends.
std::string Tried(uint64_t seed, std::map<RunState, int>* ends = nullptr) {
  Rng rng(seed);
  WorkflowDefinition workflow = RandomWorkflow(rng);
  WorkflowWorld world(std::move(workflow), seed, rng.Next());
  const bool persons = rng.Chance(0.5);
  world.RunToItsEnd(persons);
  constexpr std::array kFrom{RetryFrom::kFailed, RetryFrom::kStart, RetryFrom::kNodes};
  for (uint64_t retries = rng.Below(4); retries > 0 && world.complaint().empty(); --retries) {
    if (world.RetrySomething(kFrom.at(rng.Below(kFrom.size())))) world.RunToItsEnd(persons);
  }
  if (ends != nullptr && world.end()) ++(*ends)[world.end()->state];
  return world.complaint();
}

TEST(WorkflowPropertyTest, EveryStepIsAsTheReferenceSays) {
  std::map<RunState, int> ends;
  for (uint64_t seed = 1; seed <= 4'000; ++seed) {
    ASSERT_EQ(Tried(seed, &ends), "") << "seed " << seed;
  }
  EXPECT_GT(ends[RunState::kCompleted], 500);
  EXPECT_GT(ends[RunState::kFailed], 500);
  EXPECT_GT(ends[RunState::kCancelled], 50);
  EXPECT_GT(ends[RunState::kTimedOut], 50);
}

TEST(WorkflowPropertyTest, RandomWorkflowsAreValid) {
  size_t accepted = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    const WorkflowProblems problems = CheckWorkflow(RandomWorkflow(rng));
    if (problems.empty()) ++accepted;
    for (const WorkflowProblem& problem : problems) {
      // A random condition may well be one that can never hold.
      ASSERT_EQ(problem.code, WorkflowMistake::kNeverStarts) << problem.message;
    }
  }
  EXPECT_GT(accepted, 200u);
}

TEST(WorkflowPropertyTest, TheOrderOfEndsDoesNotMatter) {
  for (uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    const WorkflowDefinition workflow = RandomWorkflow(rng);
    WorkflowWorld first(workflow, seed, 1);
    first.RunToItsEnd(false);
    for (uint64_t order = 2; order <= 4; ++order) {
      WorkflowDefinition other = workflow;
      other.max_parallel = order == 4 ? 1 : workflow.max_parallel;
      WorkflowWorld second(other, seed, order);
      second.RunToItsEnd(false);
      ASSERT_EQ(first.complaint() + second.complaint(), "") << "seed " << seed;
      ASSERT_EQ(first.rows(), second.rows()) << "seed " << seed;
      ASSERT_EQ(first.end(), second.end()) << "seed " << seed;
    }
  }
}

TEST(WorkflowPropertyTest, NoRuleCanBeSwitchedOffUnnoticed) {
  for (const std::string rule :
       {"edge.ignored_blocks", "node.decided_early", "edge.met_twice", "workflow.recovers",
        "workflow.max_parallel", "retry.without_downstream", "finally.early", "finally.cancelled",
        "finally.not_again", "rule.allowed_counts"}) {
    failpoint::Break(rule);
    uint64_t seed = 1;
    while (seed <= 500 && Tried(seed).empty()) ++seed;
    failpoint::Reset();
    EXPECT_LE(seed, 500u) << rule;
  }
}

}  // namespace
}  // namespace carillon::test
