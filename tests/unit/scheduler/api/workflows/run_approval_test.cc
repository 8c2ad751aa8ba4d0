// Approvals and waits of workflow runs over HTTP: shown, listed, decided.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class RunApprovalTest : public WorkflowEnv {
 protected:
  RunApprovalTest() { FinishUpgrade(); }

  // A workflow with an approval at its begin, and a task after it; begins a run.
  std::string Begun(const json& approval) {
    json nodes = json::parse(R"([{"id": "gate"},
                                 {"id": "send", "after": ["gate"], "task": "./send"},
                                 {"id": "rest", "wait": {"for_s": 900}}])");
    nodes[0]["approval"] = approval;
    MakeWorkflow("publish", nodes);
    return Begin("publish");
  }
  std::string PathOf(const std::string& run, const std::string& node = "gate") {
    return "/api/runs/" + run + "/nodes/" + node + "/decide";
  }
};

TEST_F(RunApprovalTest, AnApprovalIsDecidedOnce) {
  const std::string run =
      Begun({{"message", "publish the rows of {{fire_time}}?"}, {"timeout_s", 600}});
  const json gate = Node(run, "gate");
  EXPECT_EQ(gate["kind"], "approval");
  EXPECT_EQ(gate["state"], "PENDING");
  EXPECT_EQ(gate["blocked"], false);
  EXPECT_TRUE(gate["job_id"].is_null());
  EXPECT_TRUE(gate["job_type"].is_null());
  EXPECT_TRUE(gate["until"].is_string());
  EXPECT_TRUE(gate["decision"].is_null());
  EXPECT_EQ(gate["allowed_actions"], json({"decide", "skip"}));
  EXPECT_EQ(Node(run, "send")["job_type"], "shell");
  EXPECT_EQ(Node(run, "rest")["kind"], "wait");
  EXPECT_TRUE(Node(run, "rest")["until"].is_string());
  EXPECT_TRUE(gate.value("message", "").starts_with("publish the rows of 2026-")) << gate;
  EXPECT_TRUE(Node(run, "send")["message"].is_null());
  const Answer misled = Post(PathOf(gate.value("run_id", "")), {{"decision", "approve"}});
  EXPECT_EQ(misled.body()["code"], "no_nodes");
  EXPECT_NE(misled.text.find("node gate of run " + run), std::string::npos) << misled.text;
  const json own = Get("/api/runs/" + run).body();
  EXPECT_EQ(own["allowed_actions"], json({"cancel", "decide", "execute", "retry", "skip"}));
  const json of_node = Get("/api/runs/" + gate.value("run_id", "")).body();
  EXPECT_TRUE(of_node["parameters"].value("message", "").starts_with("publish the rows of 2026-"))
      << of_node;
  EXPECT_EQ(of_node["job_id"], "publish");
  EXPECT_EQ(of_node["node"], "gate");

  const size_t before = nudges();
  const Answer decided =
      Post(PathOf(run), {{"decision", "approve"}, {"reason", "checked by hand"}});
  ASSERT_EQ(decided.status, 200) << decided.text;
  EXPECT_EQ(nudges(), before + 1);
  const json approved = decided.body()["nodes"][0];
  EXPECT_EQ(approved["state"], "COMPLETED");
  EXPECT_EQ(approved["decision"]["decision"], "approved");
  EXPECT_EQ(approved["decision"]["reason"], "checked by hand");
  EXPECT_TRUE(approved["decision"]["by"].is_string());
  EXPECT_TRUE(approved["decision"]["at"].is_string());
  EXPECT_EQ(approved["allowed_actions"], json({"retry"}));  // which would ask again
  const json audit = Get("/api/audit?action=node.decide").body()["items"];
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0]["object_id"], run);
  EXPECT_EQ(audit[0]["reason"], "node gate: approve: checked by hand");

  const Answer again = Post(PathOf(run), {{"decision", "approve"}});
  EXPECT_EQ(again.status, 409) << again.text;
  EXPECT_EQ(again.body()["code"], "not_open");
  EXPECT_NE(again.text.find("; it was approved by token/admin at 2026-03-01"), std::string::npos)
      << again.text;
}

TEST_F(RunApprovalTest, ARefusalFailsTheNodeAndNeedsAReason) {
  const std::string run = Begun({{"message", "publish?"}});
  const Answer silent = Post(PathOf(run), {{"decision", "refuse"}});
  EXPECT_EQ(silent.status, 400) << silent.text;
  EXPECT_EQ(silent.pointer(), "/reason");
  const Answer blank = Post(PathOf(run), {{"decision", "refuse"}, {"reason", "  \n"}});
  EXPECT_EQ(blank.status, 400) << blank.text;
  EXPECT_EQ(Post(PathOf(run), {{"decision", "maybe"}}).pointer(), "/decision");
  EXPECT_EQ(Post(PathOf(run), json::object()).pointer(), "/decision");
  const Answer refused = Post(PathOf(run), {{"decision", "refuse"}, {"reason", "wrong rows"}});
  ASSERT_EQ(refused.status, 200) << refused.text;
  const json gate = refused.body()["nodes"][0];
  EXPECT_EQ(gate["state"], "FAILED");
  EXPECT_EQ(gate["reason"], "refused");
  EXPECT_NE(gate.value("error", "").find("wrong rows"), std::string::npos) << gate;
  EXPECT_EQ(gate["decision"]["decision"], "refused");
}

TEST_F(RunApprovalTest, WhatIsNoOpenApprovalIsNotDecided) {
  const std::string run = Begun({{"message", "publish?"}});
  const json approve = {{"decision", "approve"}};
  EXPECT_EQ(Post(PathOf(run, "none"), approve).status, 404);
  for (const char* node : {"send", "rest"}) {
    const Answer answer = Post(PathOf(run, node), approve);
    EXPECT_EQ(answer.status, 409) << answer.text;
    EXPECT_EQ(answer.body()["code"], "not_open");
  }
  MakeJob("plain");
  EXPECT_EQ(Post(PathOf(Execute("plain")), approve).body()["code"], "no_nodes");
}

TEST_F(RunApprovalTest, OnlyUsersWhoExistCanBeNamed) {
  const std::string anna = AddUser("anna", "user");
  json gate = {{"id", "gate"}, {"approval", {{"by", {anna, "anna"}}}}};
  const Answer refused = Post("/api/jobs", WorkflowBody("publish", json::array({gate})));
  ASSERT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(refused.body()["code"], "unknown_user");
  EXPECT_EQ(refused.pointer(), "/workflow/nodes/0/approval/by/1");
  gate["approval"]["by"] = {anna};
  MakeWorkflow("publish", json::array({gate}));
  // Who has been deleted since stays named, and nobody is added.
  ASSERT_TRUE(stores_.auth.DeleteUser(anna, 1).ok());
  const auto patch = [&] {
    const json body = {{"workflow", {{"nodes", {gate, {{"id", "rest"}, {"task", "./rest"}}}}}}};
    return Send("PATCH", "/api/jobs/publish", body.dump(), {{"If-Match", "*"}});
  };
  EXPECT_EQ(patch().status, 200);
  gate["approval"]["by"] = {anna, "user-none"};
  EXPECT_EQ(patch().status, 422);
}

TEST_F(RunApprovalTest, OnlyThoseWhoAreNamedDecideAndSkip) {
  const std::string run =
      Begun({{"message", "publish?"}, {"by", {AddUser("somebody-else", "user")}}});
  EXPECT_EQ(Node(run, "gate")["allowed_actions"], json::array());
  const Answer decided = Post(PathOf(run), {{"decision", "approve"}});
  EXPECT_EQ(decided.status, 403) << decided.text;
  EXPECT_EQ(decided.body()["code"], "not_approver");
  const Answer skipped = Post("/api/runs/" + run + "/nodes/gate/skip");
  EXPECT_EQ(skipped.status, 403) << skipped.text;
  EXPECT_EQ(skipped.body()["code"], "not_approver");
  EXPECT_EQ(Node(run, "gate")["state"], "PENDING");
}

TEST_F(RunApprovalTest, ADryRunOfARetryAsksWhoMaySkip) {
  const std::string run =
      Begun({{"message", "publish?"}, {"by", {AddUser("somebody-else", "user")}}});
  Post("/api/runs/" + run + "/cancel");
  Step(run);
  for (const bool dry : {false, true}) {
    const Answer refused =
        Post("/api/runs/" + run + "/retry", {{"skip", {"gate"}}, {"dry_run", dry}});
    EXPECT_EQ(refused.status, 403) << refused.text;
    EXPECT_EQ(refused.body()["code"], "not_approver");
  }
}

TEST_F(RunApprovalTest, ADecisionIsRepeatedByItsKey) {
  const std::string run = Begun({{"message", "publish?"}});
  const auto decide = [&] {
    return Send("POST", PathOf(run), R"({"decision": "approve"})", {{"Idempotency-Key", "k-1"}});
  };
  const Answer first = decide();
  ASSERT_EQ(first.status, 200) << first.text;
  const Answer second = decide();
  EXPECT_EQ(second.status, 200) << second.text;
  EXPECT_EQ(second.header("idempotent-replayed"), "true");
  EXPECT_EQ(second.body(), first.body());
}

TEST_F(RunApprovalTest, OpenNodesAreListed) {
  const std::string run = Begun({{"message", "publish?"}});
  const json approvals = Get("/api/runs?waiting=approval").body()["items"];
  ASSERT_EQ(approvals.size(), 1u);
  EXPECT_EQ(approvals[0]["node"], "gate");
  EXPECT_EQ(approvals[0]["workflow_run_id"], run);
  const json waits = Get("/api/runs?waiting=time&job_id=publish").body()["items"];
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0]["node"], "rest");
  EXPECT_EQ(Get("/api/runs?waiting=rain").status, 400);
  ASSERT_EQ(Post(PathOf(run), {{"decision", "approve"}}).status, 200);
  EXPECT_EQ(Get("/api/runs?waiting=approval").body()["items"], json::array());
}

TEST_F(RunApprovalTest, ACancelTellsOfFinallyNodes) {
  const json nodes = json::parse(R"([{"id": "load", "task": "./load"},
                                     {"id": "clean", "finally": true, "task": "./clean"}])");
  MakeWorkflow("tidy", nodes);
  const std::string run = Begin("tidy");
  EXPECT_EQ(Node(run, "clean")["finally"], true);
  const Answer cancelled = Post("/api/runs/" + run + "/cancel");
  ASSERT_EQ(cancelled.status, 202) << cancelled.text;
  EXPECT_EQ(cancelled.body(), json::parse(R"({"cancelled": 1, "finally_nodes": 1})"));
  const Answer killed = Post("/api/runs/" + run + "/cancel", {{"mode", "kill"}});
  EXPECT_FALSE(killed.body().contains("finally_nodes")) << killed.text;
}

}  // namespace
}  // namespace carillon::test
