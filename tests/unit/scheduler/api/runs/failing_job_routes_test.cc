// /api/failing-jobs, and the actions on all dead letters of a job.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class FailingJobsTest : public ApiEnv {
 protected:
  FailingJobsTest() { AddExecutor("executor-1"); }
  std::string End(const std::string& job_id, RunState state) {
    clock_.Advance(1min);
    const std::string run_id = Execute(job_id);
    Finish(run_id, {.state = state, .ended = clock_.Wall()});
    return run_id;
  }
  json Failing(const std::string& query = "") {
    const Answer answer = Get("/api/failing-jobs" + query);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.body();
  }
  size_t Letters(const std::string& job_id) {
    return Get("/api/dead-letters?job_id=" + job_id).body()["items"].size();
  }
};

TEST_F(FailingJobsTest, SaysSinceWhenHowOftenAndTheLastSuccess) {
  Create({{"job_id", "export"}, {"name", "Export the ledger to S3"}});
  const std::string good = End("export", RunState::kCompleted);
  const std::string first = End("export", RunState::kFailed);
  End("export", RunState::kTimedOut);
  const std::string last = End("export", RunState::kFailed);
  const auto ended = [&](const std::string& run_id) {
    return Get("/api/runs/" + run_id).body()["ended_at"];
  };
  const json body = Failing();
  EXPECT_EQ(body["total"], 1);
  EXPECT_EQ(body["items"], json::array({{{"job_id", "export"},
                                         {"job_name", "Export the ledger to S3"},
                                         {"failing_since", ended(first)},
                                         {"failures", 3},
                                         {"more_failures", false},
                                         {"last_run_id", last},
                                         {"last_state", "FAILED"},
                                         {"last_failure_time", ended(last)},
                                         {"last_success_time", ended(good)},
                                         {"dead_letters", 3}}}));
}

TEST_F(FailingJobsTest, TheNextSuccessEndsItThoughItsDeadLettersStay) {
  Create({{"job_id", "flaky"}});
  End("flaky", RunState::kFailed);
  ASSERT_EQ(Failing()["items"].size(), 1u);
  Execute("flaky");  // the run waits, so there is no success yet
  EXPECT_EQ(Failing()["items"].size(), 1u);
  End("flaky", RunState::kCompleted);
  EXPECT_EQ(Failing()["items"].size(), 0u);
  EXPECT_EQ(Letters("flaky"), 1u);
  End("flaky", RunState::kFailed);
  EXPECT_EQ(Failing()["items"][0]["failures"], 1);
}

TEST_F(FailingJobsTest, AFailureIsFoundBehindManyOpenRuns) {
  Create({{"job_id", "busy"}});
  End("busy", RunState::kFailed);
  for (int i = 0; i < 40; ++i) {
    clock_.Advance(1s);
    Execute("busy");
  }
  EXPECT_EQ(Failing()["items"][0]["failures"], 1);
}

TEST_F(FailingJobsTest, TheNewestFailureComesFirstAndPagesKnowHowManyThereAre) {
  for (const char* id : {"a", "b", "c"}) {
    Create({{"job_id", id}});
    End(id, RunState::kFailed);
  }
  End("a", RunState::kFailed);
  json page = Failing("?page_size=2");
  EXPECT_EQ(page["total"], 3);
  ASSERT_EQ(page["items"].size(), 2u);
  EXPECT_EQ(page["items"][0]["job_id"], "a");
  EXPECT_EQ(page["items"][1]["job_id"], "c");
  page = Failing("?page_size=2&page_token=" + page.value("next_page_token", ""));
  ASSERT_EQ(page["items"].size(), 1u);
  EXPECT_EQ(page["items"][0]["job_id"], "b");
  EXPECT_TRUE(page["next_page_token"].is_null());
  EXPECT_EQ(Get("/api/failing-jobs?page_token=x").pointer(), "?page_token");
}

TEST_F(FailingJobsTest, AllOfAJobAreDiscardedAtOnce) {
  for (const char* id : {"a", "b"}) {
    Create({{"job_id", id}});
    End(id, RunState::kFailed);
    End(id, RunState::kFailed);
  }
  const json many = {{"action", "discard"}, {"filter", {{"job_id", "a"}}}};
  json dry = many;
  dry["dry_run"] = true;
  EXPECT_EQ(Post("/api/bulk", dry).body()["total"], 2);
  EXPECT_EQ(Letters("a"), 2u);
  const Answer done = Post("/api/bulk", many);
  ASSERT_EQ(done.status, 200) << done.text;
  EXPECT_EQ(done.body()["kind"], "dead_letter");
  EXPECT_EQ(done.body()["done"], 2);
  EXPECT_EQ(Letters("a"), 0u);
  EXPECT_EQ(Letters("b"), 2u);
  EXPECT_EQ(Failing()["items"].size(), 1u) << "what was discarded has been seen";
  EXPECT_EQ(Get("/api/audit").body()["items"][0]["action"], "dead_letter.discard");
  End("a", RunState::kFailed);
  EXPECT_EQ(Failing()["items"][0]["failures"], 3) << "the streak goes on";
  EXPECT_EQ(Failing()["items"][0]["dead_letters"], 1);
}

TEST_F(FailingJobsTest, TheRunsOfDeadLettersAreTriedAgainByThem) {
  Create({{"job_id", "a"}});
  const std::string first = End("a", RunState::kFailed);
  const std::string second = End("a", RunState::kFailed);
  const std::string letter = Get("/api/dead-letters").body()["items"][0].value("id", "");
  const Answer one = Post("/api/dead-letters/" + letter + "/retry");
  ASSERT_EQ(one.status, 202) << one.text;
  EXPECT_EQ(one.body()["run_id"], second);
  const json told = Get("/api/audit").body()["items"][0];
  EXPECT_EQ(told["action"], "dead_letter.retry");
  EXPECT_EQ(told["reason"], "run " + second);
  EXPECT_EQ(Post("/api/dead-letters/" + letter + "/retry").status, 404);
  const Answer rest = Post(
      "/api/bulk", {{"action", "retry"}, {"kind", "dead_letter"}, {"filter", {{"job_id", "a"}}}});
  EXPECT_EQ(rest.body()["done"], 1);
  EXPECT_EQ(Get("/api/runs/" + first).body()["state"], "PENDING");
  EXPECT_EQ(Letters("a"), 0u);
}

TEST_F(FailingJobsTest, ABulkActionOnDeadLettersNeedsACondition) {
  EXPECT_EQ(Post("/api/bulk", {{"action", "discard"}, {"filter", json::object()}}).pointer(),
            "/filter");
  EXPECT_EQ(Post("/api/bulk", {{"action", "discard"}, {"kind", "run"}, {"ids", {"1"}}}).pointer(),
            "/kind");
}

}  // namespace
}  // namespace carillon::test
