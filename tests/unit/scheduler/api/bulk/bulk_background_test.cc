// Background bulk actions over the API.
#include "tests/unit/scheduler/api/bulk/bulk_env.h"

namespace carillon::test {
namespace {

using BulkBackgroundTest = BulkEnv;

TEST_F(BulkBackgroundTest, GoesOnWithoutItsRequest) {
  CreateJobs(60);
  const Answer started =
      Start({{"action", "pause"}, {"filter", {{"status", "ENABLED"}}}, {"reason", "moving"}});
  ASSERT_EQ(started.status, 202) << started.text;
  const json made = started.body();
  const std::string id = made["bulk_id"];
  EXPECT_EQ(started.header("location"), "/api/bulk/" + id);
  EXPECT_EQ(made["state"], "RUNNING");
  EXPECT_EQ(made["total"], 60);
  EXPECT_EQ(made["allowed_actions"], json({"cancel"}));
  const json ended = Ended(id);
  EXPECT_EQ(ended["state"], "DONE");
  EXPECT_EQ(ended["done"], 60);
  EXPECT_EQ(ended["actor"], "token/admin");
  EXPECT_EQ(ended["allowed_actions"], json::array());
  EXPECT_EQ(Get("/api/jobs/j59").body()["pause_reason"], "moving");
  EXPECT_EQ(AuditCounts("job.pause").size(), 60u);
  EXPECT_EQ(AuditCounts("bulk")[id], 1);
  EXPECT_EQ(Get("/api/audit?object_id=j3").body()["items"][0]["reason"], "moving");
  const json page = Get("/api/bulk/" + id + "/items?page_size=25").body();
  EXPECT_EQ(page["items"].size(), 25u);
  const json rest =
      Items(id, "?page_size=25&page_token=" + page["next_page_token"].get<std::string>());
  EXPECT_EQ(rest[0]["position"], 25);
  EXPECT_EQ(rest[0]["result"], "done");
  EXPECT_EQ(Get("/api/bulk?state=DONE").body()["items"][0]["bulk_id"], id);
  EXPECT_EQ(Get("/api/bulk?state=RUNNING").body()["items"].size(), 0u);
  EXPECT_EQ(Get("/api/bulk?user_id=nobody").body()["items"].size(), 0u);
  const Answer late = Post("/api/bulk/" + id + "/cancel");
  EXPECT_EQ(late.status, 202);
  EXPECT_EQ(late.body()["state"], "DONE");
}

TEST_F(BulkBackgroundTest, EachItemHasItsOwnError) {
  CreateJobs(2);
  const std::string id = Started({{"action", "run"}, {"ids", {"j0", "none", "j1"}}});
  const json ended = Ended(id);
  EXPECT_EQ(ended["done"], 2);
  EXPECT_EQ(ended["failed"], 1);
  const json items = Items(id);
  EXPECT_EQ(Get("/api/runs/" + items[0]["run_id"].get<std::string>()).body()["job_id"], "j0");
  EXPECT_TRUE(items[0]["error"].is_null());
  EXPECT_EQ(items[1]["error"]["code"], "not_found");
  EXPECT_EQ(items[1]["error"]["instance"], "/api/jobs/none");
  EXPECT_EQ(Items(id, "?result=error").size(), 1u);
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(BulkBackgroundTest, RefusesWhatItCannotDo) {
  CreateJobs(1);
  EXPECT_EQ(Start({{"action", "pause"}, {"ids", {"j0"}}, {"dry_run", true}}).pointer(),
            "/background");
  EXPECT_EQ(Start({{"action", "pause"}, {"ids", Ids("j", 20'001)}}).pointer(), "/ids");
  EXPECT_EQ(Post("/api/bulk", {{"action", "pause"}, {"ids", Ids("j", 1001)}}).pointer(), "/ids");
  EXPECT_EQ(Get("/api/bulk?state=ASLEEP").pointer(), "?state");
  EXPECT_EQ(Get("/api/bulk?page_token=x").code(), "invalid");
  EXPECT_EQ(Get("/api/bulk/none").status, 404);
  EXPECT_EQ(Get("/api/bulk/none/items").status, 404);
  EXPECT_EQ(Post("/api/bulk/none/cancel").status, 404);
  EXPECT_EQ(Get("/api/bulk").body()["items"].size(), 0u);
  faults_.plan.Arm("CreateBulk", Fault::kTimeoutBefore);
  EXPECT_EQ(Start({{"action", "pause"}, {"ids", {"j0"}}}).code(), "outcome_unknown");
}

TEST_F(BulkBackgroundTest, AKeyMakesOne) {
  CreateJobs(3);
  const json body = {{"action", "run"}, {"ids", Ids("j", 3)}};
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  const std::string id = Start(body, key).body()["bulk_id"];
  const Answer again = Start(body, key);
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(again.header("location"), "/api/bulk/" + id);
  Ended(id);
  EXPECT_EQ(Get("/api/bulk").body()["items"].size(), 1u);
  EXPECT_EQ(Runs(), 3u);
}

TEST_F(BulkBackgroundTest, OnlyItsOwnerAndAdministratorsCancel) {
  AddUser("ann", "user");
  AddUser("bob", "user");
  const SignedIn ann = SignIn("ann");
  const SignedIn bob = SignIn("bob");
  CreateJobs(60, ann.user_id);
  Hang hang(faults_.plan, "PauseJob");  // the first item hangs
  json body = {{"action", "pause"}, {"ids", Ids("j", 60)}, {"background", true}};
  const std::string id = As(ann.access_token, "POST", "/api/bulk", body.dump()).body()["bulk_id"];
  ASSERT_TRUE(hang.Await(1));
  const std::string path = "/api/bulk/" + id;
  const auto allowed = [&](const SignedIn& who) {
    return As(who.access_token, "GET", path).body()["allowed_actions"].size();
  };
  EXPECT_EQ(allowed(ann), 1u);
  EXPECT_EQ(allowed(bob), 0u);
  EXPECT_EQ(As(bob.access_token, "POST", path + "/cancel").code(), "not_owner");
  EXPECT_EQ(Get(path).body()["state"], "RUNNING");
  const Answer cancelled = As(ann.access_token, "POST", path + "/cancel");
  EXPECT_EQ(cancelled.status, 202) << cancelled.text;
  EXPECT_EQ(cancelled.body()["state"], "CANCELLED");
  EXPECT_EQ(cancelled.body()["skipped"], 10);  // the first piece of 50 items has begun
  hang.Release();
  const json ended = Ended(id);
  EXPECT_EQ(ended["state"], "CANCELLED");
  EXPECT_EQ(ended["done"], 50);
  EXPECT_EQ(ended["skipped"], 10);
  EXPECT_EQ(Get("/api/jobs/j49").body()["state"], "PAUSED");
  EXPECT_EQ(Get("/api/jobs/j50").body()["state"], "ENABLED");
}

TEST_F(BulkBackgroundTest, AnAdministratorCancelsThatOfAnother) {
  AddUser("ann", "user");
  const SignedIn ann = SignIn("ann");
  CreateJobs(2, ann.user_id);
  Hang hang(faults_.plan, "PauseJob");
  json body = {{"action", "pause"}, {"ids", Ids("j", 2)}, {"background", true}};
  const std::string id = As(ann.access_token, "POST", "/api/bulk", body.dump()).body()["bulk_id"];
  ASSERT_TRUE(hang.Await(1));
  EXPECT_EQ(Post("/api/bulk/" + id + "/cancel").body()["state"], "CANCELLED");
}

TEST_F(BulkBackgroundTest, SoManyAtOnce) {
  CreateJobs(1);
  Hang hang(faults_.plan, "PauseJob");  // so that no action ends
  const json body = {{"action", "pause"}, {"ids", {"j0"}}};
  for (int64_t i = 0; i < kBulkOpenMax; ++i) EXPECT_EQ(Start(body).status, 202) << i;
  EXPECT_EQ(Start(body).code(), "too_many_open");
}

}  // namespace
}  // namespace carillon::test
