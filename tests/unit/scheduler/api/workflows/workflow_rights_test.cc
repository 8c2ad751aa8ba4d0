// The rights that parameters for the jobs of nodes need, and what becomes of them when rights are
// taken away.
#include <functional>

#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

// anna has the workflow "sales" and the job "load" of its node, whose command contains a parameter.
// bert may act on the workflow only.
class WorkflowRightsTest : public WorkflowEnv {
 protected:
  struct Way {
    std::string name;
    std::function<Answer(const SignedIn&)> go;
  };

  void SetUp() override {
    WorkflowEnv::SetUp();
    AddUser("anna", "user");
    AddUser("bert", "user");
    Share({"workflow"});
    anna_ = SignIn("anna");
    bert_ = SignIn("bert");
    Make(JobBody({{"job_id", "load"},
                  {"command", "load {{params.v}}"},
                  {"parameters", {{"v", "none"}}},
                  {"labels", {{"kind", "node"}}}}));
    Make(Sales());
  }
  // What bert may act on, by the label `kind`.
  void Share(const std::vector<std::string>& kinds) {
    UserRecord bert = *stores_.auth.GetUser("user-bert");
    bert.shares.clear();
    for (const std::string& kind : kinds) bert.shares.push_back({"default", "kind = " + kind});
    ASSERT_TRUE(stores_.auth.UpdateUser(bert, clock_.Wall()).ok());
  }
  void Make(const json& body) {
    const Answer made = As(anna_.access_token, "POST", "/api/jobs", body.dump());
    ASSERT_EQ(made.status, 201) << made.text;
  }
  static json Sales(json changes = json::object()) {
    json body = WorkflowBody(
        "sales",
        {{{"id", "load"}, {"job", "load"}, {"parameters", {{"v", "{{workflow.parameters.v}}"}}}}});
    body["parameters"] = {{"v", "own"}};
    body["labels"] = {{"kind", "workflow"}};
    body["schedules"] = {Nightly()};
    body.update(changes);
    return body;
  }
  static json Nightly(json parameters = json::object()) {
    return {{"kind", "cron"}, {"cron_expression", "0 3 * * *"}, {"parameters", parameters}};
  }
  static json Given() { return {{"v", "; id"}}; }
  json Range(json changes) const {
    json body = {{"from", FormatRfc3339(clock_.Wall() - 48h)},
                 {"to", FormatRfc3339(clock_.Wall())}};
    body.update(changes);
    return body;
  }
  Way Posting(const std::string& name, const std::string& path, const json& body) {
    return {name, [=, this](const SignedIn& who) {
              return As(who.access_token, "POST", path, body.dump());
            }};
  }
  Way Writing(const std::string& name, const std::string& method, const json& body) {
    const std::string type =
        method == "PATCH" ? "application/merge-patch+json" : "application/json";
    return {name, [=, this](const SignedIn& who) {
              return SendOn(client_, method, "/api/jobs/sales", body.dump(),
                            {{"Authorization", "Bearer " + who.access_token},
                             {"If-Match", "*"},
                             {"Content-Type", type}});
            }};
  }
  static json Around(const std::string& id, json node) {
    node["id"] = "sales";
    node["job"] = "sales";
    return WorkflowBody(id, json::array({node}));
  }
  void ExpectDone(const Answer& answer, const std::string& what) {
    EXPECT_TRUE(answer.status >= 200 && answer.status < 300) << what << ": " << answer.text;
  }

  SignedIn anna_;
  SignedIn bert_;
};

TEST_F(WorkflowRightsTest, NobodyGivesParametersToAJobThatTheyMayNotRun) {
  const std::string backfills = "/api/jobs/sales/backfills";
  const std::vector<Way> ways = {
      Posting("execute", "/api/jobs/sales/execute", {{"parameters", Given()}}),
      Posting("preview", backfills, Range({{"parameters", Given()}, {"dry_run", true}})),
      Posting("backfill", backfills, Range({{"parameters", Given()}})),
      Writing("parameters", "PATCH", {{"parameters", Given()}}),
      Writing("schedule", "PATCH", {{"schedules", {Nightly(Given())}}}),
      Writing("one more schedule", "PATCH", {{"schedules", {Nightly(), Nightly(Given())}}}),
      Writing("replacement", "PUT", Sales({{"schedules", {Nightly({{"v", "other"}})}}})),
  };
  for (const Way& way : ways) {
    const Answer refused = way.go(bert_);
    EXPECT_EQ(refused.status, 422) << way.name << ": " << refused.text;
    EXPECT_EQ(refused.body().value("code", ""), "forbidden") << way.name;
  }
  for (const Way& way : ways) ExpectDone(way.go(anna_), way.name);
}

TEST_F(WorkflowRightsTest, AWorkflowAroundItGivesThemToo) {
  const auto make = [&](const SignedIn& who, const json& body) {
    return As(who.access_token, "POST", "/api/jobs", body.dump());
  };
  const Answer refused = make(bert_, Around("giving", {{"parameters", Given()}}));
  EXPECT_EQ(refused.status, 422) << refused.text;
  EXPECT_EQ(refused.body().value("code", ""), "forbidden");
  EXPECT_EQ(refused.body()["errors"][0].value("pointer", ""), "/workflow/nodes/0/parameters");
  ExpectDone(make(bert_, Around("plain", json::object())), "without parameters");
  ExpectDone(make(anna_, Around("hers", {{"parameters", Given()}})), "her own");
}

TEST_F(WorkflowRightsTest, WhatGivesNothingNeedsNoMoreRights) {
  ExpectDone(Posting("", "/api/jobs/sales/execute", json::object()).go(bert_), "execute");
  ExpectDone(Posting("", "/api/jobs/sales/backfills", Range(json::object())).go(bert_), "backfill");
  const json none = {{"parameters", json::object()}};
  ExpectDone(Posting("", "/api/jobs/sales/execute", none).go(bert_), "execute, none");
  const json preview = {{"parameters", json::object()}, {"dry_run", true}};
  ExpectDone(Posting("", "/api/jobs/sales/backfills", Range(preview)).go(bert_), "preview, none");
  ExpectDone(Writing("", "PATCH", {{"timeout", 60}}).go(bert_), "timeout");
  json later = Nightly();
  later["cron_expression"] = "0 4 * * *";
  ExpectDone(Writing("", "PATCH", {{"schedules", {later}}}).go(bert_), "another time");
}

TEST_F(WorkflowRightsTest, ARunKeepsWhoGaveItsParameters) {
  Share({"workflow", "node"});
  bert_ = SignIn("bert");
  const Answer executed =
      Posting("", "/api/jobs/sales/execute", {{"parameters", Given()}}).go(bert_);
  ASSERT_EQ(executed.status, 202) << executed.text;
  const std::string run = executed.body().value("run_id", "");
  EXPECT_EQ(stores_.runs.GetRun(*DecodeRunId(run))->parameters_json,
            R"({"$given_by":["user-bert"],"v":"; id"})");
  EXPECT_EQ(Get("/api/runs/" + run).body()["parameters"], Given());
  const Answer started =
      Posting("", "/api/jobs/sales/backfills", Range({{"parameters", Given()}})).go(bert_);
  ASSERT_EQ(started.status, 201) << started.text;
  EXPECT_EQ(started.body()["parameters"], Given());
  const uint64_t number = started.body()["backfill_id"].get<uint64_t>();
  EXPECT_EQ(stores_.backfills.GetBackfill(number)->terms.parameters_json,
            R"({"$given_by":["user-bert"],"v":"; id"})");
  // His right ends before the run begins.
  Share({"workflow"});
  BeginRun(run);
  const json node = Node(run, "load");
  EXPECT_EQ(node.value("state", ""), "SKIPPED");
  EXPECT_EQ(node.value("reason", ""), "forbidden");
}

TEST_F(WorkflowRightsTest, RunsOfOtherJobsKeepWhoGaveTheirParametersToo) {
  const Answer executed = As(anna_.access_token, "POST", "/api/jobs/load/execute",
                             json{{"parameters", Given()}}.dump());
  ASSERT_EQ(executed.status, 202) << executed.text;
  const std::string run = executed.body().value("run_id", "");
  EXPECT_EQ(stores_.runs.GetRun(*DecodeRunId(run))->parameters_json,
            R"({"$given_by":["user-anna"],"v":"; id"})");
  EXPECT_EQ(Get("/api/runs/" + run).body()["parameters"], Given());
}

}  // namespace
}  // namespace carillon::test
