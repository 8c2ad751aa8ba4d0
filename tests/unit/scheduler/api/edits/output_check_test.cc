// Schedules of kind `after` whose parameters ask for outputs of the job before, at the edit routes.
#include "tests/unit/scheduler/api/workflows/workflow_env.h"

namespace carillon::test {
namespace {

class OutputCheckTest : public WorkflowEnv {
 protected:
  static json After(const std::string& upstream, const std::string& text,
                    const std::string& command = "true") {
    json body = JobBody({{"job_id", "report"}, {"name", "Report"}, {"command", command}});
    body.erase("cron_expression");
    body["schedules"] =
        json::array({{{"kind", "after"}, {"job", upstream}, {"parameters", {{"rows", text}}}}});
    return body;
  }
  // "status code pointer"; the status alone of an answer without errors.
  static std::string Told(const Answer& answer) {
    std::string told = std::to_string(answer.status);
    const json body = answer.body();
    if (!body.contains("errors") || body["errors"].empty()) return told;
    return told + " " + body.value("code", "") + " " + body["errors"][0].value("pointer", "");
  }
  static json Nested(const json& outputs) {
    json body = WorkflowBody("nightly", json::parse(R"([{"id": "n", "job": "load"}])"));
    body["workflow"]["outputs"] = outputs;
    return body;
  }
  std::string Put(const std::string& id, const json& body) {
    return Told(Send("PUT", "/api/jobs/" + id, body.dump(), {{"If-Match", "*"}}));
  }

  const std::string asks_ = "{{trigger.outputs.rows}}";
  const std::string pointer_ = "/schedules/0/parameters/rows";
};

TEST_F(OutputCheckTest, TheJobBeforeMustHaveTheOutput) {
  FinishUpgrade();
  MakeJob("load");
  MakeJob("shards", {{"shards", {{"total", 2}}}});
  ASSERT_EQ(Post("/api/jobs", Nested({{"rows", "{{nodes.n.outputs.rows}}"}})).status, 201);
  EXPECT_EQ(Told(Post("/api/jobs", After("shards", asks_))), "422 bad_template " + pointer_);
  EXPECT_EQ(Told(Post("/api/jobs", After("nightly", "{{trigger.outputs.row}}"))),
            "422 bad_template " + pointer_);
  const Answer created = Post("/api/jobs", After("nightly", asks_));
  EXPECT_EQ(Told(created), "201") << created.text;
  EXPECT_EQ(Put("report", After("load", asks_)), "200");
  EXPECT_EQ(Put("report", After("shards", asks_)), "422 bad_template " + pointer_);
}

TEST_F(OutputCheckTest, AnOutputMayNotReachTheCommand) {
  FinishUpgrade();
  MakeJob("load");
  const Answer refused = Post("/api/jobs", After("load", asks_, "echo {{params.rows}}"));
  EXPECT_EQ(refused.status, 400) << refused.text;
  EXPECT_EQ(refused.body()["errors"][0]["pointer"], pointer_);
  EXPECT_EQ(Told(Post("/api/jobs", After("load", asks_, "echo $CARILLON_PARAM_ROWS"))), "201");
}

TEST_F(OutputCheckTest, AnEditMayNotTakeAnOutputAway) {
  FinishUpgrade();
  MakeJob("load");
  ASSERT_EQ(Post("/api/jobs",
                 Nested({{"rows", "{{nodes.n.outputs.rows}}"}, {"day", "{{nodes.n.outputs.day}}"}}))
                .status,
            201);
  ASSERT_EQ(Post("/api/jobs", After("nightly", asks_)).status, 201);
  EXPECT_EQ(Put("nightly", Nested({{"rows", "{{nodes.n.outputs.rows}}"}})), "200");
  EXPECT_EQ(Put("nightly", Nested({{"day", "{{nodes.n.outputs.day}}"}})),
            "409 in_use /workflow/outputs");
  // Once nobody asks, it may go.
  EXPECT_EQ(Put("report", After("nightly", "{{trigger.state}}")), "200");
  EXPECT_EQ(Put("nightly", Nested({{"day", "{{nodes.n.outputs.day}}"}})), "200");
}

TEST_F(OutputCheckTest, OlderMembersWouldRunItWithTheText) {
  MakeJob("load");
  EXPECT_EQ(Post("/api/jobs", After("load", asks_)).status, 409);
  EXPECT_EQ(Post("/api/jobs", After("load", "{{trigger.run_id}}")).status, 201);
}

}  // namespace
}  // namespace carillon::test
