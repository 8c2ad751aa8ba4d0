// Workflows and the nodes of their runs, on the command line.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class NodeCommandsTest : public CliTest {
 protected:
  static json RunNodes() {
    return json::parse(R"({"run_id": "R1", "job_id": "sales", "state": "RUNNING", "nodes": [
      {"id": "load", "kind": "job", "job_id": "load-table", "run_id": "R2", "state": "FAILED",
       "blocked": false, "reason": "exit_code", "attempt": 2,
       "started_at": "2026-03-01T00:00:00.100000Z", "ended_at": "2026-03-01T00:00:02.000000Z",
       "exit_code": 3, "executor_id": "x", "after": []},
      {"id": "report", "kind": "job", "job_id": "report", "run_id": "R3", "state": "PENDING",
       "blocked": true, "reason": null, "attempt": 1, "started_at": null, "ended_at": null,
       "exit_code": null,
       "executor_id": null,
       "after": [{"node": "load", "on": "done", "if": null, "recovers": false, "verdict": "met"},
                 {"node": "repair", "on": "failure", "if": "exit_code == 3", "recovers": true,
                  "verdict": "open"}]}]})");
  }
};

TEST_F(NodeCommandsTest, NodesSayWhatTheyWaitFor) {
  Answer("GET /api/runs/R1/nodes", RunNodes());
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0) << err();
  EXPECT_EQ(
      out(),
      "NODE    KIND  STATE    JOB         RUN  ATTEMPT  STARTED               ENDED               "
      "  EXIT  WHY\n"
      "load    job   FAILED   load-table  R2   2        2026-03-01 00:00:00Z  2026-03-01 00:00:02Z"
      "  3     exit_code\n"
      "report  job   PENDING  report      R3   1        -                     -                   "
      "  -     waits for repair\n");
  EXPECT_EQ(Run({"run", "nodes", "R1", "-o", "wide"}), 0);
  EXPECT_NE(out().find("load (done), repair (failure, if exit_code == 3, recovers)"),
            std::string::npos)
      << out();
}

TEST_F(NodeCommandsTest, NodesThatMakeTheRunFailAreShownAlone) {
  json nodes = RunNodes();
  nodes["nodes"][0]["failure"] = false;  // repaired
  const auto add = [&](const char* id, const char* run, const char* state, bool failure) {
    nodes["nodes"].push_back({{"id", id}, {"run_id", run}, {"state", state}, {"failure", failure}});
  };
  add("audit", "R4", "LOST", true);
  add("mail", "R5", "SKIPPED", true);
  nodes["nodes"].back()["error"] = "no rows to tell";
  add("allowed", "R6", "FAILED", false);
  add("stopped", "R7", "CANCELLED", true);
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1", "--failed", "-q"}), 0) << err();
  EXPECT_EQ(out(), "R4\nR5\nR7\n");
  EXPECT_EQ(Run({"run", "nodes", "R1", "--failed", "-o", "wide"}), 0) << err();
  EXPECT_NE(out().find("no rows to tell"), std::string::npos) << out();
  nodes["state"] = "CANCELLED";
  server_.answers.clear();
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1", "--failed", "-q"}), 0) << err();
  EXPECT_EQ(out(), "R4\nR5\n") << "the cancel has not made R7 fail";
  nodes["nodes"].erase(nodes["nodes"].size() - 1);
  nodes["nodes"].erase(nodes["nodes"].size() - 1);
  nodes["state"] = "RUNNING";
  server_.answers.clear();
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1", "--failed", "-o", "json"}), 0);
  EXPECT_EQ(OutJson()["nodes"].size(), 2u);
  EXPECT_EQ(OutJson()["state"], "RUNNING");
}

TEST_F(NodeCommandsTest, LogsOfAWorkflowAreThoseOfItsFailedNodes) {
  const HttpResponse elsewhere{
      .headers = {{"content-type", "text/plain; charset=utf-8"}, {"x-log-in", "nodes"}}};
  server_.answers["GET http://a/api/runs/R1/logs"].emplace_back(elsewhere);
  Answer("GET /api/runs/R1/nodes", RunNodes());
  AnswerText("GET /api/runs/R2/logs", "no such table\n");
  AnswerText("GET /api/runs/R2/logs?tail=3", "table\n");
  AnswerText("GET /api/runs/R3/logs", "of the report\n");
  EXPECT_EQ(Run({"run", "logs", "R1"}), 0) << err();
  EXPECT_EQ(out(), "==> load (run R2, FAILED) <==\nno such table\n");
  EXPECT_NE(err().find("carillon run logs R1 --node NODE"), std::string::npos) << err();
  EXPECT_EQ(Run({"run", "logs", "R1", "--node", "report"}), 0) << err();
  EXPECT_EQ(out(), "of the report\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--node", "load", "--tail", "3"}), 0) << err();
  EXPECT_EQ(out(), "table\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--node", "none"}), 3);
  EXPECT_NE(err().find("run R1 has no node 'none'"), std::string::npos) << err();
  EXPECT_EQ(Run({"run", "logs", "R1", "--node", "load", "--shard", "0"}), 2);
  server_.answers["GET http://a/api/runs/R1/logs?tail=9"].emplace_back(elsewhere);
  EXPECT_EQ(Run({"run", "logs", "R1", "--tail", "9", "-o", "jsonl"}), 0) << err();
  EXPECT_EQ(out(), "") << "for a program";
}

TEST_F(NodeCommandsTest, ValidationKnowsTheJobsOfTheFiles) {
  const auto unknown = [](int node, const std::string& job) -> json {
    return {{"code", "unknown_job"},
            {"pointer", "/workflow/nodes/" + std::to_string(node) + "/job"},
            {"message", "no job '" + job + "'."}};
  };
  const std::string flow =
      "- job_id: flow\n  name: F\n  type: workflow\n  workflow:\n    nodes:\n"
      "      - {id: a, job: load}\n      - {id: b, job: away}\n      - {id: c, job: away}\n";
  Answer("POST /api/workflows/validate",
         {{"valid", false},
          {"problems", {unknown(0, "load"), unknown(1, "away"), unknown(2, "away")}}});
  in_.str(flow + "- {job_id: load, name: Load, command: load}\n");
  EXPECT_EQ(Run({"workflow", "validate", "-f", "-", "-o", "json"}), 2);
  EXPECT_EQ(OutJson()["items"][0]["problems"].size(), 2u);
  const size_t said = err().find("no job 'away' (2 nodes). (unknown_job)");
  ASSERT_NE(said, std::string::npos) << err();
  EXPECT_EQ(err().find("no job", said + 1), std::string::npos) << "once: " << err();
  in_.str(flow + "- {job_id: load, name: L}\n- {job_id: away, name: A}\n");
  EXPECT_EQ(Run({"workflow", "validate", "-f", "-"}), 0) << err();
  EXPECT_NE(err().find("1 workflow checked, no errors."), std::string::npos) << err();
}

TEST_F(NodeCommandsTest, AReadyNodeWaitsForOthersToEnd) {
  json nodes = RunNodes();
  nodes["nodes"][1]["after"].erase(1);
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0);
  EXPECT_NE(out().find("waits until fewer nodes are active"), std::string::npos) << out();
  // The step that follows a decision has not been taken yet.
  nodes["max_parallel"] = 1;
  server_.answers.clear();
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0);
  EXPECT_NE(out().find("starts next"), std::string::npos) << out();
  nodes["nodes"].push_back(
      {{"id", "gate"}, {"kind", "approval"}, {"state", "PENDING"}, {"blocked", false}});
  nodes["nodes"].push_back({{"id", "c"}, {"kind", "job"}, {"state", "RUNNING"}});
  for (const auto& [limit, text] :
       {std::pair(1, "waits until fewer"), std::pair(2, "starts next")}) {
    nodes["max_parallel"] = limit;
    server_.answers.clear();
    Answer("GET /api/runs/R1/nodes", nodes);
    EXPECT_EQ(Run({"run", "nodes", "R1"}), 0);
    EXPECT_NE(out().find(text), std::string::npos) << out();
  }
}

TEST_F(NodeCommandsTest, AFinallyNodeWaitsForAllOthers) {
  json nodes = RunNodes();
  nodes["nodes"][1]["after"] = json::array();
  nodes["nodes"][1]["finally"] = true;
  Answer("GET /api/runs/R1/nodes", nodes);
  EXPECT_EQ(Run({"run", "nodes", "R1"}), 0);
  EXPECT_NE(out().find("waits until all other nodes have ended"), std::string::npos) << out();
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
  EXPECT_EQ(out().find("load-table"), std::string::npos) << "no other node: " << out();
  EXPECT_EQ(Run({"run", "skip", "R1", "--node", "report", "-o", "json"}), 0) << err();
  EXPECT_EQ(OutJson()["nodes"].size(), 2u);
  EXPECT_EQ(Run({"run", "skip", "R1"}), 2);
  Answer("POST /api/runs/R1/nodes/load/skip", ProblemOf("not_skippable"), 409);
  EXPECT_EQ(Run({"run", "skip", "R1", "--node", "load"}), 5);
}

TEST_F(NodeCommandsTest, ADecisionNamesItsNode) {
  json nodes = RunNodes();
  nodes["nodes"][1]["kind"] = "approval";
  nodes["nodes"][1]["job_id"] = nullptr;
  nodes["nodes"][1]["blocked"] = false;
  Answer("POST /api/runs/R1/nodes/report/decide", nodes);
  EXPECT_EQ(Run({"run", "approve", "R1", "--node", "report"}), 0) << err();
  EXPECT_EQ(SentBody(0), (json{{"decision", "approve"}}));
  EXPECT_NE(out().find("waits for a decision"), std::string::npos) << out();
  nodes["nodes"][1]["state"] = "FAILED";
  nodes["nodes"][1]["decision"] = {{"decision", "refused"}, {"by", "ada"}};
  server_.answers.clear();
  Answer("POST /api/runs/R1/nodes/report/decide", nodes);
  EXPECT_EQ(
      Run({"run", "refuse", "R1", "--node", "report", "--reason", "wrong rows", "-o", "wide"}), 0)
      << err();
  EXPECT_EQ(SentBody(1), (json{{"decision", "refuse"}, {"reason", "wrong rows"}}));
  EXPECT_NE(out().find("ada"), std::string::npos) << out();
  EXPECT_EQ(Run({"run", "refuse", "R1", "--node", "report"}), 2) << "without a reason";
  Answer("GET /api/runs/R1", RunShown("RUNNING"));
  EXPECT_EQ(Run({"run", "approve", "R1"}), 2);
  EXPECT_NE(err().find("--node"), std::string::npos) << err();
  Answer("POST /api/runs/R1/nodes/load/decide", ProblemOf("not_open"), 409);
  EXPECT_EQ(Run({"run", "approve", "R1", "--node", "load"}), 5);
}

TEST_F(NodeCommandsTest, TheRunOfANodeIsDecidedAtItsWorkflow) {
  json nodes = RunNodes();
  nodes["nodes"][1]["message"] = "12 rows; publish?";
  json run = RunShown("PENDING");
  run.update({{"workflow_run_id", "R1"}, {"node", "report"}, {"job_type", nullptr}});
  Answer("GET /api/runs/R3", run);
  Answer("POST /api/runs/R1/nodes/report/decide", nodes);
  EXPECT_EQ(Run({"run", "approve", "R3"}), 0) << err();
  EXPECT_TRUE(out().starts_with("report: 12 rows; publish?\n\nNODE")) << out();
  Answer("POST /api/runs/R3/nodes/report/decide", ProblemOf("no_nodes"), 422);
  EXPECT_EQ(Run({"run", "approve", "R3", "--node", "report", "-q"}), 0) << err();
  EXPECT_EQ(out(), "R3\n");
  Answer("POST /api/runs/R3/nodes/load/decide", ProblemOf("no_nodes"), 422);
  EXPECT_NE(Run({"run", "approve", "R3", "--node", "load"}), 0) << "another node than its own";
  run["job_type"] = "workflow";
  Answer("GET /api/runs/R4", run);
  EXPECT_EQ(Run({"run", "approve", "R4"}), 2) << "it has nodes itself";
}

TEST_F(NodeCommandsTest, AListOfRunsNamesNodesIfThereAreAny) {
  json run = RunShown("PENDING");
  run["node"] = nullptr;
  Answer("GET /api/runs?page_size=50", {{"items", {run}}});
  EXPECT_EQ(Run({"run", "list"}), 0) << err();
  EXPECT_EQ(out().find("NODE"), std::string::npos) << out();
  json node = run;
  node.update({{"workflow_run_id", "R0"}, {"node", "gate"}});
  server_.answers.clear();
  Answer("GET /api/runs?page_size=50", {{"items", {run, node}}});
  EXPECT_EQ(Run({"run", "list"}), 0) << err();
  EXPECT_TRUE(out().starts_with("RUN  JOB  NODE  KIND")) << out();
  EXPECT_NE(out().find("R1   j    gate  manual"), std::string::npos) << out();
  EXPECT_EQ(Run({"run", "list", "-o", "wide"}), 0) << err();
  EXPECT_NE(out().find("WORKFLOW RUN"), std::string::npos) << out();
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
      {"id": "load", "kind": "job", "job_id": "load-table", "after": [], "trigger_rule": "all",
       "allow_failure": false},
      {"id": "report", "kind": "task", "job_id": null, "trigger_rule": {"succeeded": 2},
       "allow_failure": true,
       "after": [{"node": "load", "on": "done", "if": null, "recovers": false}]}]})"));
  EXPECT_EQ(Run({"workflow", "graph", "sales"}), 0) << err();
  EXPECT_EQ(out(),
            "NODE    KIND  JOB         AFTER        RULE         ALLOW FAILURE\n"
            "load    job   load-table  -            all          false\n"
            "report  task  -           load (done)  2 succeeded  true\n");
}

TEST_F(NodeCommandsTest, AGraphShowsListsAndFinallyNodes) {
  const json each = {{"id", "each"}, {"over", "{{nodes.list.outputs.files}}"}, {"finally", false}};
  Answer("GET /api/jobs/sales/graph",
         {{"nodes", {each, {{"id", "clean"}, {"over", nullptr}, {"finally", true}}}}});
  EXPECT_EQ(Run({"workflow", "graph", "sales"}), 0) << err();
  EXPECT_EQ(out(),
            "NODE   KIND  JOB  AFTER  RULE  ALLOW FAILURE  FINALLY  FOR EACH OF\n"
            "each   -     -    -      -     -              -        {{nodes.list.outputs.files}}\n"
            "clean  -     -    -      -     -              true     -\n");
}

}  // namespace
}  // namespace carillon::cli
