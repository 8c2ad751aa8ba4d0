#include "common/domain/template/command_parameters.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

using Names = std::set<std::string>;

JobDefinition Shell(const std::string& command) { return {.command = command}; }

TEST(CommandParametersTest, AreThoseThatBecomeCode) {
  JobDefinition job = Shell("load {{params.table}} '{{env.WHERE}}' \"$CARILLON_PARAM_ROWS\"");
  job.env["WHERE"] = "{{params.where}}";
  job.env["OTHER"] = "{{params.other}}";
  EXPECT_EQ(CommandParameters(job), (Names{"table", "where"}));
  job.type = JobType::kNoop;
  EXPECT_EQ(CommandParameters(job), Names{});
}

TEST(CommandParametersTest, OfAWorkflowAreThoseThatItsTasksHandOn) {
  JobDefinition job{.type = JobType::kWorkflow};
  WorkflowNode load{.id = "load", .task = TaskBox(Shell("load {{params.table}} {{params.where}}"))};
  load.parameters = {{"table", std::string("t_{{workflow.parameters.region}}")},
                     {"where", std::string("{{nodes.list.outputs.where}}")},
                     {"unused", std::string("{{workflow.parameters.unused}}")}};
  WorkflowNode other{.id = "other", .job = JobId("other")};
  other.parameters = {{"table", std::string("{{workflow.parameters.of_a_job}}")}};
  WorkflowNode each{.id = "each", .task = TaskBox(Shell("load {{params.file}}"))};
  each.over = "{{workflow.parameters.files}}";
  each.as = "file";
  job.workflow.emplace().nodes = {load, other, each};
  EXPECT_EQ(CommandParameters(job), (Names{"files", "region"}));
}

}  // namespace
}  // namespace carillon::test
