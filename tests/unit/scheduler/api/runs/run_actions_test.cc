// The actions that runs and nodes allow in their present state, and the answers of the routes.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class RunActionsTest : public WorkflowEnv {
 protected:
  RunActionsTest() { MakeSales(); }

  json Of(const std::string& run_id) {
    return Get("/api/runs/" + run_id).body()["allowed_actions"];
  }
  json OfNode(const std::string& run_id, const std::string& node) {
    return Node(run_id, node)["allowed_actions"];
  }
};

TEST_F(RunActionsTest, APlainRunIsCancelledBeforeItsEndAndRetriedAfterIt) {
  const std::string run = Execute("load");
  EXPECT_EQ(Of(run), json({"cancel", "execute"}));
  EXPECT_EQ(Post("/api/runs/" + run + "/retry").status, 409);
  Finish(run, {.state = RunState::kFailed, .exit_code = 1});
  EXPECT_EQ(Of(run), json({"execute", "retry"}));
  const std::string done = Execute("load");
  clock_.Advance(1ms);
  Finish(done, {.state = RunState::kCompleted, .exit_code = 0});
  EXPECT_EQ(Of(done), json({"execute"}));
  EXPECT_EQ(Post("/api/runs/" + done + "/retry").status, 409);
}

TEST_F(RunActionsTest, AWorkflowAndItsNodes) {
  const std::string run = Begin("sales");
  EXPECT_EQ(Of(run), json({"cancel", "execute", "retry", "skip"}));
  EXPECT_EQ(OfNode(run, "load"), json({"skip"}));  // it waits for an executor
  EXPECT_EQ(OfNode(run, "repair"), json({"skip"}));
  EXPECT_EQ(Post("/api/runs/" + run + "/nodes/repair/skip").status, 200);
  End(run, "load", RunState::kCompleted, 0);
  EXPECT_EQ(OfNode(run, "load"), json::array());  // the node after it is open
  End(run, "audit", RunState::kFailed, 1);
  EXPECT_EQ(OfNode(run, "load"), json({"retry"}));
  EXPECT_EQ(Nodes(run)["state"], "FAILED");
  EXPECT_EQ(Of(run), json({"execute", "retry"}));
  EXPECT_EQ(OfNode(run, "audit"), json({"retry"}));
  EXPECT_EQ(Of(Node(run, "audit")["run_id"]), json({"execute", "retry"}));
}

// Its workflow retries it as a whole, when all of it has ended.
TEST_F(RunActionsTest, ANodeThatFansOutIsRetriedByItsWorkflow) {
  AddExecutor("executor-1");
  FinishUpgrade();
  MakeJob("wide", {{"shards", {{"total", 2}}}});
  MakeWorkflow("wide-sales", json::parse(R"([{"id": "wide", "job": "wide"}])"));
  const std::string workflow = Begin("wide-sales");
  const std::string run = Node(workflow, "wide").value("run_id", "");
  const RunRow row = stores_.runs.GetRun(*DecodeRunId(run))->row;
  const auto begun = stores_.workflows.BeginParts({.claim = {.key = row.key,
                                                             .segment = row.segment,
                                                             .job_no = row.job_no,
                                                             .attempt = row.attempt,
                                                             .def_version = row.def_version}},
                                                  FenceOf(row.segment), clock_.Wall());
  ASSERT_TRUE(begun.ok() && begun->verdict == ClaimVerdict::kAccepted);
  EXPECT_EQ(Of(run), json({"cancel", "execute"}));
  EXPECT_EQ(Post("/api/runs/" + run + "/retry", {{"shards", "failed"}}).status, 409);
}

TEST_F(RunActionsTest, NothingButACancelWhileTheRunIsCancelled) {
  const std::string run = Begin("sales");
  const RunRow row = stores_.runs.GetRun(*DecodeRunId(Node(run, "load").value("run_id", "")))->row;
  const auto claimed = stores_.firing.Claim({{.key = row.key,
                                              .segment = row.segment,
                                              .job_no = row.job_no,
                                              .attempt = row.attempt,
                                              .def_version = row.def_version,
                                              .token = {.high = 1, .low = 7},
                                              .executor = ExecutorId("x"),
                                              .incarnation = Incarnation("i")}},
                                            FenceOf(row.segment), clock_.Wall());
  ASSERT_EQ(claimed->front().verdict, ClaimVerdict::kAccepted);
  ASSERT_EQ(Post("/api/runs/" + run + "/cancel").status, 202);
  EXPECT_EQ(Of(run), json({"cancel", "execute"}));
  for (const char* node : {"load", "audit", "repair"}) {
    EXPECT_EQ(OfNode(run, node), json::array()) << node;
  }
  EXPECT_EQ(Post("/api/runs/" + run + "/retry").status, 409);
}

TEST_F(RunActionsTest, ARunThatOutlivedItsDayIsShownAndCannotBeChanged) {
  const std::string plain = Execute("load");
  Finish(plain, {.state = RunState::kFailed, .exit_code = 1, .output = "disk full"});
  const std::string workflow = Begin("sales");
  End(workflow, "load", RunState::kFailed, 1);
  const std::string node = Node(workflow, "load").value("run_id", "");
  EXPECT_FALSE(Get("/api/runs/" + plain).body().contains("kept"));
  clock_.Advance(20 * 24h);
  ASSERT_TRUE(
      stores_.housekeeping.Maintain(clock_.Wall(), {.runs = 14 * 24h, .keep_last = 2}).ok());
  for (const std::string& run : {plain, workflow, node}) {
    const json shown = Get("/api/runs/" + run).body();
    EXPECT_EQ(shown["state"], "FAILED");
    EXPECT_EQ(shown["kept"], true);
    EXPECT_EQ(Of(run), json({"execute"}));
    const Answer retry = Post("/api/runs/" + run + "/retry");
    EXPECT_EQ(retry.status, 409);
    EXPECT_NE(retry.text.find("only its result is kept; run its job instead"), std::string::npos);
    EXPECT_EQ(Post("/api/runs/" + run + "/cancel").status, 409);
  }
  const Answer log = Get("/api/runs/" + plain + "/logs");
  EXPECT_EQ(log.text, "disk full");
  EXPECT_EQ(log.header("x-log-removed"), "true");
  const Answer nodes = Get("/api/runs/" + workflow + "/nodes");
  EXPECT_EQ(nodes.status, 422);
  EXPECT_NE(nodes.text.find("older than the retention"), std::string::npos);
  EXPECT_EQ(Get("/api/jobs/load/history").body()["items"].size(), 2u);
  EXPECT_EQ(Get("/api/runs").body()["items"].size(), 0u);
}

}  // namespace
}  // namespace carillon::test
