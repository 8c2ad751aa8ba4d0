// Cancelling runs over the API: with a grace period, or killed at once.
#include "tests/unit/scheduler/api/bulk/bulk_env.h"

namespace carillon::test {
namespace {

class CancelModeTest : public BulkEnv {
 protected:
  std::string Running(const std::string& job_id) {
    const std::string id = Execute(job_id);
    const RunRow row = stores_.runs.GetRun(*DecodeRunId(id))->row;
    const Fence fence = stores_.segments
                            .Take({.member = MemberId("scheduler-1"),
                                   .incarnation = Incarnation("m1"),
                                   .generation = Generation(1),
                                   .segments = {row.segment}})
                            ->fence;
    const ClaimRequest claim{.key = row.key,
                             .segment = row.segment,
                             .job_no = row.job_no,
                             .def_version = row.def_version,
                             .token = {.high = 1, .low = ++token_},
                             .executor = ExecutorId("executor-1"),
                             .incarnation = Incarnation("i1")};
    // The test's clock does not advance, so a second run of the job is due a microsecond later.
    EXPECT_TRUE(stores_.firing.Claim({claim}, fence, clock_.Wall() + 1s).ok());
    return id;
  }
  std::string Running() { return Running(Create().value("job_id", "")); }
  json ModeOf(const std::string& id) { return Get("/api/runs/" + id).body()["cancel_mode"]; }
  Answer Cancel(const std::string& id, const json& body) {
    return Post("/api/runs/" + id + "/cancel", body);
  }
  // The reason in the newest audit record of the object.
  json Recorded(const std::string& object_id) {
    return Get("/api/audit?object_id=" + object_id).body()["items"][0]["reason"];
  }

  uint64_t token_ = 0;
};

TEST_F(CancelModeTest, GracefulUnlessItSaysKill) {
  const std::string id = Running();
  EXPECT_TRUE(ModeOf(id).is_null());
  for (const json& body : {json::object(), json{{"mode", nullptr}}, json{{"mode", "graceful"}}}) {
    const Answer asked = Cancel(id, body);
    EXPECT_EQ(asked.status, 202) << asked.text;
    EXPECT_EQ(asked.body()["cancelled"], 1);
    EXPECT_EQ(ModeOf(id), "graceful");
  }
  EXPECT_EQ(Cancel(id, {{"mode", "kill"}}).status, 202);
  EXPECT_EQ(ModeOf(id), "kill");
  EXPECT_EQ(Cancel(id, {{"mode", "kill"}}).body()["cancelled"], 1);
  EXPECT_EQ(Cancel(id, json::object()).body()["cancelled"], 1);
  EXPECT_EQ(ModeOf(id), "kill");
  EXPECT_EQ(Get("/api/runs/" + id).body()["state"], "RUNNING");
}

TEST_F(CancelModeTest, RefusesWhatIsNoMode) {
  const std::string id = Running();
  for (const json& mode : {json("KILL"), json(""), json(9), json(true), json::array()}) {
    const Answer refused = Cancel(id, {{"mode", mode}});
    EXPECT_EQ(refused.status, 400) << mode;
    EXPECT_EQ(refused.pointer(), "/mode") << mode;
  }
  EXPECT_TRUE(ModeOf(id).is_null());
}

TEST_F(CancelModeTest, WhatDoesNotRunIsCancelledAlike) {
  const std::string id = Execute(Create().value("job_id", ""));
  EXPECT_EQ(Cancel(id, {{"mode", "kill"}}).body()["cancelled"], 1);
  EXPECT_EQ(Get("/api/runs/" + id).body()["state"], "CANCELLED");
  EXPECT_TRUE(ModeOf(id).is_null());
  EXPECT_EQ(Cancel(id, {{"mode", "kill"}}).body()["cancelled"], 0);
}

TEST_F(CancelModeTest, EveryRunOfAJob) {
  const std::string job_id = Create({{"overlap_policy", "allow"}}).value("job_id", "");
  const std::string first = Running(job_id);
  const std::string second = Running(job_id);
  Cancel(first, json::object());
  const std::string path = "/api/jobs/" + job_id + "/cancel";
  EXPECT_EQ(Post(path, {{"mode", "softly"}}).pointer(), "/mode");
  EXPECT_EQ(Post(path, {{"mode", "kill"}, {"reason", "deaf"}}).body()["cancelled"], 2);
  EXPECT_EQ(ModeOf(first), "kill");
  EXPECT_EQ(ModeOf(second), "kill");
  EXPECT_EQ(Recorded(job_id), "kill: deaf");
}

TEST_F(CancelModeTest, TheAuditTellsAKill) {
  const std::string id = Running();
  Cancel(id, {{"reason", "wrong day"}});
  EXPECT_EQ(Recorded(id), "wrong day");
  Cancel(id, {{"mode", "kill"}});
  EXPECT_EQ(Recorded(id), "kill");
  Cancel(id, {{"mode", "kill"}, {"reason", "deaf"}});
  EXPECT_EQ(Recorded(id), "kill: deaf");
  EXPECT_EQ(Get("/api/runs/" + id).body()["error"], "killed by token/admin: deaf");
}

TEST_F(CancelModeTest, ManyWhileTheirRequestWaits) {
  const std::string first = Running();
  const std::string second = Running();
  const json ids = {first, second};
  EXPECT_EQ(Post("/api/bulk", {{"action", "cancel"}, {"ids", ids}}).body()["done"], 2);
  EXPECT_EQ(ModeOf(first), "graceful");
  EXPECT_TRUE(Recorded(first).is_null());
  const Answer killed =
      Post("/api/bulk", {{"action", "cancel"}, {"ids", ids}, {"mode", "kill"}, {"reason", "deaf"}});
  EXPECT_EQ(killed.body()["done"], 2) << killed.text;
  EXPECT_EQ(ModeOf(first), "kill");
  EXPECT_EQ(ModeOf(second), "kill");
  EXPECT_EQ(Recorded(second), "kill: deaf");
}

TEST_F(CancelModeTest, ManyInTheBackground) {
  const std::string first = Running();
  const std::string second = Running();
  const std::string soft = Started({{"action", "cancel"}, {"ids", {first}}});
  EXPECT_EQ(Ended(soft)["mode"], "graceful");
  EXPECT_EQ(ModeOf(first), "graceful");
  const std::string hard =
      Started({{"action", "cancel"}, {"ids", {first, second}}, {"mode", "kill"}});
  EXPECT_EQ(Recorded(hard), "kill");
  const json ended = Ended(hard);
  EXPECT_EQ(ended["done"], 2);
  EXPECT_EQ(ended["mode"], "kill");
  EXPECT_EQ(ModeOf(first), "kill");
  EXPECT_EQ(ModeOf(second), "kill");
  EXPECT_EQ(Recorded(first), "kill");
  CreateJobs(1);
  const std::string other = Started({{"action", "pause"}, {"ids", {"j0"}}});
  EXPECT_TRUE(Ended(other)["mode"].is_null());
}

}  // namespace
}  // namespace carillon::test
