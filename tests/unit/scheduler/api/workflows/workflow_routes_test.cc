// Graphs and checks of workflows over HTTP.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class WorkflowRoutesTest : public WorkflowEnv {
 protected:
  json Check(const json& body) {
    const Answer answer = Post("/api/workflows/validate", body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  static json Coded(const json& problems) {
    json list = json::array();
    for (const json& one : problems) list.push_back({one["code"], one["pointer"]});
    return list;
  }
};

TEST_F(WorkflowRoutesTest, ShowsTheGraphWithTheJobsOfItsNodes) {
  MakeSales();
  const Answer answer = Get("/api/jobs/sales/graph");
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json graph = answer.body();
  EXPECT_EQ(graph["job_id"], "sales");
  EXPECT_EQ(graph["version"], 1);
  EXPECT_EQ(graph["max_parallel"], 32);
  ASSERT_EQ(graph["nodes"].size(), 3u);
  EXPECT_EQ(graph["nodes"][0], json::parse(R"({
    "id": "load", "job_id": "load", "job_name": "Job load", "job_type": "shell",
    "job_state": "ENABLED", "after": [], "trigger_rule": "all", "allow_failure": false,
    "kind": "job", "finally": false, "task": null, "approval": null, "wait": null, "rules": {},
    "over": null, "as": null, "collect": null, "parameters": {"region": "eu"}})"));
  EXPECT_EQ(graph["nodes"][2]["after"], json::parse(R"([
    {"node": "audit", "on": "failure", "if": "exit_code == 3", "recovers": true}])"));
  EXPECT_EQ(Get("/api/jobs?type=workflow").body()["items"].size(), 1u);
}

TEST_F(WorkflowRoutesTest, ANodeWhoseJobIsGoneStaysInTheGraph) {
  MakeSales();
  EXPECT_EQ(Send("DELETE", "/api/jobs/audit?force=true", "", {{"If-Match", "*"}}).status, 204);
  const json node = Get("/api/jobs/sales/graph").body()["nodes"][1];
  EXPECT_EQ(node["job_id"], "audit");
  EXPECT_TRUE(node["job_name"].is_null());
  EXPECT_TRUE(node["job_state"].is_null());
}

TEST_F(WorkflowRoutesTest, AJobWithoutNodesHasNoGraph) {
  MakeJob("plain");
  const Answer answer = Get("/api/jobs/plain/graph");
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body()["code"], "not_a_workflow");
  EXPECT_EQ(Get("/api/jobs/none/graph").status, 404);
}

TEST_F(WorkflowRoutesTest, ValidateNamesEveryMistake) {
  MakeJob("load");
  EXPECT_EQ(Check({{"workflow", {{"nodes", {{{"id", "a"}, {"job", "load"}}}}}}}),
            json({{"valid", true}, {"problems", json::array()}}));
  const json wrong = Check(json::parse(R"({"workflow": {"nodes": [
    {"id": "a", "job": "load", "after": ["c"]},
    {"id": "b", "job": "load", "after": ["a", {"node": "x"}]},
    {"id": "c", "job": "load", "after": [{"node": "b", "if": "exit_code ="}], "colour": 3}]}})"));
  EXPECT_FALSE(wrong["valid"].get<bool>());
  const json coded = Coded(wrong["problems"]);
  const auto has = [&](const char* code, const char* pointer) {
    return std::find(coded.begin(), coded.end(), json({code, pointer})) != coded.end();
  };
  EXPECT_TRUE(has("unknown_node", "/workflow/nodes/1/after/1/node")) << coded;
  EXPECT_TRUE(has("bad_condition", "/workflow/nodes/2/after/0/if")) << coded;
  EXPECT_TRUE(has("bad_field", "/workflow/nodes/2/colour")) << coded;
}

TEST_F(WorkflowRoutesTest, ValidateKnowsJobsAndParameters) {
  MakeSales();
  const json unknown = Check(json::parse(R"({"workflow": {"nodes": [{"id": "a", "job": "no"}]}})"));
  EXPECT_EQ(Coded(unknown["problems"]),
            json::parse(R"([["unknown_job", "/workflow/nodes/0/job"]])"));
  const json own = Check(
      json::parse(R"({"job_id": "load", "workflow": {"nodes": [{"id": "a", "job": "sales"}]}})"));
  EXPECT_EQ(own["problems"][0]["code"], "cycle") << own;
  const json nodes = json::parse(R"([{"id": "a", "job": "load",
                                      "parameters": {"p": "{{workflow.parameters.region}}"}}])");
  EXPECT_TRUE(Check({{"workflow", {{"nodes", nodes}}}})["valid"].get<bool>());
  EXPECT_TRUE(Check({{"parameters", {{"region", "eu"}}}, {"workflow", {{"nodes", nodes}}}})["valid"]
                  .get<bool>());
  const json missing = Check({{"parameters", json::object()}, {"workflow", {{"nodes", nodes}}}});
  EXPECT_EQ(missing["problems"][0]["code"], "bad_template") << missing;
}

TEST_F(WorkflowRoutesTest, OutputsOfANestedWorkflowAreRefused) {
  MakeSales();
  MakeJob("show");
  const json nodes = json::parse(R"([
    {"id": "i", "job": "sales"},
    {"id": "b", "job": "show", "after": ["i"], "parameters": {"v": "{{nodes.i.outputs.branch}}"}},
    {"id": "c", "job": "show", "after": [{"node": "i", "if": "outputs.branch == 'main'"}]}])");
  const json coded = json::parse(R"([["bad_template", "/workflow/nodes/1/parameters/v"],
                                     ["bad_condition", "/workflow/nodes/2/after/0/if"]])");
  const json checked = Check({{"workflow", {{"nodes", nodes}}}});
  EXPECT_FALSE(checked["valid"].get<bool>());
  EXPECT_EQ(Coded(checked["problems"]), coded) << checked;
  EXPECT_EQ(checked["problems"][0]["message"],
            "node 'i' has no outputs, because its job 'sales' is of type workflow.");
  const Answer refused = Post("/api/jobs", WorkflowBody("outer", nodes));
  EXPECT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(Coded(refused.body()["errors"]), coded);
}

TEST_F(WorkflowRoutesTest, OutputsOfAJobThatFansOutAreRefused) {
  FinishUpgrade();
  MakeJob("load", {{"shards", {{"total", 2}}}});
  MakeJob("show");
  const json nodes = json::parse(R"([
    {"id": "i", "job": "load"},
    {"id": "b", "job": "show", "after": ["i"], "parameters": {"v": "{{nodes.i.outputs.branch}}"}},
    {"id": "c", "job": "show", "after": [{"node": "i", "if": "exit_code == 0"}]}])");
  const Answer refused = Post("/api/jobs", WorkflowBody("outer", nodes));
  EXPECT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(Coded(refused.body()["errors"]),
            json::parse(R"([["bad_template", "/workflow/nodes/1/parameters/v"],
                            ["bad_condition", "/workflow/nodes/2/after/0/if"]])"));
}

// Also by the job's own edits, whatever takes them away.
TEST_F(WorkflowRoutesTest, OutputsThatAWorkflowAsksForStay) {
  FinishUpgrade();
  for (const char* id : {"load", "show"}) MakeJob(id);
  MakeWorkflow("outer", json::parse(R"([
    {"id": "i", "job": "load"},
    {"id": "b", "job": "show", "after": ["i"], "parameters": {"v": "{{nodes.i.outputs.x}}"}}])"));
  const auto patch = [this](const std::string& id, const json& changes) {
    return Send("PATCH", "/api/jobs/" + id, changes.dump(), {{"If-Match", "*"}});
  };
  const json shards = {{"shards", {{"total", 2}}}};
  const json broadcast = {{"broadcast", json::object()}};
  const json noop = {{"type", "noop"}, {"command", ""}};
  const std::map<std::string, json> cases = {
      {"/shards", shards}, {"/broadcast", broadcast}, {"/type", noop}};
  for (const auto& [pointer, changes] : cases) {
    const Answer refused = patch("load", changes);
    EXPECT_EQ(refused.status, 409) << refused.text;
    EXPECT_EQ(refused.code(), "in_use");
    EXPECT_EQ(refused.pointer(), pointer);
    EXPECT_NE(refused.text.find("In workflow outer, node 'b' asks for outputs of node 'i'"),
              std::string::npos)
        << refused.text;
    const std::string alone = "alone-" + pointer.substr(1);
    MakeJob(alone);
    EXPECT_EQ(patch(alone, changes).status, 200);
  }
  EXPECT_EQ(patch("show", shards).status, 200) << "nobody asks for its outputs";
  EXPECT_EQ(patch("load", {{"priority", 3}}).status, 200);
  const json plain = json::parse(R"({"workflow": {"nodes": [{"id": "i", "job": "load"}]}})");
  EXPECT_EQ(patch("outer", plain).status, 200);
  EXPECT_EQ(patch("load", shards).status, 200);
}

TEST_F(WorkflowRoutesTest, ValidateRefusesWhatIsNoQuestion) {
  EXPECT_EQ(Post("/api/workflows/validate", json::object()).status, 400);
  EXPECT_EQ(Post("/api/workflows/validate", {{"workflow", nullptr}, {"colour", 1}}).status, 400);
  EXPECT_EQ(Post("/api/workflows/validate", {{"workflow", json::object()}, {"job_id", "Not An Id"}})
                .status,
            400);
  EXPECT_EQ(
      Post("/api/workflows/validate", {{"workflow", json::object()}, {"parameters", json::array()}})
          .status,
      400);
  EXPECT_FALSE(Check({{"workflow", nullptr}})["valid"].get<bool>());
}

TEST_F(WorkflowRoutesTest, ACallersParametersNeedTheRightToRunTheNodesJobs) {
  AddUser("owner", "user");
  AddUser("other", "user");
  const SignedIn owner = SignIn("owner");
  const SignedIn other = SignIn("other");
  const auto make = [&](const SignedIn& who, const json& body) {
    const Answer made = As(who.access_token, "POST", "/api/jobs", body.dump());
    EXPECT_EQ(made.status, 201) << made.text;
  };
  make(owner, JobBody({{"job_id", "load"}}));
  make(owner, WorkflowBody("sales", {{{"id", "load"}, {"job", "load"}}}));
  const Answer foreign = As(other.access_token, "POST", "/api/jobs",
                            WorkflowBody("mine", {{{"id", "load"}, {"job", "load"}}}).dump());
  EXPECT_EQ(foreign.status, 422) << foreign.text;
  EXPECT_EQ(foreign.body()["code"], "forbidden");
  // The workflow now belongs to somebody who may not run the job of its node.
  const Answer given = Send("PATCH", "/api/jobs/sales", json{{"user_id", other.user_id}}.dump(),
                            {{"If-Match", "*"}, {"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(given.status, 200) << given.text;
  const auto execute = [&](const json& body) {
    return As(other.access_token, "POST", "/api/jobs/sales/execute", body.dump());
  };
  EXPECT_EQ(execute(json::object()).status, 202);
  const Answer refused = execute({{"parameters", {{"region", "eu"}}}});
  EXPECT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(refused.body()["code"], "forbidden");
}

TEST_F(WorkflowRoutesTest, AWorkflowHasNoExecutor) {
  MakeSales();
  AddExecutor("executor-1");
  const Answer answer = Post("/api/jobs/sales/execute", {{"executor_id", "executor-1"}});
  EXPECT_EQ(answer.status, 400) << answer.text;
  EXPECT_EQ(answer.body()["errors"][0]["pointer"], "/executor_id");
}

}  // namespace
}  // namespace carillon::test
