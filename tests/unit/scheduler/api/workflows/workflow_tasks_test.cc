// Workflows with tasks, rules, approvals and waits, as they are written and shown.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class WorkflowTasksTest : public WorkflowEnv {
 protected:
  Answer Write(const json& nodes) { return Post("/api/jobs", WorkflowBody("publish", nodes)); }
  // The first mistake of a workflow with these nodes, as "CODE POINTER".
  std::string Refusal(const json& nodes) {
    const Answer answer = Write(nodes);
    EXPECT_GE(answer.status, 400) << answer.text;
    const json first = answer.body()["errors"][0];
    return first.value("code", "") + " " + first.value("pointer", "");
  }
};

const json kNodes = json::parse(R"([
  {"id": "list", "task": "ls /in"},
  {"id": "load", "job": "load", "after": ["list"], "retry_count": 2, "executor_selector": "zone=a"},
  {"id": "gate", "after": ["load"], "approval": {"message": "publish?", "timeout_s": 600}},
  {"id": "open", "after": ["gate"], "wait": {"until": "06:30"}},
  {"id": "clean", "finally": true, "task": {"type": "shell", "command": "./clean"}}])");

TEST_F(WorkflowTasksTest, AreOffUntilAnUpgradeIsFinished) {
  MakeJob("load");
  EXPECT_EQ(Write(json::parse(R"([{"id": "load", "job": "load"}])")).status, 201);
  for (const json& node : kNodes) {
    json alone = node;
    alone.erase("after");
    json body = WorkflowBody("other", json::array({alone}));
    if (node.value("finally", false))
      body["workflow"]["nodes"].push_back({{"id", "load"}, {"job", "load"}});
    const Answer refused = Post("/api/jobs", body);
    EXPECT_EQ(refused.status, 409) << refused.text;
    EXPECT_EQ(refused.body()["code"], "upgrade_unfinished") << refused.text;
  }
}

TEST_F(WorkflowTasksTest, AreStoredAndShown) {
  FinishUpgrade();
  MakeJob("load");
  const Answer created = Write(kNodes);
  ASSERT_EQ(created.status, 201) << created.text;
  json expected = kNodes;
  expected[0]["task"] = {{"type", "shell"}, {"command", "ls /in"}};
  EXPECT_EQ(Get("/api/jobs/publish").body()["workflow"]["nodes"], expected);

  const json graph = Get("/api/jobs/publish/graph").body()["nodes"];
  EXPECT_EQ(graph[0]["kind"], "task");
  EXPECT_TRUE(graph[0]["job_id"].is_null());
  EXPECT_EQ(graph[0]["job_type"], "shell");
  EXPECT_EQ(graph[0]["task"]["command"], "ls /in");
  EXPECT_EQ(graph[1]["kind"], "job");
  EXPECT_EQ(graph[1]["rules"], json::parse(R"({"retry_count": 2, "executor_selector": "zone=a"})"));
  EXPECT_EQ(graph[2]["approval"]["message"], "publish?");
  EXPECT_EQ(graph[3]["wait"]["until"], "06:30");
  EXPECT_EQ(graph[4]["finally"], true);

  // A patch of another field leaves the nodes as they are.
  const Answer patched =
      Send("PATCH", "/api/jobs/publish", R"({"priority": 5})", {{"If-Match", "*"}});
  ASSERT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(patched.body()["workflow"]["nodes"], expected);
  const Answer reverted =
      Send("POST", "/api/jobs/publish/revert", R"({"version": 1})", {{"If-Match", "*"}});
  ASSERT_EQ(reverted.status, 200) << reverted.text;
  EXPECT_EQ(reverted.body()["workflow"]["nodes"], expected);
}

TEST_F(WorkflowTasksTest, WhatAJobMayNotHaveIsRefusedInATask) {
  FinishUpgrade();
  const auto task = [this](const json& fields) {
    return Refusal(json::array({{{"id", "a"}, {"task", fields}}}));
  };
  EXPECT_EQ(task({{"command", "x"}, {"concurrency_group", "none"}}),
            "unknown_group /workflow/nodes/0/task/concurrency_group");
  EXPECT_EQ(task({{"command", "x"}, {"env", {{"T", "{{secrets.none}}"}}}}),
            "unknown_secret /workflow/nodes/0/task/env/T");
  EXPECT_EQ(task({{"command", "x"}, {"timeout", 0}}), "bad_field /workflow/nodes/0/task/timeout");
  EXPECT_EQ(task({{"command", ""}}), "bad_field /workflow/nodes/0/task/command");
  EXPECT_EQ(task({{"command", "x"}, {"schedules", json::array()}}),
            "bad_field /workflow/nodes/0/task/schedules");
}

TEST_F(WorkflowTasksTest, OutputsThatAreAskedForStay) {
  FinishUpgrade();
  json inner = WorkflowBody("inner", json::parse(R"([{"id": "a", "task": "x"}])"));
  inner["workflow"]["outputs"] = {{"rows", "{{nodes.a.outputs.rows}}"}};
  ASSERT_EQ(Post("/api/jobs", inner).status, 201);
  const json outer = json::parse(
      R"([{"id": "in", "job": "inner"},
          {"id": "b", "task": "y", "after": ["in"],
           "parameters": {"n": "{{nodes.in.outputs.rows}}"}}])");
  const Answer written = Write(outer);
  ASSERT_EQ(written.status, 201) << written.text;
  inner["workflow"]["outputs"] = {{"lines", "{{nodes.a.outputs.rows}}"}};
  const Answer lost = Send("PUT", "/api/jobs/inner", inner.dump(), {{"If-Match", "*"}});
  EXPECT_EQ(lost.status, 409) << lost.text;
  EXPECT_EQ(lost.body()["code"], "in_use");
  EXPECT_EQ(lost.body()["errors"][0]["pointer"], "/workflow/outputs");
  inner["workflow"]["outputs"]["rows"] = "{{nodes.a.outputs.rows}}";
  EXPECT_EQ(Send("PUT", "/api/jobs/inner", inner.dump(), {{"If-Match", "*"}}).status, 200);
}

}  // namespace
}  // namespace carillon::test
