#include "common/wire/json/workflow/node_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/domain/job/job.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/wire/json/job/job_changes.h"
#include "common/wire/json/job/job_fields.h"
#include "common/wire/json/workflow/workflow_json.h"

namespace carillon::test {
namespace {

using nlohmann::json;

constexpr std::string_view kPublish = R"({
  "max_parallel": 4, "finally_timeout": 600,
  "outputs": {"rows": "{{nodes.each.outputs.rows}}"},
  "nodes": [
    {"id": "list", "task": "ls /in"},
    {"id": "load", "after": ["list"], "job": "load-table", "timeout": 600, "retry_count": 3,
     "retry_interval": 0, "retry_backoff": "exponential", "retry_intervals": [5, 60],
     "retry_on": ["exit:3"], "no_retry_on": ["signal"], "on_lost": "hold", "priority": 0,
     "executor_id": "", "executor_selector": "zone=a", "concurrency_group": "db"},
    {"id": "each", "after": ["list"],
     "task": {"type": "script", "script": {"interpreter": "python3", "body": "import os"},
              "retry_count": 2, "timeout": 60, "env": {"MODE": "fast"}},
     "over": "{{nodes.list.outputs.files}}", "as": "file", "collect": "rows"},
    {"id": "open", "after": ["each"], "wait": {"until": "06:30", "day": 1}},
    {"id": "rest", "after": ["each"], "wait": {"for_s": 900}},
    {"id": "gate", "after": ["open"], "parameters": {"n": "{{nodes.each.outputs.rows}}"},
     "approval": {"message": "{{params.n}} rows; publish?", "timeout_s": 14400,
                  "on_timeout": "approve", "by": ["user-07c1"]}},
    {"id": "send", "after": ["gate", "load"], "trigger_rule": {"succeeded": "all"},
     "task": {"type": "noop"}},
    {"id": "some", "after": ["gate", "load"], "trigger_rule": {"succeeded": 2},
     "task": {"type": "noop"}},
    {"id": "clean", "finally": true, "task": {"command": "rm -rf /tmp/x"}}
  ]})";

ParsedWorkflow Read(const json& body) { return ReadWorkflow(body); }

// The mistakes of a workflow with this one node, as "POINTER: MESSAGE".
std::string MistakesOf(json node) {
  if (!node.contains("id")) node["id"] = "a";
  std::string text;
  for (const WorkflowProblem& one : Read({{"nodes", json::array({node})}}).problems) {
    text += (text.empty() ? "" : "\n") + one.pointer + ": " + one.message;
  }
  return text;
}

TEST(NodeJsonTest, ReadsWhatANodeRuns) {
  const ParsedWorkflow parsed = Read(json::parse(kPublish));
  ASSERT_TRUE(parsed.problems.empty())
      << parsed.problems[0].pointer << " " << parsed.problems[0].message;
  const WorkflowDefinition& workflow = parsed.definition;
  EXPECT_EQ(workflow.finally_timeout_s, 600);
  EXPECT_EQ(workflow.outputs.at("rows"), "{{nodes.each.outputs.rows}}");
  const auto& nodes = workflow.nodes;
  ASSERT_EQ(nodes.size(), 9u);
  EXPECT_TRUE(RunsNoJob(nodes[0]));
  EXPECT_EQ(nodes[0].task.job().type, JobType::kShell);
  EXPECT_EQ(nodes[0].task.job().command, "ls /in");
  const RunRules load{.timeout_s = 600,
                      .retry_count = 3,
                      .retry_interval_s = 0,
                      .retry_backoff = RetryBackoff::kExponential,
                      .retry_intervals_s = std::vector<int64_t>{5, 60},
                      .retry_on = std::vector<std::string>{"exit:3"},
                      .no_retry_on = std::vector<std::string>{"signal"},
                      .on_lost = OnLost::kHold,
                      .priority = 0,
                      .executor_id = "",
                      .executor_selector = "zone=a",
                      .concurrency_group = "db"};
  EXPECT_EQ(nodes[1].rules, load);
  EXPECT_EQ(nodes[2].task.job().script->body, "import os");
  EXPECT_EQ(nodes[2].task.job().env.at("MODE"), "fast");
  EXPECT_EQ(nodes[2].rules, RunRules{});
  EXPECT_EQ(nodes[2].over, "{{nodes.list.outputs.files}}");
  EXPECT_EQ(nodes[2].as, "file");
  EXPECT_EQ(nodes[2].collect, "rows");
  EXPECT_EQ(*nodes[3].wait, (NodeWait{.until = "06:30", .day = 1}));
  EXPECT_EQ(*nodes[4].wait, (NodeWait{.for_s = 900}));
  EXPECT_EQ(*nodes[5].approval, (Approval{.message = "{{params.n}} rows; publish?",
                                          .timeout_s = 14400,
                                          .approves_on_timeout = true,
                                          .by = {"user-07c1"}}));
  EXPECT_EQ(nodes[6].trigger_rule, (TriggerRule{.least = TriggerRule::kAll, .succeeded = true}));
  EXPECT_EQ(nodes[7].trigger_rule, (TriggerRule{.least = 2, .succeeded = true}));
  EXPECT_TRUE(nodes[8].is_finally);
}

TEST(NodeJsonTest, WritesWhatItReads) {
  const json body = json::parse(kPublish);
  const ParsedWorkflow parsed = Read(body);
  const json written = WorkflowToJson(parsed.definition);
  EXPECT_EQ(Read(written).definition, parsed.definition);
  const auto stored = WorkflowFromText(WorkflowToText(parsed.definition));
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(*stored, parsed.definition);
  // Only the two short forms differ.
  json expected = body;
  expected["nodes"][0]["task"] = {{"type", "shell"}, {"command", "ls /in"}};
  expected["nodes"][8]["task"]["type"] = "shell";
  json shown = written;
  for (json* one : {&expected, &shown}) (*one)["nodes"][2]["task"].erase("script");
  EXPECT_EQ(shown, expected);
}

TEST(NodeJsonTest, ARuleThatIsTheDefaultOfTheFieldIsKept) {
  const json node = {{"id", "a"}, {"job", "j"}, {"retry_count", 0}, {"timeout", 3600}};
  const ParsedWorkflow parsed = Read({{"nodes", json::array({node})}});
  EXPECT_EQ(parsed.definition.nodes[0].rules, (RunRules{.timeout_s = 3600, .retry_count = 0}));
  EXPECT_EQ(WorkflowToJson(parsed.definition)["nodes"][0], node);
}

TEST(NodeJsonTest, EveryRuleIsReadAndWritten) {
  const json values = {{"timeout", 5},
                       {"retry_count", 1},
                       {"retry_interval", 2},
                       {"retry_backoff", "exponential"},
                       {"retry_intervals", {1}},
                       {"retry_on", {"oom"}},
                       {"no_retry_on", {"timeout"}},
                       {"on_lost", "fail"},
                       {"executor_id", "e-1"},
                       {"executor_selector", "zone=b"},
                       {"concurrency_group", "db"},
                       {"priority", 7}};
  ASSERT_EQ(values.size(), NodeRuleNames().size());
  for (const std::string_view name : NodeRuleNames()) {
    RunRules rules;
    const json& value = values.at(std::string(name));
    ASSERT_TRUE(ReadNodeRule(name, value, "/x", rules).ok()) << name;
    EXPECT_NE(rules, RunRules{}) << name;
    EXPECT_EQ(RulesToJson(rules), (json{{std::string(name), value}}));
    const Status wrong = ReadNodeRule(name, json::object(), "/nodes/3/" + std::string(name), rules);
    ASSERT_FALSE(wrong.ok()) << name;
    EXPECT_EQ(wrong.error().pointer, "/nodes/3/" + std::string(name));
  }
}

TEST(NodeJsonTest, AMistakeInATaskIsFoundAtItsPlace) {
  EXPECT_EQ(MistakesOf({{"task", {{"command", "x"}, {"retry_count", "many"}}}}),
            "/nodes/0/task/retry_count: must be a whole number");
  EXPECT_EQ(MistakesOf({{"task", {{"type", "http"}, {"http", {{"url", 3}}}}}}),
            "/nodes/0/task/http/url: must be a string");
  EXPECT_EQ(MistakesOf({{"task", {{"comand", "x"}}}}),
            "/nodes/0/task/comand: unknown field 'comand' in a task; did you mean 'command'?");
  EXPECT_EQ(MistakesOf({{"task", 3}}),
            "/nodes/0/task: must be an object, or the command of a shell task");
}

TEST(NodeJsonTest, AFieldOfAJobThatATaskHasNotSaysWhereItBelongs) {
  const auto mistake = [](const char* field, const json& value) {
    return MistakesOf({{"task", {{"command", "x"}, {field, value}}}});
  };
  EXPECT_EQ(mistake("schedules", json::array()),
            "/nodes/0/task/schedules: a task has no field 'schedules'; set it on the workflow");
  EXPECT_EQ(mistake("labels", json::object()),
            "/nodes/0/task/labels: a task has no field 'labels'; set it on the workflow");
  EXPECT_EQ(mistake("parameters", json::object()),
            "/nodes/0/task/parameters: a task has no field 'parameters'; set parameters on the "
            "node, beside task");
  EXPECT_EQ(mistake("shards", {{"total", 2}}),
            "/nodes/0/task/shards: a task has no field 'shards'; use over of the node, or a job");
}

// What CheckTask calls foreign is not read either, so that nobody can be told two different rules.
TEST(NodeJsonTest, EachFieldOfAJobIsReadInATaskOrRefusedThere) {
  const JobDefinition job;
  for (const std::string_view name : JobFieldNames()) {
    if (name == "job_id" || name == "cron_expression" || name == "type") continue;
    TaskBox task;
    const json value = JobFieldToJson(name, job);
    const auto mistakes =
        ReadTask({{std::string(name), value}}, "/task", UnknownFields::kReport, task);
    TaskBox stored;
    EXPECT_TRUE(
        ReadTask({{std::string(name), value}}, "/task", UnknownFields::kSkip, stored).empty() ||
        value.is_null())
        << name;
    if (mistakes.empty()) continue;
    EXPECT_NE(mistakes[0].message.find(";"), std::string::npos) << name << mistakes[0].message;
  }
}

TEST(NodeJsonTest, ANodeIsOneThing) {
  EXPECT_EQ(MistakesOf({{"id", "a"}}),
            "/nodes/0/job: is missing; a node has a job, task, approval or wait");
  EXPECT_EQ(MistakesOf({{"job", "j"}, {"task", "x"}}),
            "/nodes/0: has more than one of job, task, approval and wait");
  EXPECT_EQ(MistakesOf({{"approval", nullptr}}),
            "/nodes/0/approval: has no value; write {} for its defaults");
}

TEST(NodeJsonTest, MistakesOfApprovalsAndWaits) {
  EXPECT_EQ(MistakesOf({{"approval", {{"mesage", "x"}}}}),
            "/nodes/0/approval/mesage: unknown field 'mesage' in an approval; did you mean "
            "'message'?");
  EXPECT_EQ(MistakesOf({{"approval", {{"on_timeout", "skip"}}}}),
            "/nodes/0/approval/on_timeout: must be refuse or approve");
  EXPECT_EQ(MistakesOf({{"approval", {{"by", "ada"}}}}), "/nodes/0/approval/by: must be a list");
  EXPECT_EQ(MistakesOf({{"wait", {{"until", 390}}}}),
            "/nodes/0/wait/until: must be a string; put the time in quotes, e.g. \"06:30\"");
  EXPECT_EQ(MistakesOf({{"wait", {{"for_s", "2h"}}}}),
            "/nodes/0/wait/for_s: must be a whole number of seconds, e.g. 7200 for two hours");
  EXPECT_EQ(MistakesOf({{"job", "j"}, {"finally", "yes"}}),
            "/nodes/0/finally: must be true or false");
  EXPECT_EQ(MistakesOf({{"job", "j"}, {"trigger_rule", {{"succeeded", "any"}}}}),
            "/nodes/0/trigger_rule/succeeded: must be all or a number from 1 on");
  EXPECT_EQ(MistakesOf({{"job", "j"}, {"trigger_rule", json::object()}}),
            "/nodes/0/trigger_rule/succeeded: is missing");
  EXPECT_EQ(MistakesOf({{"job", "j"}, {"retry_cout", 3}}),
            "/nodes/0/retry_cout: unknown field 'retry_cout' in a node; did you mean "
            "'retry_count'?");
}

TEST(NodeJsonTest, StoredNodesMayHaveFieldsOfANewerVersion) {
  const auto stored = WorkflowFromText(
      R"({"nodes": [{"id": "a", "task": {"type": "noop", "later": 1}, "later": 2},
                    {"id": "b", "approval": {"later": 1}}, {"id": "c", "wait": {"later": 1}}]})");
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->nodes[0].task.job().type, JobType::kNoop);
  EXPECT_TRUE(stored->nodes[1].approval.has_value());
  EXPECT_TRUE(stored->nodes[2].wait.has_value());
}

TEST(NodeJsonTest, TheEnvironmentOfATaskIsNotInTheAudit) {
  JobDefinition before{.type = JobType::kWorkflow};
  before.workflow.emplace().nodes = {
      {.id = "a", .task = TaskBox({.command = "x", .env = {{"PASSWORD", "old"}}})}};
  JobDefinition after = before;
  after.workflow->nodes[0].task = TaskBox({.command = "x", .env = {{"PASSWORD", "new"}}});
  JobDefinition longer = after;
  longer.workflow->nodes.push_back(
      {.id = "b", .task = TaskBox({.command = "y", .env = {{"PASSWORD", "new"}}})});
  for (const json& changes :
       {JobChanges(before, after), JobChanges(after, longer), JobChanges(longer)}) {
    ASSERT_FALSE(changes.empty());
    const std::string told = AuditedChanges(changes).dump();
    EXPECT_EQ(told.find("old"), std::string::npos) << told;
    EXPECT_EQ(told.find("new"), std::string::npos) << told;
    EXPECT_NE(told.find("PASSWORD"), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace carillon::test
