#include "common/domain/nodes/node_groups.h"

#include <gtest/gtest.h>

#include "common/domain/run/dependents.h"

namespace carillon {
namespace {

JobDefinition Task(const std::string& group) {
  return {.command = "true", .concurrency_group = group};
}

JobDefinition Workflow() {
  WorkflowDefinition workflow;
  workflow.nodes = {
      {.id = "plain", .job = JobId("x")},
      {.id = "grouped", .job = JobId("y"), .rules = {.concurrency_group = "db"}},
      {.id = "free", .job = JobId("x"), .rules = {.concurrency_group = ""}},
      {.id = "task", .task = TaskBox(Task("disk"))},
      {.id = "again", .task = TaskBox(Task("db"))},
      {.id = "alone", .task = TaskBox(Task(""))},
      {.id = "gate", .approval = Approval{}},
      {.id = "pause", .wait = NodeWait{.for_s = 60}},
  };
  return {.type = JobType::kWorkflow, .workflow = workflow};
}

TEST(NodeGroupsTest, NodesNameTheGroupsOfTheirRulesAndOfTheirTasks) {
  const NamedGroups expected = {{"db", "/workflow/nodes/1/concurrency_group"},
                                {"disk", "/workflow/nodes/3/task/concurrency_group"}};
  EXPECT_EQ(GroupsOfNodes(Workflow()), expected);
  EXPECT_EQ(GroupsOf(Workflow()), expected);
}

TEST(NodeGroupsTest, AJobNamesItsOwnGroup) {
  EXPECT_TRUE(GroupsOfNodes(Task("db")).empty());
  EXPECT_EQ(GroupsOf(Task("db")), (NamedGroups{{"db", "/concurrency_group"}}));
  EXPECT_TRUE(GroupsOf(Task("")).empty());
}

TEST(NodeGroupsTest, NodesWithoutAJobDependOnNone) {
  EXPECT_EQ(NodeJobsOf(Workflow()), (std::vector<JobId>{JobId("x"), JobId("y")}));
}

}  // namespace
}  // namespace carillon
