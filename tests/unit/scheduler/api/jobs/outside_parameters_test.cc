// Parameters from callers who may run a job, but not change it.
#include "common/wire/json/job/given_parameters.h"
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class OutsideParametersTest : public WorkflowEnv {
 protected:
  OutsideParametersTest() {
    starter_ = Post("/api/tokens", {{"name", "starter"}, {"scopes", {"jobs:run", "read"}}})
                   .body()
                   .value("token", "");
    Create({{"job_id", "greet"},
            {"type", "shell"},
            {"command", "echo hello {{params.who}} {{params.n}} {{params.mode}}"},
            {"parameters", {{"who", "nobody"}, {"n", 1}, {"mode", "fast"}, {"note", ""}}},
            {"parameter_rules", {{"mode", {{"choices", {"fast", "slow"}}}}}}});
  }
  Answer Execute(const std::string& bearer, const std::string& job, const json& parameters) {
    return As(bearer, "POST", "/api/jobs/" + job + "/execute",
              json{{"parameters", parameters}}.dump());
  }
  std::set<std::string> OutsideOf(const Answer& answer) {
    EXPECT_EQ(answer.status, 202) << answer.text;
    const auto key = DecodeRunId(answer.body().value("run_id", ""));
    const std::string text = stores_.firing.LoadRunRequest(*key)->parameters_json;
    return GivenFromText(text)->untrusted;
  }

  std::string starter_;
};

TEST_F(OutsideParametersTest, TheyNeverBecomePartOfACommand) {
  const Answer refused = Execute(starter_, "greet", {{"who", "; id; echo INJECTED"}});
  EXPECT_EQ(refused.status, 400) << refused.text;
  EXPECT_EQ(refused.body()["errors"][0]["code"], "unsafe_parameter");
  EXPECT_EQ(refused.body()["errors"][0]["pointer"], "/parameters/who");
  EXPECT_NE(refused.text.find("$CARILLON_PARAM_WHO"), std::string::npos) << refused.text;
  EXPECT_EQ(Execute(starter_, "greet", json::object()).status, 202);
}

TEST_F(OutsideParametersTest, NumbersChoicesAndTheEnvironmentAreSafe) {
  EXPECT_TRUE(OutsideOf(Execute(starter_, "greet", {{"n", 7}, {"mode", "slow"}})).empty());
  // The job may be edited before the run starts.
  EXPECT_EQ(OutsideOf(Execute(starter_, "greet", {{"note", "$(id)"}})),
            std::set<std::string>{"note"});
}

TEST_F(OutsideParametersTest, WhoMayChangeTheJobMayWriteItsCommand) {
  AddUser("anna", "user");
  const SignedIn anna = SignIn("anna");
  for (const std::string& bearer : {token_, anna.access_token}) {
    if (bearer == anna.access_token) {
      ASSERT_EQ(Send("PATCH", "/api/jobs/greet", json{{"user_id", anna.user_id}}.dump(),
                     {{"If-Match", "*"}, {"Content-Type", "application/merge-patch+json"}})
                    .status,
                200);
    }
    EXPECT_TRUE(OutsideOf(Execute(bearer, "greet", {{"who", "a b"}})).empty());
  }
  // Her token that may only run jobs is another matter.
  const Answer made = As(anna.access_token, "POST", "/api/tokens",
                         json{{"name", "ci"}, {"scopes", {"jobs:run"}}}.dump());
  const std::string ci = made.body().value("token", "");
  EXPECT_EQ(Execute(ci, "greet", {{"who", "a b"}}).status, 400);
}

TEST_F(OutsideParametersTest, ABackfillIsAnotherDoor) {
  const json schedule = {
      {"kind", "rate"}, {"every_ms", 3600000}, {"parameters", {{"table", "orders"}}}};
  const Answer created = Post("/api/jobs", {{"job_id", "daily"},
                                            {"name", "Daily"},
                                            {"type", "shell"},
                                            {"command", "load {{params.table}} {{params.day}}"},
                                            {"parameters", {{"table", "t"}, {"day", "d"}}},
                                            {"schedules", json::array({schedule})}});
  ASSERT_EQ(created.status, 201) << created.text;
  const std::string to = FormatRfc3339(clock_.Wall());
  const std::string from = FormatRfc3339(clock_.Wall() - 2h);
  const auto backfill = [&](const json& parameters) {
    const json body = {{"from", from}, {"to", to}, {"dry_run", true}, {"parameters", parameters}};
    return As(starter_, "POST", "/api/jobs/daily/backfills", body.dump());
  };
  const Answer refused = backfill({{"day", "; id"}});
  EXPECT_EQ(refused.status, 400) << refused.text;
  EXPECT_EQ(refused.body()["errors"][0]["pointer"], "/parameters/day");
  // The table is in the command, too, but the schedule gives it.
  EXPECT_EQ(backfill({{"other", "; id"}}).status, 200);
}

TEST_F(OutsideParametersTest, AWorkflowGivesThemOnAsTheyAre) {
  json flow = WorkflowBody("flow", json::parse(R"([{"id": "greet", "job": "greet",
                               "parameters": {"who": "{{workflow.parameters.who}}"}}])"));
  flow["parameters"] = {{"who", "all"}};
  const Answer created = Post("/api/jobs", flow);
  ASSERT_EQ(created.status, 201) << created.text;
  const auto end_of = [&](const Answer& executed) {
    EXPECT_EQ(executed.status, 202) << executed.text;
    const std::string run = executed.body().value("run_id", "");
    clock_.Advance(1ms);
    BeginRun(run);
    const json node = Node(run, "greet");
    return node["state"].dump() + " " + node["reason"].dump();
  };
  EXPECT_EQ(end_of(Execute(starter_, "flow", {{"who", "; id"}})),
            R"("SKIPPED" "unsafe_parameter")");
  EXPECT_EQ(end_of(Execute(token_, "flow", {{"who", "a b"}})), R"("PENDING" null)");
}

}  // namespace
}  // namespace carillon::test
