#include "common/domain/template/job_templates.h"

#include <gtest/gtest.h>

namespace carillon::test {
namespace {

TEST(JobTemplatesTest, ADateIsFoundWhereverItIs) {
  JobDefinition none;
  none.command = "echo {{fire_time}} {{{{fire_date}} fire_date";
  EXPECT_FALSE(UsesFireDate(none));
  JobDefinition command;
  command.command = "echo {{ fire_date - 1d }}";
  EXPECT_TRUE(UsesFireDate(command));
  JobDefinition variable;
  variable.env["DAY"] = "{{fire_time.local}}";
  EXPECT_TRUE(UsesFireDate(variable));
  JobDefinition script;
  script.script = ScriptDefinition{.body = "{{fire_date}}", .args = {"a"}};
  EXPECT_FALSE(UsesFireDate(script)) << "the text of a script is no template";
  script.script->args.push_back("{{fire_date}}");
  EXPECT_TRUE(UsesFireDate(script));
  JobDefinition request;
  request.http = HttpDefinition{.url = "http://h/", .body = "{{fire_date}}"};
  EXPECT_TRUE(UsesFireDate(request));
  JobDefinition container;
  container.container = ContainerDefinition{.image = "i", .command = {"{{fire_date}}"}};
  EXPECT_TRUE(UsesFireDate(container));
  JobDefinition routed;
  routed.routing_key = "{{fire_date}}";
  EXPECT_TRUE(UsesFireDate(routed));
  JobDefinition handled;
  handled.parameters["day"] = std::string("at {{ fire_date }}, {{other}}");
  EXPECT_TRUE(UsesFireDate(handled));
  handled.parameters["day"] = std::string("{{fire_time}} fire_date }}");
  EXPECT_FALSE(UsesFireDate(handled));
  handled.schedules = {{.kind = ScheduleKind::kRate, .parameters = {{"x", "{{fire_date}}"}}}};
  EXPECT_TRUE(UsesFireDate(handled));
  handled.schedules = {{.kind = ScheduleKind::kEvent, .parameters = {{"x", "{{fire_date}}"}}}};
  EXPECT_FALSE(UsesFireDate(handled)) << "filled when the event comes";
  JobDefinition flow;
  flow.workflow = WorkflowDefinition{.nodes = {{.id = "a", .job = JobId("a")}}};
  EXPECT_FALSE(UsesFireDate(flow));
  flow.workflow->nodes[0].parameters["at"] = std::string("{{fire_time}}");
  EXPECT_TRUE(UsesFireDate(flow)) << "fire_time is as new there";
}

}  // namespace
}  // namespace carillon::test
