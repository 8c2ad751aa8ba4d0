// Jobs whose stored definition cannot be decoded, over real HTTP: the answers name the problem, and
// the jobs can be replaced and deleted.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class UnreadableJobTest : public ApiEnv {
 protected:
  UnreadableJobTest() {
    Create({{"job_id", "bad"}, {"user_id", "ann"}});
    Damage();
  }
  void Damage() {
    const JobId id("bad");
    stores_.DamageDefinition(id, stores_.jobs.GetJobHead(id)->version, true);
  }
  Answer Put(const json& body, const std::string& tag) {
    return Send("PUT", "/api/jobs/bad", body.dump(), {{"If-Match", tag}});
  }
  void ExpectUnreadable(const Answer& answer) {
    EXPECT_EQ(answer.status, 500) << answer.text;
    EXPECT_EQ(answer.code(), "corrupt");
    EXPECT_EQ(answer.body()["current_version"], 1);
    EXPECT_EQ(answer.header("etag"), "\"v1\"");
  }
};

TEST_F(UnreadableJobTest, IsShownWithWhatIsKnownAndSaysWhatIsWrong) {
  Create({{"job_id", "good"}});
  const Answer one = Get("/api/jobs/bad");
  ASSERT_EQ(one.status, 200) << one.text;
  EXPECT_EQ(one.header("etag"), "\"v1\"");
  const json body = one.body();
  EXPECT_EQ(body["name"], JobBody()["name"]);
  EXPECT_EQ(body["user_id"], "ann");
  EXPECT_EQ(body["state"], "ENABLED");
  EXPECT_EQ(body["version"], 1);
  EXPECT_FALSE(body.contains("command"));
  EXPECT_TRUE(body["problem"].get<std::string>().starts_with(
      "The definition of job bad (version 1) cannot be read: "))
      << body["problem"];
  const json listed = Get("/api/jobs").body()["items"];
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0], body);
  EXPECT_FALSE(listed[1].contains("problem"));
  EXPECT_EQ(Get("/api/jobs?user_id=ann").body()["items"].size(), 1u);
  EXPECT_EQ(Get("/api/jobs?selector=%21none").body()["items"].size(), 1u)
      << "its labels are not known";
}

TEST_F(UnreadableJobTest, EveryOtherReadAndEveryActionSaysWhichVersionIsUnreadable) {
  ExpectUnreadable(Get("/api/jobs/bad/next"));
  for (const char* action : {"/pause", "/resume", "/execute"}) {
    ExpectUnreadable(Post(std::string("/api/jobs/bad") + action));
  }
  ExpectUnreadable(
      Send("PATCH", "/api/jobs/bad", json{{"priority", 1}}.dump(), {{"If-Match", "\"v1\""}}));
}

TEST_F(UnreadableJobTest, PutReplacesTheVersionThatItNames) {
  const Answer stale = Put(JobBody(), "\"v7\"");
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.code(), "stale_version");
  EXPECT_EQ(stale.body()["current_version"], 1);
  EXPECT_TRUE(stale.body()["current"].is_null());
  EXPECT_EQ(Put(json{{"name", "x"}}, "\"v1\"").status, 400);
  const Answer replaced = Put(JobBody({{"command", "echo mended"}}), "\"v1\"");
  ASSERT_EQ(replaced.status, 200) << replaced.text;
  EXPECT_EQ(replaced.body()["version"], 2);
  EXPECT_EQ(replaced.body()["user_id"], "ann");
  EXPECT_EQ(Get("/api/jobs/bad").body(), replaced.body());
}

TEST_F(UnreadableJobTest, DeleteNeedsItsVersion) {
  EXPECT_EQ(Send("DELETE", "/api/jobs/bad").code(), "precondition_required");
  EXPECT_EQ(Send("DELETE", "/api/jobs/bad", "", {{"If-Match", "\"v2\""}}).code(), "stale_version");
  EXPECT_EQ(Send("DELETE", "/api/jobs/bad", "", {{"If-Match", "\"v1\""}}).status, 204);
  EXPECT_EQ(Get("/api/jobs/bad").code(), "not_found");
}

TEST_F(UnreadableJobTest, AConflictWithAnotherWriterIsToldToo) {
  faults_.plan.OnCall([this](const std::string& operation) {
    if (operation != "DeleteJob") return;
    faults_.plan.OnCall({});
    const JobHead head = *stores_.jobs.GetJobHead(JobId("bad"));
    JobDefinition other;
    other.name = "other";
    ASSERT_TRUE(
        stores_.jobs.ReplaceJob(JobId("bad"), head.version, other, {.now = clock_.Wall()}).ok());
    Damage();
  });
  const Answer late = Send("DELETE", "/api/jobs/bad", "", {{"If-Match", "\"v1\""}});
  EXPECT_EQ(late.code(), "stale_version");
  EXPECT_EQ(late.body()["current_version"], 2);
}

TEST_F(UnreadableJobTest, HistoryNeedsNoDefinition) {
  const Answer history = Get("/api/jobs/bad/history");
  EXPECT_EQ(history.status, 200) << history.text;
  EXPECT_TRUE(history.body()["items"].empty());
  EXPECT_EQ(Get("/api/jobs/never/history").code(), "not_found");
}

TEST_F(UnreadableJobTest, CancelGoesOnAndNudgesTheOwner) {
  const size_t before = nudges();
  EXPECT_EQ(Post("/api/jobs/bad/cancel").status, 202);
  EXPECT_GT(nudges(), before);
}

}  // namespace
}  // namespace carillon::test
