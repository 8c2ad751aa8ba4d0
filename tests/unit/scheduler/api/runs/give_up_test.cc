// Functions that hang: giving up their runs, and how long a lost one is waited for.
#include "common/domain/schedule/explain.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class GiveUpTest : public ApiEnv {
 protected:
  std::string Start(const json& job) {
    EXPECT_EQ(Post("/api/jobs", job).status, 201);
    const std::string id = Execute(job["job_id"]);
    const RunRow row = Row(id);
    fence_ = stores_.segments
                 .Take({.member = MemberId("scheduler-1"),
                        .incarnation = Incarnation("m1"),
                        .generation = Generation(1),
                        .segments = {row.segment}})
                 ->fence;
    const ClaimRequest claim{.key = row.key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .def_version = row.def_version,
                             .token = {.high = 1, .low = 1},
                             .executor = ExecutorId("executor-1"),
                             .incarnation = Incarnation("i1")};
    EXPECT_TRUE(stores_.firing.Claim({claim}, *fence_, clock_.Wall() + 1s).ok());
    return id;
  }
  std::string StartHandler(json more = json::object()) {
    json job = {{"job_id", "h"}, {"name", "h"}, {"type", "handler"}, {"handler", "shop/close"}};
    job.update(more);
    return Start(job);
  }
  RunRow Row(const std::string& id) { return stores_.runs.GetRun(*DecodeRunId(id))->row; }
  LostReport LostNow(const std::string& id) {
    const RunRow row = Row(id);
    return {.key = row.key,
            .segment = row.segment,
            .job_no = row.job_no,
            .attempt = row.attempt,
            .token = row.claim_token};
  }
  json Shown(const std::string& id) { return Get("/api/runs/" + id).body(); }
  Answer Cancel(const std::string& id, const json& body) {
    return Post("/api/runs/" + id + "/cancel", body);
  }
  Answer GiveUp(const std::string& id) {
    return Cancel(id, {{"give_up", true}, {"confirm_overlap", true}, {"reason", "stuck"}});
  }

  std::optional<Fence> fence_;
};

TEST_F(GiveUpTest, FollowsACancelOfARunningFunction) {
  FinishUpgrade();
  const std::string id = StartHandler();
  EXPECT_EQ(Shown(id)["allowed_actions"], json({"cancel", "execute"}));
  const Answer early = GiveUp(id);
  EXPECT_EQ(early.status, 409) << early.text;
  EXPECT_EQ(early.body()["code"], "not_hanging");
  EXPECT_EQ(early.pointer(), "/give_up");
  ASSERT_EQ(Cancel(id, json::object()).status, 202);
  EXPECT_EQ(Shown(id)["allowed_actions"], json({"cancel", "execute", "give_up"}));

  const Answer silent = Cancel(id, {{"give_up", true}});
  EXPECT_EQ(silent.status, 409);
  EXPECT_EQ(silent.body()["code"], "conflict");
  EXPECT_EQ(silent.pointer(), "/confirm_overlap");

  const Answer taken = GiveUp(id);
  EXPECT_EQ(taken.status, 202) << taken.text;
  EXPECT_EQ(taken.body()["cancelled"], 1);
  EXPECT_EQ(GiveUp(id).status, 202) << "again";
  EXPECT_EQ(Shown(id)["state"], "RUNNING") << "its owner ends it";
  EXPECT_NE(Shown(id)["error"].get<std::string>().find("given up by"), std::string::npos);
  EXPECT_EQ(Get("/api/audit?object_id=" + id).body()["items"][0]["reason"], "give_up: stuck");

  ASSERT_EQ(stores_.firing.GiveUp({LostNow(id)}, *fence_, clock_.Wall() + 2s)->size(), 1u);
  const json ended = Shown(id);
  EXPECT_EQ(ended["state"], "CANCELLED");
  EXPECT_EQ(ended["reason"], "outcome_unknown");
  EXPECT_EQ(ended["allowed_actions"], json({"execute", "retry"}));
  EXPECT_EQ(GiveUp(id).body()["code"], "not_hanging");
}

TEST_F(GiveUpTest, IsForFunctionsOnly) {
  FinishUpgrade();
  const std::string id = Start(JobBody({{"job_id", "s"}}));
  ASSERT_EQ(Cancel(id, json::object()).status, 202);
  EXPECT_EQ(Shown(id)["allowed_actions"], json({"cancel", "execute"}));
  EXPECT_EQ(GiveUp(id).body()["code"], "not_hanging");
}

TEST_F(GiveUpTest, WaitsForTheUpgrade) {
  const std::string id = StartHandler();
  ASSERT_EQ(Cancel(id, json::object()).status, 202);
  EXPECT_EQ(Shown(id)["allowed_actions"], json({"cancel", "execute"}));
  EXPECT_EQ(GiveUp(id).body()["code"], "upgrade_unfinished");
}

TEST_F(GiveUpTest, HasNoMode) {
  FinishUpgrade();
  const std::string id = StartHandler();
  ASSERT_EQ(Cancel(id, json::object()).status, 202);
  const Answer refused =
      Cancel(id, {{"give_up", true}, {"confirm_overlap", true}, {"mode", "kill"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.pointer(), "/mode");
  EXPECT_EQ(Cancel(id, {{"give_up", "yes"}}).pointer(), "/give_up");
  EXPECT_EQ(Post("/api/jobs/h/cancel", {{"give_up", true}}).status, 400) << "runs only";
}

TEST_F(GiveUpTest, AHeldRunSaysWhenItsFunctionIsTakenForDead) {
  FinishUpgrade();
  const std::string id = StartHandler({{"presume_dead_s", 600}});
  EXPECT_TRUE(Shown(id)["waiting"].is_null());
  ASSERT_EQ(stores_.firing.MarkLost({LostNow(id)}, *fence_, clock_.Wall())->size(), 1u);
  const json held = Shown(id);
  EXPECT_EQ(held["state"], "HELD");
  EXPECT_EQ(held["waiting"]["code"], "host");
  const std::string detail = held["waiting"]["detail"];
  EXPECT_NE(detail.find("taken for dead at " + ReadableTime(clock_.Wall() + 600s)),
            std::string::npos)
      << detail;
}

TEST_F(GiveUpTest, AHeldRunWithoutSuchATimeWaitsForAPerson) {
  const std::string id = StartHandler();
  ASSERT_EQ(stores_.firing.MarkLost({LostNow(id)}, *fence_, clock_.Wall())->size(), 1u);
  EXPECT_EQ(Shown(id)["state"], "HELD");
  EXPECT_TRUE(Shown(id)["waiting"].is_null());
}

}  // namespace
}  // namespace carillon::test
