// Workflows and the nodes of their runs, on the command line.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class NodeCommandsTest : public CliTest {
 protected:
  static json RunNodes() {
    return json::parse(R"({"run_id": "R1", "job_id": "sales", "state": "RUNNING", "nodes": [
      {"id": "load", "job_id": "load-table", "run_id": "R2", "state": "FAILED", "blocked": false,
       "reason": "exit_code", "attempt": 2, "started_at": "2026-03-01T00:00:00.100000Z",
       "ended_at": "2026-03-01T00:00:02.000000Z", "exit_code": 3, "executor_id": "x", "after": []},
      {"id": "report", "job_id": "report", "run_id": "R3", "state": "PENDING", "blocked": true,
       "reason": null, "attempt": 1, "started_at": null, "ended_at": null, "exit_code": null,
       "executor_id": null,
       "after": [{"node": "load", "on": "done", "if": null, "recovers": false, "verdict": "met"},
                 {"node": "repair", "on": "failure", "if": "exit_code == 3", "recovers": true,
                  "verdict": "open"}]}]})");
  }
};

TEST_F(NodeCommandsTest, NodesSayWhatTheyWaitFor) {
  Answer("GET /api/runs/R1/nodes", RunNodes());
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0) << err();
  EXPECT_EQ(out(),
            "NODE    STATE    JOB         ATTEMPT  STARTED               ENDED                 "
            "EXIT  WHY\n"
            "load    FAILED   load-table  2        2026-03-01 00:00:00Z  2026-03-01 00:00:02Z  3   "
            "  exit_code\n"
            "report  PENDING  report      1        -                     -                     -   "
            "  waits for repair\n");
  EXPECT_EQ(Run({"run", "nodes", "R1", "-o", "wide"}), 0);
  EXPECT_NE(out().find("load (done), repair (failure, if exit_code == 3, recovers)"),
            std::string::npos)
      << out();
}

TEST_F(NodeCommandsTest, AReadyNodeWaitsForOthersToEnd) {
  json nodes = RunNodes();
  nodes["nodes"][1]["after"].erase(1);
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0);
  EXPECT_NE(out().find("waits until fewer nodes are active"), std::string::npos) << out();
}

TEST_F(NodeCommandsTest, AnAnswerWithoutNodesIsAnEmptyTable) {
  for (const json& odd :
       {json(), json::array(), json{{"nodes", 3}}, json{{"nodes", {1, {{"after", 2}}}}}}) {
    server_.answers.clear();
    Answer("GET /api/runs/R1/nodes", odd);
    EXPECT_EQ(Run({"run", "nodes", "R1"}), 0) << odd;
  }
}

TEST_F(NodeCommandsTest, ASkipNamesItsNode) {
  Answer("POST /api/runs/R1/nodes/report/skip", RunNodes());
  EXPECT_EQ(Run({"run", "skip", "R1", "--node", "report", "--reason", "sent by hand"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"reason", "sent by hand"}}));
  EXPECT_EQ(Run({"run", "skip", "R1"}), 2);
  Answer("POST /api/runs/R1/nodes/load/skip", ProblemOf("not_skippable"), 409);
  EXPECT_EQ(Run({"run", "skip", "R1", "--node", "load"}), 5);
}

TEST_F(NodeCommandsTest, ARetryChoosesNodes) {
  const auto body_of = [this](std::vector<std::string> flags) {
    Answer("POST /api/runs/R1/retry", RunShown("PENDING"), 202);
    flags.insert(flags.begin(), {"run", "retry", "R1"});
    EXPECT_EQ(Run(flags), 0) << err();
    return json::parse(server_.requests.back().body);
  };
  EXPECT_EQ(body_of({"--from", "failed"}), (json{{"from", "failed"}}));
  EXPECT_EQ(body_of({"--from", "start", "--skip", "a,b"}),
            (json{{"from", "start"}, {"skip", {"a", "b"}}}));
  EXPECT_EQ(body_of({"--from", "a,b", "--reason", "again"}),
            (json{{"from", {"a", "b"}}, {"reason", "again"}}));
}

TEST_F(NodeCommandsTest, ADryRunHasNoIdempotencyKey) {
  const json preview = {{"run_again", {"load", "report"}}, {"skipped", {"audit"}}};
  Answer("POST /api/runs/R1/retry", preview);
  EXPECT_EQ(Run({"run", "retry", "R1", "--dry-run"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"dry_run", true}}));
  EXPECT_EQ(HeaderOf(Sent(0), "Idempotency-Key"), "");
}

TEST_F(NodeCommandsTest, AGraphIsATable) {
  Answer("GET /api/jobs/sales/graph", json::parse(R"({"job_id": "sales", "nodes": [
      {"id": "load", "job_id": "load-table", "after": [], "trigger_rule": "all",
       "allow_failure": false},
      {"id": "report", "job_id": "report", "trigger_rule": 2, "allow_failure": true,
       "after": [{"node": "load", "on": "done", "if": null, "recovers": false}]}]})"));
  EXPECT_EQ(Run({"workflow", "graph", "sales"}), 0) << err();
  EXPECT_EQ(out(),
            "NODE    JOB         AFTER        RULE  ALLOW FAILURE\n"
            "load    load-table  -            all   false\n"
            "report  report      load (done)  2     true\n");
}

}  // namespace
}  // namespace carillon::cli
