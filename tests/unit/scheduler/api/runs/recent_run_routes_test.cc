// /api/recent-runs: the last runs of many jobs.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using RecentRunsTest = ApiEnv;

TEST_F(RecentRunsTest, ShowsTheLastRunsOfEachJobInTheOrderAsked) {
  AddExecutor("executor-1");
  for (const char* id : {"a", "b", "idle"}) Create({{"job_id", id}});
  const std::string first = Execute("a");
  clock_.Advance(1s);
  const std::string second = Execute("a");
  Finish(second, {.state = RunState::kFailed});
  clock_.Advance(1s);
  const std::string third = Execute("a");
  const std::string other = Execute("b");
  const Answer answer =
      Get("/api/recent-runs?job_id=idle&job_id=b&job_id=never-was&job_id=a&job_id=b&n=2");
  ASSERT_EQ(answer.status, 200) << answer.text;
  const json items = answer.body()["items"];
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0], (json{{"job_id", "idle"}, {"runs", json::array()}}));
  EXPECT_EQ(items[1]["job_id"], "b");
  EXPECT_EQ(items[1]["runs"][0]["run_id"], other);
  EXPECT_EQ(items[2]["job_id"], "a");
  ASSERT_EQ(items[2]["runs"].size(), 2u);
  EXPECT_EQ(items[2]["runs"][0]["run_id"], third);
  const json whole = Get("/api/runs/" + second).body();
  json same = json::object();
  for (const char* name : {"run_id", "state", "fire_time", "started_at", "ended_at"}) {
    same[name] = whole[name];
  }
  EXPECT_EQ(items[2]["runs"][1], same);
  EXPECT_EQ(same["state"], "FAILED");
  EXPECT_EQ(Get("/api/recent-runs?job_id=a").body()["items"][0]["runs"].size(), 3u);
}

TEST_F(RecentRunsTest, ADeletedJobIsNotThere) {
  const std::string job_id = Create().value("job_id", "");
  Finish(Execute(job_id), {});
  ASSERT_EQ(Send("DELETE", "/api/jobs/" + job_id, "", {{"If-Match", "*"}}).status, 204);
  EXPECT_EQ(Get("/api/recent-runs?job_id=" + job_id).body()["items"], json::array());
}

TEST_F(RecentRunsTest, BoundsWhatIsAsked) {
  std::string many = "/api/recent-runs?n=20";
  for (int i = 0; i < 100; ++i) many += "&job_id=j" + std::to_string(i);
  EXPECT_EQ(Get(many).status, 200);
  EXPECT_EQ(Get(many + "&job_id=one-more").pointer(), "?job_id");
  EXPECT_EQ(Get("/api/recent-runs").pointer(), "?job_id");
  EXPECT_EQ(Get("/api/recent-runs?job_id=NO").pointer(), "?job_id");
  EXPECT_EQ(Get("/api/recent-runs?job_id=a&n=0").pointer(), "?n");
  EXPECT_EQ(Get("/api/recent-runs?job_id=a&n=21").pointer(), "?n");
  EXPECT_EQ(Get("/api/recent-runs?job_id=a&page_size=5").pointer(), "?page_size");
}

}  // namespace
}  // namespace carillon::test
