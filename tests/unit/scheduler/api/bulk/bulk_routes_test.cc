// Bulk actions within a request: each item is handled like a request of its own.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class BulkTest : public PeopleEnv {
 protected:
  Answer Bulk(const json& body, HttpHeaders headers = {}) {
    return Post("/api/bulk", body, std::move(headers));
  }
  json Done(const json& body) {
    const Answer answer = Bulk(body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  std::string StateOf(const std::string& id) { return Get("/api/jobs/" + id).body()["state"]; }
  void CreateThree() {
    for (const char* id : {"a", "b", "c"}) {
      Create({{"job_id", id}, {"labels", {{"team", *id == 'c' ? "y" : "x"}}}});
    }
  }
  static std::string CodeOf(const json& item) {
    return item["error"].is_object() ? item["error"].value("code", "") : "none";
  }
};

TEST_F(BulkTest, PausesAndResumesWhatAFilterMatches) {
  CreateThree();
  const json filter = {{"selector", "team = x"}};
  const json dry = Done({{"action", "pause"}, {"filter", filter}, {"dry_run", true}});
  EXPECT_EQ(dry["total"], 2);
  EXPECT_EQ(dry["done"], 0);
  EXPECT_EQ(dry["items"][0]["result"], "would");
  EXPECT_EQ(StateOf("a"), "ENABLED");
  const json paused = Done({{"action", "pause"}, {"filter", filter}, {"reason", "moving"}});
  EXPECT_EQ(paused["kind"], "job");
  EXPECT_EQ(paused["done"], 2);
  EXPECT_EQ(paused["failed"], 0);
  EXPECT_FALSE(paused["more"]);
  EXPECT_EQ(StateOf("a"), "PAUSED");
  EXPECT_EQ(StateOf("b"), "PAUSED");
  EXPECT_EQ(StateOf("c"), "ENABLED");
  EXPECT_EQ(Get("/api/jobs/b").body()["pause_reason"], "moving");
  const json audit = Get("/api/audit?object_id=b").body()["items"][0];
  EXPECT_EQ(audit["action"], "job.pause");
  EXPECT_EQ(audit["reason"], "moving");
  EXPECT_EQ(Done({{"action", "resume"}, {"filter", {{"status", "PAUSED"}}}})["done"], 2);
  EXPECT_EQ(StateOf("b"), "ENABLED");
}

TEST_F(BulkTest, RunsCancelsAndRetries) {
  CreateThree();
  const json ran = Done({{"action", "run"}, {"ids", {"a", "b", "none"}}});
  EXPECT_EQ(ran["done"], 2);
  EXPECT_EQ(ran["failed"], 1);
  const std::string run = ran["items"][0]["run_id"];
  EXPECT_EQ(Get("/api/runs/" + run).body()["job_id"], "a");
  EXPECT_EQ(CodeOf(ran["items"][2]), "not_found");
  EXPECT_TRUE(ran["items"][2]["run_id"].is_null());
  EXPECT_EQ(Get("/api/audit?object_id=a").body()["items"][0]["action"], "job.execute");
  const json cancelled = Done(
      {{"action", "cancel"}, {"filter", {{"state", {"PENDING", "RUNNING"}}, {"job_id", "a"}}}});
  EXPECT_EQ(cancelled["kind"], "run");
  EXPECT_EQ(cancelled["items"][0]["id"], run);
  EXPECT_EQ(Get("/api/runs/" + run).body()["state"], "CANCELLED");
  const json retried = Done({{"action", "retry"}, {"ids", {run, "bad"}}});
  EXPECT_EQ(retried["done"], 1);
  EXPECT_EQ(CodeOf(retried["items"][1]), "bad_run_id");
  EXPECT_EQ(Get("/api/runs/" + run).body()["attempt"], 2);
  EXPECT_EQ(Done({{"action", "cancel"}, {"kind", "job"}, {"ids", {"a", "b"}}})["done"], 2);
  EXPECT_EQ(Get("/api/runs/" + run).body()["state"], "CANCELLED");
}

TEST_F(BulkTest, DeletesAndDoesNotDoItTwice) {
  CreateThree();
  const json body = {{"action", "delete"}, {"ids", {"a", "b"}}};
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  EXPECT_EQ(Bulk(body, key).body()["done"], 2);
  const Answer again = Bulk(body, key);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(again.body()["done"], 2);
  EXPECT_EQ(Done(body)["failed"], 2);
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 1u);
}

TEST_F(BulkTest, AnInvalidRequestIsRefusedAndChangesNothing) {
  CreateThree();
  const json ids = {"a", "b"};
  const std::vector<std::pair<json, std::string>> wrong = {
      {{{"ids", ids}}, "/action"},
      {{{"action", "explode"}, {"ids", ids}}, "/action"},
      {{{"action", "pause"}, {"kind", "run"}, {"ids", ids}}, "/kind"},
      {{{"action", "pause"}}, "/ids"},
      {{{"action", "pause"}, {"ids", ids}, {"filter", {{"q", "a"}}}}, "/ids"},
      {{{"action", "pause"}, {"ids", json::array()}}, "/ids"},
      {{{"action", "pause"}, {"ids", {"a", "a"}}}, "/ids/1"},
      {{{"action", "pause"}, {"ids", {"a", 7}}}, "/ids/1"},
      {{{"action", "pause"}, {"filter", json::object()}}, "/filter"},
      {{{"action", "pause"}, {"filter", {{"colour", "red"}}}}, "/filter/colour"},
      {{{"action", "pause"}, {"filter", {{"status", "SLEEPING"}}}}, "/filter/status"},
      {{{"action", "pause"}, {"filter", {{"q", 7}}}}, "/filter/q"},
      {{{"action", "pause"}, {"filter", {{"page_size", "1"}}}}, "/filter/page_size"},
      {{{"action", "cancel"}, {"filter", {{"job_id", "a"}}}}, "/filter/state"},
      {{{"action", "cancel"}, {"filter", {{"state", "SLEEPING"}}}}, "/filter/state"},
      {{{"action", "pause"}, {"ids", ids}, {"confirm_overlap", true}}, "/confirm_overlap"},
      {{{"action", "pause"}, {"ids", ids}, {"mode", "kill"}}, "/mode"},
      {{{"action", "retry"}, {"ids", ids}, {"mode", "kill"}}, "/mode"},
      {{{"action", "cancel"}, {"ids", ids}, {"mode", "softly"}}, "/mode"},
      {{{"action", "cancel"}, {"ids", ids}, {"mode", true}}, "/mode"},
      {{{"action", "pause"}, {"ids", ids}, {"dry_run", "yes"}}, "/dry_run"},
      {{{"action", "pause"}, {"ids", ids}, {"colour", "red"}}, "/colour"},
  };
  for (const auto& [body, pointer] : wrong) {
    const Answer answer = Bulk(body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.pointer(), pointer) << body;
  }
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(StateOf(id), "ENABLED");
}

TEST_F(BulkTest, MoreThanAThousandIsRefusedBeforeAnything) {
  JobDefinition definition{.name = "n", .type = JobType::kNoop};
  for (int i = 0; i < 1001; ++i) {
    ASSERT_TRUE(
        stores_.jobs.CreateJob(JobId("j" + std::to_string(i)), definition, {.now = clock_.Wall()})
            .ok());
  }
  const json filter = {{"status", "ENABLED"}};
  const Answer refused = Bulk({{"action", "pause"}, {"filter", filter}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body()["errors"][0]["code"], "too_many");
  EXPECT_TRUE(Get("/api/jobs?status=PAUSED").body()["items"].empty());
  const json dry = Done({{"action", "pause"}, {"filter", filter}, {"dry_run", true}});
  EXPECT_EQ(dry["total"], 1000);
  EXPECT_TRUE(dry["more"]);
}

TEST_F(BulkTest, RightsAreOfEachItem) {
  AddUser("ann", "user");
  AddUser("rita", "read_only");
  const SignedIn ann = SignIn("ann");
  CreateThree();
  ASSERT_EQ(As(ann.access_token, "POST", "/api/jobs", JobBody({{"job_id", "mine"}}).dump()).status,
            201);
  const json body = {{"action", "pause"}, {"ids", {"a", "mine"}}};
  json dry = body;
  dry["dry_run"] = true;
  for (const json& asked : {dry, body}) {
    const Answer answer = As(ann.access_token, "POST", "/api/bulk", asked.dump());
    ASSERT_EQ(answer.status, 200) << answer.text;
    EXPECT_EQ(CodeOf(answer.body()["items"][0]), "not_owner");
    EXPECT_EQ(CodeOf(answer.body()["items"][1]), "none");
  }
  EXPECT_EQ(StateOf("a"), "ENABLED");
  EXPECT_EQ(StateOf("mine"), "PAUSED");
  EXPECT_EQ(As(SignIn("rita").access_token, "POST", "/api/bulk", body.dump()).code(), "forbidden");
}

TEST_F(BulkTest, WhenTheStoreGoesAwayTheRestIsNotTried) {
  CreateThree();
  const json body = {{"action", "pause"}, {"ids", {"a", "b", "c"}}};
  faults_.plan.Arm("PauseJob", Fault::kUnavailable);
  EXPECT_EQ(Bulk(body).code(), "unavailable");
  faults_.plan.OnCall([&](const std::string& name) {
    if (name == "PauseJob") faults_.plan.Arm("PauseJob", Fault::kUnavailable);
  });
  const json away = Done(body);
  faults_.plan.OnCall(nullptr);
  EXPECT_EQ(away["done"], 1);
  EXPECT_EQ(CodeOf(away["items"][1]), "unavailable");
  EXPECT_EQ(CodeOf(away["items"][2]), "not_tried");
  EXPECT_EQ(StateOf("c"), "ENABLED");
}

}  // namespace
}  // namespace carillon::test
