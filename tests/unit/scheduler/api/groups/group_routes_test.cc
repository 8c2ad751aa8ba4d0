// Concurrency groups: their routes, the field of a job that names one, and the wait of a run.
#include "tests/unit/scheduler/api/people.h"

namespace carillon::test {
namespace {

class GroupRoutesTest : public PeopleEnv {
 protected:
  Answer PutGroup(const std::string& name, const json& body) {
    return Put("/api/groups/" + name, body);
  }
  Answer Put(const std::string& path, const json& body) { return Send("PUT", path, body.dump()); }
  // Claims a new run of the job as an executor would; its id.
  std::string Claimed(const std::string& job_id, ClaimVerdict expected) {
    clock_.Advance(1s);
    const std::string run_id = Execute(job_id);
    const RunDetail run = *stores_.runs.GetRun(*DecodeRunId(run_id));
    const ClaimRequest claim{.key = run.row.key,
                             .segment = run.row.segment,
                             .job_no = run.row.job_no,
                             .attempt = run.row.attempt,
                             .def_version = run.row.def_version,
                             .token = {.high = 2, .low = ++claims_},
                             .executor = ExecutorId("executor-1"),
                             .incarnation = Incarnation("i1"),
                             .group = "db"};
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("scheduler-1"),
                                   .incarnation = Incarnation("m1"),
                                   .generation = Generation(1),
                                   .segments = {run.row.segment}})
                            ->fence;
    const auto replies = stores_.firing.Claim({claim}, fence, clock_.Wall());
    EXPECT_TRUE(replies.ok());
    EXPECT_EQ(replies->at(0).verdict, expected);
    return run_id;
  }
  // The attempt of the run ends as an executor would report it.
  void Cancelled(const RunRow& row) {
    ResultReport report{.key = row.key,
                        .segment = row.segment,
                        .job_no = row.job_no,
                        .attempt = row.attempt,
                        .token = row.claim_token,
                        .executor = row.executor};
    report.result = {.state = RunState::kCancelled, .ended = clock_.Wall()};
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("scheduler-1"),
                                   .incarnation = Incarnation("m1"),
                                   .generation = Generation(1),
                                   .segments = {row.segment}})
                            ->fence;
    EXPECT_TRUE(stores_.firing.ApplyResults({report}, fence, clock_.Wall()).ok());
  }

 private:
  uint64_t claims_ = 0;
};

TEST_F(GroupRoutesTest, AGroupIsMadeChangedListedAndDeleted) {
  EXPECT_EQ(Get("/api/groups").body(), json({{"items", json::array()}}));
  EXPECT_EQ(Get("/api/groups/db").code(), "not_found");
  const Answer made = PutGroup("db", {{"limit", 2}, {"reason", "two connections"}});
  ASSERT_EQ(made.status, 200) << made.text;
  const json body = made.body();
  EXPECT_EQ(body["name"], "db");
  EXPECT_EQ(body["limit"], 2);
  EXPECT_EQ(body["running"], 0);
  EXPECT_EQ(body["queued"], 0);
  EXPECT_EQ(body["jobs"], 0);
  EXPECT_EQ(body["update_time"], FormatRfc3339(clock_.Wall()));
  EXPECT_EQ(body["allowed_actions"], json({"delete", "edit"}));
  EXPECT_EQ(PutGroup("db", {{"limit", 0}}).body()["limit"], 0);
  EXPECT_EQ(Get("/api/groups").body()["items"].size(), 1u);
  const json record = Audited().at(0);
  EXPECT_EQ(record["action"], "group.update");
  EXPECT_EQ(Send("DELETE", "/api/groups/db").status, 204);
  EXPECT_EQ(Send("DELETE", "/api/groups/db").code(), "not_found");
}

TEST_F(GroupRoutesTest, NamesAndLimitsAreChecked) {
  EXPECT_EQ(PutGroup("Db", {{"limit", 1}}).status, 400);
  EXPECT_EQ(PutGroup("db", json::object()).status, 400);
  EXPECT_EQ(PutGroup("db", {{"limit", -1}}).status, 400);
  EXPECT_EQ(PutGroup("db", {{"limit", 10'001}}).status, 400);
  EXPECT_EQ(PutGroup("db", {{"limit", "2"}}).status, 400);
  EXPECT_EQ(PutGroup("db", {{"limits", 2}}).status, 400);
  EXPECT_EQ(Get("/api/groups/Db").code(), "not_found");
}

TEST_F(GroupRoutesTest, ATimeBetweenStartsIsRefusedUntilTheUpgradeIsFinished) {
  EXPECT_EQ(PutGroup("db", {{"limit", 1}, {"per_s", 0}}).status, 200);
  const Answer refused = PutGroup("db", {{"limit", 2}, {"per_s", 5}});
  EXPECT_EQ(refused.status, 409) << refused.text;
  EXPECT_EQ(refused.code(), "upgrade_unfinished");
  EXPECT_EQ(refused.pointer(), "/per_s");
  EXPECT_EQ(Get("/api/groups/db").body()["limit"], 1);
}

TEST_F(GroupRoutesTest, ATimeBetweenStartsIsSetKeptAndShown) {
  FinishUpgrade();
  EXPECT_EQ(PutGroup("db", {{"limit", 1}, {"per_s", -1}}).status, 400);
  EXPECT_EQ(PutGroup("db", {{"limit", 1}, {"per_s", 86'401}}).status, 400);
  EXPECT_EQ(PutGroup("db", {{"limit", 1}, {"per_s", 1.5}}).status, 400);
  const json made = PutGroup("db", {{"limit", 2}, {"per_s", 60}}).body();
  EXPECT_EQ(made["per_s"], 60);
  EXPECT_EQ(made["cooling"], 0);
  EXPECT_EQ(made["next_start_time"], json(nullptr));
  const json record = Audited().at(0);
  EXPECT_EQ(record["changes"].dump().find("per_s") == std::string::npos, false) << record.dump();
  EXPECT_EQ(PutGroup("db", {{"limit", 1}}).body()["per_s"], 60) << "left out: as it is";

  Create({{"job_id", "a"}, {"concurrency_group", "db"}});
  const std::string first = Claimed("a", ClaimVerdict::kAccepted);
  const WallTime claimed = clock_.Wall();
  ASSERT_TRUE(stores_.runs.CancelRun(*DecodeRunId(first), {.now = clock_.Wall()}).ok());
  const RunRow row = stores_.runs.GetRun(*DecodeRunId(first))->row;
  Cancelled(row);
  const std::string second = Claimed("a", ClaimVerdict::kEnqueued);
  const json group = Get("/api/groups/db").body();
  EXPECT_EQ(group["running"], 0);
  EXPECT_EQ(group["cooling"], 1);
  EXPECT_EQ(group["next_start_time"], FormatRfc3339(claimed + 60s));
  EXPECT_EQ(Get("/api/runs/" + second).body()["waiting"]["detail"],
            "Waits for a slot of the concurrency group db, 1st of 1 in its queue. It starts at "
            "most 1 in 60 s: the group may start the next in 59 s.");
  EXPECT_EQ(PutGroup("db", {{"limit", 1}, {"per_s", 0}}).body()["next_start_time"], json(nullptr));
}

TEST_F(GroupRoutesTest, OnlyAdministratorsChangeGroups) {
  ASSERT_EQ(PutGroup("db", {{"limit", 1}}).status, 200);
  AddUser("anna", "user");
  const std::string anna = SignIn("anna").access_token;
  EXPECT_EQ(As(anna, "PUT", "/api/groups/db", R"({"limit":2})").status, 403);
  EXPECT_EQ(As(anna, "DELETE", "/api/groups/db").status, 403);
  const Answer read = As(anna, "GET", "/api/groups/db");
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body()["allowed_actions"], json::array());
  EXPECT_EQ(As("", "GET", "/api/groups").status, 401);
}

TEST_F(GroupRoutesTest, AChangeThatTheStoreGivesUpMayBeRetried) {
  ASSERT_EQ(PutGroup("db", {{"limit", 1}}).status, 200);
  faults_.plan.Arm("PutGroup", Fault::kUnavailable);
  faults_.plan.Arm("DeleteGroup", Fault::kUnavailable);
  for (const Answer& failed : {PutGroup("db", {{"limit", 2}}), Send("DELETE", "/api/groups/db")}) {
    EXPECT_EQ(failed.status, 503);
    EXPECT_EQ(failed.code(), "unavailable");
    EXPECT_EQ(failed.header("retry-after"), "1");
    EXPECT_NE(failed.body()["detail"].get<std::string>().find("was not changed"),
              std::string::npos);
  }
  EXPECT_EQ(Get("/api/groups/db").body()["limit"], 1);
}

TEST_F(GroupRoutesTest, AJobNamesAGroupThatExists) {
  const Answer unknown = Post("/api/jobs", JobBody({{"concurrency_group", "db"}}));
  EXPECT_EQ(unknown.status, 422) << unknown.text;
  EXPECT_EQ(unknown.code(), "unknown_group");
  EXPECT_EQ(unknown.body()["errors"][0]["pointer"], "/concurrency_group");
  EXPECT_EQ(Post("/api/jobs", JobBody({{"concurrency_group", "D B"}})).status, 400);
  ASSERT_EQ(PutGroup("db", {{"limit", 1}}).status, 200);
  Create({{"job_id", "a"}, {"concurrency_group", "db"}});
  EXPECT_EQ(Get("/api/jobs/a").body()["concurrency_group"], "db");
  EXPECT_EQ(Get("/api/groups/db").body()["jobs"], 1);
  const Answer used = Send("DELETE", "/api/groups/db");
  EXPECT_EQ(used.status, 409);
  EXPECT_EQ(used.code(), "in_use");
}

TEST_F(GroupRoutesTest, HoldersQueueAndTheWaitOfARunAreShown) {
  ASSERT_EQ(PutGroup("db", {{"limit", 1}}).status, 200);
  Create({{"job_id", "a"}, {"name", "Copy"}, {"concurrency_group", "db"}, {"priority", 7}});
  const std::string holder = Claimed("a", ClaimVerdict::kAccepted);
  const std::string first = Claimed("a", ClaimVerdict::kEnqueued);
  const WallTime since = clock_.Wall();
  const std::string second = Claimed("a", ClaimVerdict::kEnqueued);
  const json group = Get("/api/groups/db").body();
  EXPECT_EQ(group["running"], 1);
  EXPECT_EQ(group["queued"], 2);
  ASSERT_EQ(group["holders"].size(), 1u);
  EXPECT_EQ(group["holders"][0]["run_id"], holder);
  EXPECT_EQ(group["holders"][0]["state"], "RUNNING");
  EXPECT_EQ(group["holders"][0]["job_name"], "Copy");
  ASSERT_EQ(group["queue"].size(), 2u);
  EXPECT_EQ(group["queue"][0]["run_id"], first);
  EXPECT_EQ(group["queue"][0]["since"], FormatRfc3339(since));
  EXPECT_EQ(group["queue"][0]["priority"], 7);
  EXPECT_EQ(group["queue"][1]["position"], 2);
  const json waiting = Get("/api/runs/" + second).body()["waiting"];
  EXPECT_EQ(waiting["code"], "group");
  EXPECT_EQ(waiting["group"], "db");
  EXPECT_EQ(waiting["position"], 2);
  EXPECT_EQ(waiting["length"], 2);
  EXPECT_EQ(waiting["detail"],
            "Waits for a slot of the concurrency group db, 2nd of 2 in its queue.");
}

}  // namespace
}  // namespace carillon::test
