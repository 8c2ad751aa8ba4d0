#include "common/domain/nodes/run_definition.h"

#include <gtest/gtest.h>

#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"

namespace carillon {
namespace {

const JobNo kPlainJob(7);
const JobNo kTasksOfFlow = TaskJobOf(JobNo(8));

// A task, a node with a job, an approval and a wait.
JobDefinition FlowOfAllKinds() {
  JobDefinition task;
  task.command = "load";
  task.timeout_s = 60;
  JobDefinition flow;
  flow.type = JobType::kWorkflow;
  flow.timeout_s = 900;
  flow.workflow = WorkflowDefinition{.nodes = {{.id = "task", .task = TaskBox(task)},
                                               {.id = "job", .job = JobId("x")},
                                               {.id = "gate", .approval = Approval{}},
                                               {.id = "later", .wait = NodeWait{.for_s = 60}}}};
  return flow;
}

TEST(RunDefinitionTest, PartsAndTheirRunAreAtTheSameNode) {
  RunKey key = NodeKey(FromUnixMicros(5), {.workflow_run_no = 3, .position = 4}).value();
  EXPECT_EQ(NodePositionOf(key), 4u);
  key.shard = 9;
  EXPECT_EQ(NodePositionOf(key), 4u);
  EXPECT_EQ(NodePositionOf({.fire = key.fire, .schedule_id = ScheduleId(1)}), std::nullopt);
}

TEST(RunDefinitionTest, ARunWithoutRulesHasTheVersionOfItsJob) {
  JobDefinition job;
  job.command = "true";
  EXPECT_EQ(DefinitionForRun(job, kPlainJob, std::nullopt, "").value(), job);
  EXPECT_EQ(DefinitionForRun(job, kPlainJob, 2, "").value(), job) << "that of a node";
}

TEST(RunDefinitionTest, RulesTakeThePlaceOfThoseOfTheJob) {
  JobDefinition job;
  job.command = "true";
  job.executor_id = "e1";
  JobDefinition expected = job;
  expected.timeout_s = 5;
  expected.executor_id = "";
  EXPECT_EQ(DefinitionForRun(job, kPlainJob, 0, "timeout=5;executor_id=").value(), expected);
  EXPECT_EQ(DefinitionForRun(job, kPlainJob, 0, "of_tomorrow=1").code(), ErrorCode::kCorrupt);
}

TEST(RunDefinitionTest, OnlyATaskIsExecutedWithoutAJob) {
  const JobDefinition flow = FlowOfAllKinds();
  const auto of_task = DefinitionForRun(flow, kTasksOfFlow, 0, "type=shell;timeout=61");
  ASSERT_TRUE(of_task.ok());
  EXPECT_EQ(of_task->command, "load");
  EXPECT_EQ(of_task->timeout_s, 61);
  EXPECT_FALSE(of_task->workflow.has_value());
  for (const size_t other : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(DefinitionForRun(flow, kTasksOfFlow, other, "").code(), ErrorCode::kCorrupt) << other;
  }
  EXPECT_EQ(DefinitionForRun(flow, kTasksOfFlow, std::nullopt, "").code(), ErrorCode::kCorrupt);
  JobDefinition no_flow;
  no_flow.command = "true";
  EXPECT_EQ(DefinitionForRun(no_flow, kTasksOfFlow, 0, "").code(), ErrorCode::kCorrupt);
}

TEST(RunDefinitionTest, TheTimeoutOfANestedWorkflowIsThatOfItsNode) {
  const JobDefinition flow = FlowOfAllKinds();
  EXPECT_EQ(TimeoutOf(flow, {}), 900s);
  EXPECT_EQ(TimeoutOf(flow, {.flags = run_flag::kRules, .rules = "priority=3"}), 900s);
  EXPECT_EQ(TimeoutOf(flow, {.flags = run_flag::kRules, .rules = "timeout=30"}), 30s);
  EXPECT_EQ(TimeoutOf(flow, {.flags = run_flag::kRules, .rules = "of_tomorrow=1"}), 900s);
}

}  // namespace
}  // namespace carillon
