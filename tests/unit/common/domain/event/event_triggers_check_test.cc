// The mistakes in triggers that are refused when the job is written.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "common/domain/event/event_parameters.h"
#include "common/domain/job/job_mistakes.h"
#include "common/domain/job/parameter_rules.h"

namespace carillon::test {
namespace {

ScheduleSpec OrderTrigger(Parameters parameters) {
  return {.kind = ScheduleKind::kEvent,
          .event_type = "order.*",
          .filter = "data.n > 3",
          .parameters = std::move(parameters)};
}

JobDefinition ShellJob(std::string command, std::string value = "{{event.data.x}}") {
  JobDefinition job;
  job.name = "import";
  job.command = std::move(command);
  job.schedules = {{.kind = ScheduleKind::kCron, .cron_expression = "0 * * * *"},
                   OrderTrigger({{"x", std::move(value)}})};
  // The cron schedule has the default.
  job.parameters["x"] = "none";
  return job;
}

constexpr char kAtX[] = "/schedules/1/parameters/x";

// Returns the pointer of the mistake; "" if there is none. ValidateJob must agree.
std::string MistakeAt(const JobDefinition& job) {
  const Status checked = CheckEventTriggers(job);
  const auto mistakes = FindMistakes(job);
  EXPECT_EQ(mistakes.size(), checked.ok() ? 0u : 1u)
      << (mistakes.empty() ? "" : mistakes[0].pointer + ": " + mistakes[0].message);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.code(), ErrorCode::kInvalid);
  if (!mistakes.empty()) {
    EXPECT_EQ(mistakes[0].pointer, checked.error().pointer);
  }
  return checked.error().pointer;
}

TEST(CheckEventTriggersTest, ACommandTakesNoTextOfAnEvent) {
  EXPECT_EQ(MistakeAt(ShellJob("load {{params.x}}")), kAtX);
  EXPECT_EQ(MistakeAt(ShellJob("load {{ params.x }}", "day {{event.id}}")), kAtX);
  EXPECT_EQ(MistakeAt(ShellJob("load \"$CARILLON_PARAM_X\"")), "");
  EXPECT_EQ(MistakeAt(ShellJob("load {{params.x}}", "{{fire_date}}")), "");
  EXPECT_EQ(MistakeAt(ShellJob("load {{params.x}}", "plain {{{{event.id}}}}")), "");
  EXPECT_EQ(MistakeAt(ShellJob("load {{{{params.x}}}}")), "");
  const Status checked = CheckEventTriggers(ShellJob("load {{params.x}}"));
  EXPECT_NE(checked.error().message.find("$CARILLON_PARAM_X"), std::string::npos);
}

TEST(CheckEventTriggersTest, AVariableThatTheCommandContainsTakesNone) {
  JobDefinition job = ShellJob("load {{env.FILE}}");
  job.env["FILE"] = "/in/{{params.x}}";
  EXPECT_EQ(MistakeAt(job), kAtX);
  job.command = "load \"$FILE\"";
  EXPECT_EQ(MistakeAt(job), "");
}

TEST(CheckEventTriggersTest, AScriptTakesItAsAnArgument) {
  JobDefinition job = ShellJob("");
  job.type = JobType::kScript;
  job.script = ScriptDefinition{.interpreter = Interpreter::kBash, .body = "echo {{params.x}}"};
  job.script->args = {"{{params.x}}"};
  EXPECT_EQ(MistakeAt(job), "");
}

TEST(CheckEventTriggersTest, TheWordsOfAContainerTakeNone) {
  JobDefinition job = ShellJob("");
  job.type = JobType::kContainer;
  job.container = ContainerDefinition{.image = "registry.example/load:1"};
  EXPECT_EQ(MistakeAt(job), "");
  job.container->args = {"--file", "{{params.x}}"};
  EXPECT_EQ(MistakeAt(job), kAtX);
  job.container->args.clear();
  job.container->command = {"sh", "-c", "load {{params.x}}"};
  EXPECT_EQ(MistakeAt(job), kAtX);
}

TEST(CheckEventTriggersTest, TheHostOfARequestTakesNoneItsPathDoes) {
  JobDefinition job = ShellJob("");
  job.type = JobType::kHttp;
  job.http = HttpDefinition{.url = "https://{{params.x}}.example/in"};
  EXPECT_EQ(MistakeAt(job), kAtX);
  job.http->url = "https://a.example/in/{{params.x}}?q={{params.x}}";
  EXPECT_EQ(MistakeAt(job), "");
  job.http->method = HttpMethod::kPost;
  job.http->headers["Content-Type"] = "text/plain";
  job.http->body = "{{params.x}}";
  EXPECT_EQ(MistakeAt(job), kAtX);
  job.http->headers["Content-Type"] = "application/json";
  job.http->body = R"({"x": "{{params.x}}"})";
  EXPECT_EQ(MistakeAt(job), "");
}

TEST(CheckEventTriggersTest, ARuleThatLeavesNoFreeTextAllowsTheCommand) {
  JobDefinition job = ShellJob("load {{params.x}}");
  job.parameters.clear();
  job.schedules.erase(job.schedules.begin());
  const auto mistake = [&job](ParameterRule rule) {
    job.parameter_rules["x"] = std::move(rule);
    const Status checked = CheckEventTriggers(job);
    return checked.ok() ? "" : checked.error().pointer;
  };
  EXPECT_EQ(mistake({}), "/schedules/0/parameters/x");
  EXPECT_EQ(mistake({.required = true}), "/schedules/0/parameters/x");
  EXPECT_EQ(mistake({.choices = {"eu", "us"}}), "");
  for (const ParameterType type :
       {ParameterType::kInteger, ParameterType::kNumber, ParameterType::kBoolean}) {
    EXPECT_EQ(mistake({.type = type}), "") << Name(type);
  }
}

TEST(CheckEventTriggersTest, ATextCanNeverBeTheNumberOfARule) {
  const auto mistake = [](ParameterType type, const std::string& value) {
    JobDefinition job = ShellJob("load", value);
    job.parameter_rules["x"] = {.type = type};
    const Status checked = CheckEventTriggers(job);
    return checked.ok() ? "" : checked.error().pointer;
  };
  for (const ParameterType type :
       {ParameterType::kInteger, ParameterType::kNumber, ParameterType::kBoolean}) {
    for (const std::string value : {"{{event.id}}", "{{event.type}}", "1{{event.data.x}}",
                                    "{{fire_date}}", "{{event.data.x}}{{event.data.y}}"}) {
      EXPECT_EQ(mistake(type, value), kAtX) << value;
    }
    EXPECT_EQ(mistake(type, "{{event.data.x}}"), "");
    EXPECT_EQ(mistake(type, "{{event.data}}"), "");
  }
  EXPECT_EQ(mistake(ParameterType::kString, "{{event.id}}"), "");
}

TEST(CheckEventTriggersTest, AnUnknownPlaceholderIsRefused) {
  for (const std::string value :
       {"{{event}}", "{{event.time}}", "{{event.data.}}", "{{event.data.a-b}}", "{{data.x}}",
        "{{params.y}}", "{{trigger.run_id}}", "{{run_id}}", "{{nodes.a.outputs.n}}",
        "{{event.data.x", "{{}}", "{{fire_date + 1q}}"}) {
    EXPECT_EQ(MistakeAt(ShellJob("load", value)), kAtX) << value;
  }
  const Status near = CheckEventTriggers(ShellJob("load", "{{data.x}}"));
  EXPECT_NE(near.error().message.find("did you mean 'event.data.x'?"), std::string::npos);
  // In all other schedules the value of a parameter is no template.
  JobDefinition job = ShellJob("load");
  job.schedules[0].parameters["x"] = "{{event}} {{a";
  EXPECT_EQ(MistakeAt(job), "");
}

TEST(CheckEventTriggersTest, AFilterIsRefusedAtItsCharacter) {
  JobDefinition job = ShellJob("load");
  job.schedules[1].filter = "data.n >";
  EXPECT_EQ(MistakeAt(job), "/schedules/1/filter");
  EXPECT_EQ(CheckEventTriggers(job).error().message, "at character 9: expected a value");
  job.schedules[1].filter = "";
  EXPECT_EQ(MistakeAt(job), "");
}

// One mistake each, though both the schedules and the triggers are looked at.
TEST(CheckEventTriggersTest, ATypeIsRefusedOnce) {
  JobDefinition job = ShellJob("load");
  job.schedules[1].event_type = "*.created";
  const auto mistakes = FindMistakes(job);
  ASSERT_EQ(mistakes.size(), 1u);
  EXPECT_EQ(mistakes[0].pointer, "/schedules/1/type");
}

}  // namespace
}  // namespace carillon::test
