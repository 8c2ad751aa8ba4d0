// Nodes of workflow runs over HTTP: states, skips and retries.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class RunNodeRoutesTest : public WorkflowEnv {
 protected:
  RunNodeRoutesTest() {
    MakeSales();
    run_ = Begin("sales");
  }
  Answer Skip(const std::string& node, const json& body = json::object()) {
    return Post("/api/runs/" + run_ + "/nodes/" + node + "/skip", body);
  }
  Answer Retry(const json& body) { return Post("/api/runs/" + run_ + "/retry", body); }
  json State(const std::string& node) { return Node(run_, node)["state"]; }

  std::string run_;
};

TEST_F(RunNodeRoutesTest, ShowsWhatRunsAndWhatWaits) {
  const json shown = Nodes(run_);
  EXPECT_EQ(shown["run_id"], run_);
  EXPECT_EQ(shown["job_id"], "sales");
  EXPECT_EQ(shown["job_version"], 1);
  EXPECT_EQ(shown["state"], "RUNNING");
  EXPECT_TRUE(shown["deadline"].is_string());
  ASSERT_EQ(shown["nodes"].size(), 3u);
  const json& load = shown["nodes"][0];
  EXPECT_EQ(load["state"], "PENDING");
  EXPECT_EQ(load["blocked"], false);
  EXPECT_EQ(load["job_name"], "Job load");
  const json& audit = shown["nodes"][1];
  EXPECT_EQ(audit["blocked"], true);
  EXPECT_EQ(audit["after"][0]["verdict"], "open");
  EXPECT_EQ(audit["failure"], false);

  EXPECT_EQ(Get("/api/runs/" + run_ + "/logs").header("x-log-in"), "nodes");
  const json own = Get("/api/runs/" + load.value("run_id", "")).body();
  EXPECT_EQ(own["workflow_run_id"], run_);
  EXPECT_EQ(own["node"], "load");
  EXPECT_EQ(own["kind"], "workflow");
  EXPECT_EQ(own["parameters"]["region"], "eu");
  EXPECT_EQ(Get("/api/runs?kind=workflow&job_id=load").body()["items"].size(), 1u);
}

// The type that a job has now says nothing about a run from before.
TEST_F(RunNodeRoutesTest, OnlyARunThatBeganAsAWorkflowHasItsLogsInNodes) {
  const auto told = [this](const std::string& run) {
    return Get("/api/runs/" + run + "/logs").header("x-log-in");
  };
  const auto change = [this](const std::string& job, const json& changes) {
    const Answer changed = Send("PATCH", "/api/jobs/" + job, changes.dump(), {{"If-Match", "*"}});
    EXPECT_EQ(changed.status, 200) << changed.text;
  };
  const std::string waits = Execute("sales");
  EXPECT_EQ(told(waits), "");
  ASSERT_EQ(Post("/api/runs/" + waits + "/cancel").status, 202);
  EXPECT_EQ(told(waits), "");

  MakeJob("solo");
  const std::string silent = Execute("solo");
  Finish(silent, {.state = RunState::kCompleted});
  const json nodes = json::parse(R"([{"id": "load", "job": "load"}])");
  change("solo", {{"type", "workflow"}, {"command", ""}, {"workflow", {{"nodes", nodes}}}});
  EXPECT_EQ(told(silent), "");

  End(run_, "load", RunState::kFailed, 1);
  ASSERT_EQ(Nodes(run_)["state"], "FAILED");
  change("sales", {{"type", "shell"}, {"command", "true"}, {"workflow", nullptr}});
  EXPECT_EQ(told(run_), "nodes");
}

TEST_F(RunNodeRoutesTest, AFailureAndItsRepairAreTold) {
  End(run_, "load", RunState::kCompleted, 0);
  End(run_, "audit", RunState::kFailed, 3);
  EXPECT_EQ(Node(run_, "repair")["after"][0]["verdict"], "met");
  EXPECT_EQ(Node(run_, "audit")["exit_code"], 3);
  EXPECT_EQ(Node(run_, "audit")["failure"], true);  // as long as the repair has not started
  End(run_, "repair", RunState::kFailed, 1);
  EXPECT_EQ(Node(run_, "audit")["repaired"], true);
  EXPECT_EQ(Node(run_, "audit")["failure"], false);
  EXPECT_EQ(Node(run_, "repair")["failure"], true);
  EXPECT_EQ(Nodes(run_)["state"], "FAILED");
}

TEST_F(RunNodeRoutesTest, ARunWithoutNodesSaysSo) {
  const std::string plain = Execute("load");
  for (const char* method : {"GET", "POST"}) {
    const bool get = method == std::string("GET");
    const Answer answer = get ? Get("/api/runs/" + plain + "/nodes")
                              : Post("/api/runs/" + plain + "/nodes/load/skip", json::object());
    EXPECT_EQ(answer.status, 422) << answer.text;
    EXPECT_EQ(answer.body()["code"], "no_nodes");
  }
  const std::string waits = Execute("sales");
  EXPECT_EQ(Get("/api/runs/" + waits + "/nodes").body()["code"], "no_nodes");
  const std::string none = "/api/runs/" + EncodeRunId({.fire = clock_.Wall(), .schedule_id = {}});
  EXPECT_EQ(Get(none + "/nodes").status, 404);
  EXPECT_EQ(Post(none + "/nodes/load/skip").status, 404);
}

TEST_F(RunNodeRoutesTest, ABlockedNodeIsSkipped) {
  const size_t before = nudges();
  const Answer skipped = Skip("audit", {{"reason", "audited by hand"}});
  ASSERT_EQ(skipped.status, 200) << skipped.text;
  EXPECT_EQ(skipped.body()["nodes"][1]["state"], "SKIPPED");
  EXPECT_EQ(skipped.body()["nodes"][1]["reason"], "skipped_by_hand");
  EXPECT_EQ(nudges(), before + 1);
  const json audit = Get("/api/audit?action=run.skip").body()["items"];
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0]["object_id"], run_);
  EXPECT_NE(audit[0].value("reason", "").find("node audit"), std::string::npos) << audit;
  EXPECT_NE(audit[0].value("reason", "").find("audited by hand"), std::string::npos) << audit;

  End(run_, "load", RunState::kCompleted, 0);
  EXPECT_EQ(Nodes(run_)["state"], "COMPLETED");
}

TEST_F(RunNodeRoutesTest, OnlyWhatWaitsOrFailedIsSkipped) {
  End(run_, "load", RunState::kCompleted, 0);
  const Answer done = Skip("load");
  EXPECT_EQ(done.status, 409) << done.text;
  EXPECT_EQ(done.body()["code"], "not_skippable");
  EXPECT_EQ(Skip("none").status, 404);
  EXPECT_EQ(Skip("load", {{"colour", 1}}).status, 400);
  ASSERT_EQ(Post("/api/runs/" + run_ + "/cancel").status, 202);
  EXPECT_EQ(Skip("audit").body()["code"], "not_skippable");
}

TEST_F(RunNodeRoutesTest, ARetryRunsWhatFailedAgain) {
  End(run_, "load", RunState::kCompleted, 0);
  End(run_, "audit", RunState::kFailed, 1);
  ASSERT_EQ(Nodes(run_)["state"], "FAILED");
  const Answer preview = Retry({{"dry_run", true}});
  ASSERT_EQ(preview.status, 200) << preview.text;
  EXPECT_EQ(preview.body(), json::parse(R"({"run_again": ["audit", "repair"], "skipped": []})"));
  EXPECT_EQ(Nodes(run_)["state"], "FAILED");

  const Answer retried = Retry({{"reason", "the table is there now"}});
  ASSERT_EQ(retried.status, 202) << retried.text;
  EXPECT_EQ(retried.body()["state"], "PENDING");
  EXPECT_TRUE(Nodes(run_)["deadline"].is_null());
  BeginRun(run_);
  EXPECT_EQ(State("load"), "COMPLETED");
  const json audit = Node(run_, "audit");
  EXPECT_EQ(audit["state"], "PENDING");
  EXPECT_EQ(audit["blocked"], false);
  EXPECT_EQ(audit["attempt"], 2);
  End(run_, "audit", RunState::kCompleted, 0);
  EXPECT_EQ(Nodes(run_)["state"], "COMPLETED");
}

TEST_F(RunNodeRoutesTest, ARetryChoosesNodes) {
  End(run_, "load", RunState::kCompleted, 0);
  End(run_, "audit", RunState::kCompleted, 0);
  const Answer from = Retry({{"dry_run", true}, {"from", {"audit"}}});
  EXPECT_EQ(from.body()["run_again"], json({"audit", "repair"})) << from.text;
  const Answer start = Retry({{"dry_run", true}, {"from", "start"}, {"skip", {"audit"}}});
  EXPECT_EQ(start.body(),
            json::parse(R"({"run_again": ["load", "repair"], "skipped": ["audit"]})"));
  const Answer none = Retry(json::object());
  EXPECT_EQ(none.status, 409) << none.text;
  EXPECT_EQ(none.body()["code"], "conflict");
  EXPECT_EQ(Retry({{"from", {"audit"}}}).status, 202);
}

TEST_F(RunNodeRoutesTest, APreviewIsNotAudited) {
  End(run_, "load", RunState::kFailed, 1);
  const json dry = {{"dry_run", true}};
  const HttpHeaders key = {{"Idempotency-Key", "preview-1"}};
  for (int i = 0; i < 2; ++i) {
    const Answer preview = Post("/api/runs/" + run_ + "/retry", dry, key);
    EXPECT_EQ(preview.status, 200) << preview.text;
  }
  EXPECT_TRUE(Get("/api/audit?action=run.retry").body()["items"].empty());
}

TEST_F(RunNodeRoutesTest, ANodeIsRetriedOnlyByWhoMayRetryItsWorkflow) {
  End(run_, "load", RunState::kFailed, 1);
  const std::string node = Node(run_, "load")["run_id"];
  AddUser("anna", "user");
  const SignedIn anna = SignIn("anna");
  const Answer given = Send("PATCH", "/api/jobs/load", json{{"user_id", anna.user_id}}.dump(),
                            {{"If-Match", "*"}, {"Content-Type", "application/merge-patch+json"}});
  ASSERT_EQ(given.status, 200) << given.text;
  const std::string path = "/api/runs/" + node + "/retry";
  const Answer refused = As(anna.access_token, "POST", path, "{}");
  EXPECT_EQ(refused.status, 403) << refused.text;
  EXPECT_EQ(refused.body()["code"], "not_owner");
  EXPECT_EQ(Nodes(run_)["state"], "FAILED");
  EXPECT_EQ(Post(path).status, 202);
}

TEST_F(RunNodeRoutesTest, WhatIsOpenIsNamed) {
  const Answer answer = Retry({{"from", "start"}});
  EXPECT_EQ(answer.status, 409) << answer.text;
  EXPECT_EQ(answer.body()["code"], "still_open");
  EXPECT_NE(answer.body().value("detail", "").find("load"), std::string::npos);
  EXPECT_EQ(Retry({{"from", "start"}, {"dry_run", true}}).body()["code"], "still_open");
}

TEST_F(RunNodeRoutesTest, ChoicesThatCannotBeAreRefused) {
  for (const json& from : {json("all"), json::array(), json({"A b"}), json({1}), json(3)}) {
    const Answer answer = Retry({{"from", from}});
    EXPECT_EQ(answer.status, 400) << from << answer.text;
  }
  const Answer unknown = Retry({{"from", {"none"}}});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(unknown.body()["errors"][0]["pointer"], "/from/0");
  EXPECT_EQ(Retry({{"skip", "load"}}).status, 400);
  for (const std::string list : {"from", "skip"}) {
    const Answer twice = Retry({{list, {"load", "audit", "load"}}});
    EXPECT_EQ(twice.status, 400) << twice.text;
    EXPECT_EQ(twice.body()["errors"][0]["pointer"], "/" + list + "/2");
    EXPECT_EQ(twice.body()["errors"][0]["code"], "repeated");
  }
  EXPECT_EQ(Retry({{"from", "start"}, {"skip", {"none"}}}).body()["errors"][0]["pointer"],
            "/skip/0");
  const std::string plain = Execute("load");
  for (const json& body :
       {json{{"from", "failed"}}, json{{"skip", json::array()}}, json{{"dry_run", true}}}) {
    const Answer answer = Post("/api/runs/" + plain + "/retry", body);
    EXPECT_EQ(answer.status, 422) << answer.text;
    EXPECT_EQ(answer.body()["code"], "no_nodes");
  }
}

TEST_F(RunNodeRoutesTest, AResumeOfTheClusterAddsThePauseToTheDeadline) {
  const auto deadline = [&] {
    return stores_.workflows.GetWorkflowRun(*DecodeRunId(run_))->deadline;
  };
  const WallTime before = deadline();
  ASSERT_EQ(Post("/api/system/pause", {{"reason", "the database is moved"}}).status, 200);
  clock_.Advance(90min);
  EXPECT_EQ(deadline(), before);
  ASSERT_EQ(Post("/api/system/resume").status, 200);
  EXPECT_EQ(deadline(), before + 90min);
  ASSERT_EQ(Post("/api/system/resume").status, 200);
  EXPECT_EQ(deadline(), before + 90min) << "there was no second pause";
}

}  // namespace
}  // namespace carillon::test
