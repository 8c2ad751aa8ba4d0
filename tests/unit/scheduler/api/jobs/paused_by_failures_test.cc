// Jobs that their failures have paused: how they are shown, found and resumed.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class PausedByFailuresTest : public ApiEnv {
 protected:
  // Pauses the job as StreakStore::PauseFailing does.
  void PauseByFailures(const std::string& id) {
    ASSERT_EQ(Post("/api/jobs/" + id + "/pause", {{"reason", "they fail"}}).status, 200);
    MutexLock lock(stores_.tables.mu);
    stores_.tables.FindJob(JobId(id))->paused_by_failures = true;
  }
  json Listed(const std::string& query) {
    json ids = json::array();
    const json page = Get("/api/jobs?" + query).body();
    for (const json& job : page["items"]) ids.push_back(job["job_id"]);
    return ids;
  }
};

TEST_F(PausedByFailuresTest, AreFoundAndResumedTogether) {
  for (const char* id : {"a", "b", "c", "d"}) Create({{"job_id", id}});
  PauseByFailures("a");
  PauseByFailures("c");
  ASSERT_EQ(Post("/api/jobs/d/pause", {{"reason", "by hand"}}).status, 200);
  EXPECT_EQ(Listed("paused_by=failures"), json({"a", "c"}));
  EXPECT_EQ(Get("/api/jobs?paused_by=failures").body()["total"], 2);
  EXPECT_EQ(Listed("status=PAUSED"), json({"a", "c", "d"}));
  EXPECT_EQ(Get("/api/jobs/a").body()["paused_by"], "failures");
  EXPECT_FALSE(Get("/api/jobs/d").body().contains("paused_by"));
  const Answer wrong = Get("/api/jobs?paused_by=anna");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.body()["errors"][0]["pointer"], "?paused_by");

  const Answer resumed =
      Post("/api/bulk", {{"action", "resume"}, {"filter", {{"paused_by", "failures"}}}});
  EXPECT_EQ(resumed.body()["done"], 2) << resumed.text;
  EXPECT_EQ(Listed("status=PAUSED"), json({"d"}));
  EXPECT_EQ(Listed("paused_by=failures"), json::array());
  EXPECT_FALSE(Get("/api/jobs/a").body().contains("paused_by"));
}

TEST_F(PausedByFailuresTest, AReadJobCanBeWrittenBack) {
  Create({{"job_id", "a"}});
  PauseByFailures("a");
  const Answer read = Get("/api/jobs/a");
  const Answer written = Send("PUT", "/api/jobs/a", read.text, {{"If-Match", read.header("etag")}});
  EXPECT_EQ(written.status, 200) << written.text;
  EXPECT_EQ(written.body()["paused_by"], "failures");
}

TEST_F(PausedByFailuresTest, TheFieldWaitsForTheUpgradeAndHasBounds) {
  const auto write = [&](int64_t failures) {
    return Post("/api/jobs", JobBody({{"job_id", "a"}, {"pause_after_failures", failures}}));
  };
  EXPECT_EQ(write(101).status, 400);
  EXPECT_EQ(write(101).body()["errors"][0]["pointer"], "/pause_after_failures");
  EXPECT_EQ(write(-1).status, 400);
  EXPECT_EQ(write(3).status, 409);
  EXPECT_EQ(write(3).body()["code"], "upgrade_unfinished");
  FinishUpgrade();
  const Answer created = write(3);
  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.body()["pause_after_failures"], 3);
}

}  // namespace
}  // namespace carillon::test
