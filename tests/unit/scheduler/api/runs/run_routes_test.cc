// /api/runs and related routes: execute, cancel, retry, logs, gaps, dead letters.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class RunRoutesTest : public ApiEnv {
 protected:
  RunRoutesTest() { AddExecutor("executor-1"); }
};

TEST_F(RunRoutesTest, ExecuteAnswersWithTheRun) {
  const std::string job_id = Create().value("job_id", "");
  const Answer answer = Post("/api/jobs/" + job_id + "/execute");
  ASSERT_EQ(answer.status, 202) << answer.text;
  const std::string run_id = answer.body().value("run_id", "");
  EXPECT_EQ(answer.header("location"), "/api/runs/" + run_id);
  const Answer read = Get("/api/runs/" + run_id);
  ASSERT_EQ(read.status, 200) << read.text;
  const json run = read.body();
  EXPECT_EQ(run["run_id"], run_id);
  EXPECT_EQ(run["job_id"], job_id);
  EXPECT_EQ(run["kind"], "manual");
  EXPECT_EQ(run["state"], "PENDING");
  EXPECT_EQ(run["attempt"], 1);
  EXPECT_TRUE(run["attempts"].is_array());
  EXPECT_FALSE(read.header("etag").empty());
  EXPECT_EQ(nudges(), 2u);
}

TEST_F(RunRoutesTest, ExecuteTakesOverridesAndChecksThem) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "") + "/execute";
  const Answer good =
      Post(path, {{"parameters", {{"who", "me"}}}, {"executor_id", "executor-1"}, {"priority", 9}});
  ASSERT_EQ(good.status, 202) << good.text;
  const RunDetail run = *stores_.runs.GetRun(*DecodeRunId(good.body().value("run_id", "")));
  EXPECT_EQ(run.parameters_json, R"({"who":"me"})");
  EXPECT_EQ(run.row.pinned_executor.value(), "executor-1");
  EXPECT_EQ(run.row.priority, 9);
  EXPECT_EQ(Post(path, {{"executor_id", "nobody"}}).pointer(), "/executor_id");
  EXPECT_EQ(Post(path, {{"executor_id", "NO BODY"}}).pointer(), "/executor_id");
  EXPECT_EQ(Post(path, {{"executor_id", ""}}).pointer(), "/executor_id");
  EXPECT_EQ(Post(path, {{"executor_id", nullptr}}).status, 202);
  EXPECT_EQ(Post(path, {{"priority", 101}}).pointer(), "/priority");
  EXPECT_EQ(Post(path, {{"parameters", {{"a-b", 1}}}}).status, 400);
  EXPECT_EQ(Post(path, {{"parameters", 5}}).pointer(), "/parameters");
  EXPECT_EQ(Post(path, {{"shard", 1}}).pointer(), "/shard");
}

TEST_F(RunRoutesTest, HistoryIsTheListOfTheJobsRuns) {
  const std::string job_id = Create().value("job_id", "");
  const std::string other = Create().value("job_id", "");
  const std::string run_id = Execute(job_id);
  Execute(other);
  const json history = Get("/api/jobs/" + job_id + "/history").body();
  ASSERT_EQ(history["items"].size(), 1u);
  EXPECT_EQ(history["items"][0]["run_id"], run_id);
  EXPECT_FALSE(history["items"][0].contains("attempts"));
  EXPECT_TRUE(history["next_page_token"].is_null());
  EXPECT_EQ(Get("/api/runs?job_id=" + job_id).body(), history);
  EXPECT_EQ(Get("/api/runs").body()["items"].size(), 2u);
  EXPECT_EQ(Get("/api/runs?job_id=never-was").body()["items"].size(), 0u);
}

TEST_F(RunRoutesTest, OutputsAreShownWithTheRunAndNotInLists) {
  const std::string id = Execute(Create().value("job_id", ""));
  Finish(id, {.exit_code = 0, .outputs = {{"report", "two\nlines"}, {"rows", "1200"}}});
  EXPECT_EQ(Get("/api/runs/" + id).body()["outputs"],
            (json{{"report", "two\nlines"}, {"rows", "1200"}}));
  EXPECT_FALSE(Get("/api/runs").body()["items"][0].contains("outputs"));
}

TEST_F(RunRoutesTest, ADeletedJobKeepsItsHistory) {
  const std::string job_id = Create().value("job_id", "");
  Finish(Execute(job_id), {});
  ASSERT_EQ(Send("DELETE", "/api/jobs/" + job_id, "", {{"If-Match", "\"v1\""}}).status, 204);
  const Answer history = Get("/api/jobs/" + job_id + "/history");
  ASSERT_EQ(history.status, 200) << history.text;
  EXPECT_EQ(history.body()["items"].size(), 1u);
}

TEST_F(RunRoutesTest, FiltersByStateExecutorAndTime) {
  const std::string job_id = Create().value("job_id", "");
  const std::string done = Execute(job_id);
  Finish(done, {});
  clock_.Advance(1min);
  const std::string failed = Execute(job_id);
  Finish(failed, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3});
  clock_.Advance(1min);
  const std::string pending = Execute(job_id);
  const auto ids = [&](const std::string& query) {
    std::vector<std::string> found;
    const Answer answer = Get("/api/runs?" + query);
    EXPECT_EQ(answer.status, 200) << answer.text;
    const json page = answer.body();
    for (const json& item : page["items"]) found.push_back(item.value("run_id", ""));
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids(""), (Ids{pending, failed, done}));
  EXPECT_EQ(ids("state=COMPLETED"), Ids{done});
  EXPECT_EQ(ids("state=COMPLETED&state=FAILED"), (Ids{failed, done}));
  EXPECT_EQ(ids("executor_id=executor-1"), (Ids{failed, done}));
  EXPECT_EQ(ids("since=2026-03-01T00:00:30Z"), (Ids{pending, failed}));
  EXPECT_EQ(ids("since=2026-03-01T01:00:30+01:00"), (Ids{pending, failed}));
  EXPECT_EQ(ids("until=2026-03-01T00:00:30Z"), Ids{done});
  const std::string anothers =
      Create({{"user_id", "bob"}, {"namespace", "pay"}}).value("job_id", "");
  clock_.Advance(1min);
  const std::string his = Execute(anothers);
  EXPECT_EQ(ids("user_id=bob"), Ids{his});
  const std::string labelled =
      Create({{"name", "Zebra"}, {"labels", {{"team", "etl"}, {"url", "http://x"}}}})
          .value("job_id", "");
  const std::string night = Execute(labelled);
  EXPECT_EQ(ids("q=ZEB"), Ids{night});
  EXPECT_EQ(ids("q=" + anothers), Ids{his});
  EXPECT_EQ(ids("q=no-such"), Ids{});
  EXPECT_EQ(ids("label=team:etl"), Ids{night});
  EXPECT_EQ(ids("label=team:web&label=team:etl"), Ids{night});
  EXPECT_EQ(ids("label=team:etl&label=url:http://x"), Ids{night});
  EXPECT_EQ(ids("label=team:etl&label=url:"), Ids{});
  EXPECT_EQ(ids("q=zebra&label=team:etl&state=PENDING"), Ids{night});
  Post("/api/runs/" + night + "/cancel");
  EXPECT_EQ(ids("namespace=pay&namespace=etl"), Ids{his});
  EXPECT_EQ(ids("user_id=bob&state=FAILED"), Ids{});
  EXPECT_EQ(ids("kind=manual").size(), 5u);
  EXPECT_EQ(ids("kind=cron&kind=rate"), Ids{});
}

TEST_F(RunRoutesTest, RefusesFiltersItDoesNotKnow) {
  for (const auto& [query, pointer] : std::vector<std::pair<std::string, std::string>>{
           {"stat=FAILED", "?stat"},
           {"state=failed", "?state"},
           {"state=", "?state"},
           {"since=yesterday", "?since"},
           {"since=2026-03-01T00:00:00Z&since=2026-03-01T00:00:00Z", "?since"},
           {"job_id=NO", "?job_id"},
           {"executor_id=%2F", "?executor_id"},
           {"kind=MANUAL", "?kind"},
           {"label=team", "?label"},
           {"label=:etl", "?label"},
           {"q=" + std::string(1001, 'x'), "?q"},
           {"namespace=A", "?namespace"},
           {"user_id=" + std::string(65, 'a'), "?user_id"},
           {"page_size=0", "?page_size"},
           {"page_size=501", "?page_size"},
           {"page_size=five", "?page_size"},
           {"page_size=99999999999999999999", "?page_size"}}) {
    const Answer answer = Get("/api/runs?" + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(answer.pointer(), pointer) << query;
  }
}

TEST_F(RunRoutesTest, AnUnknownKindIsAnsweredWithEachThatThereIs) {
  const std::string detail = Get("/api/runs?kind=MANUAL").body().value("detail", "");
  for (const RunKind kind : kRunKinds) {
    EXPECT_NE(detail.find(Name(kind)), std::string::npos) << Name(kind) << " in " << detail;
  }
}

TEST_F(RunRoutesTest, CancelCountsWhatItDid) {
  const std::string job_id = Create().value("job_id", "");
  const std::string first = Execute(job_id);
  Execute(job_id);
  Execute(job_id);
  const Answer one = Post("/api/runs/" + first + "/cancel");
  EXPECT_EQ(one.status, 202);
  EXPECT_EQ(one.body()["cancelled"], 1);
  EXPECT_EQ(Get("/api/runs/" + first).body()["state"], "CANCELLED");
  EXPECT_EQ(Post("/api/runs/" + first + "/cancel").body()["cancelled"], 0);
  const Answer rest = Post("/api/jobs/" + job_id + "/cancel");
  EXPECT_EQ(rest.status, 202);
  EXPECT_EQ(rest.body()["cancelled"], 2);
  EXPECT_EQ(Post("/api/runs/" + first + "/cancel", {{"mood", "kill"}}).pointer(), "/mood");
}

TEST_F(RunRoutesTest, RetryPutsAFinalRunBack) {
  const std::string job_id = Create().value("job_id", "");
  const std::string run_id = Execute(job_id);
  EXPECT_EQ(Post("/api/runs/" + run_id + "/retry").code(), "conflict");
  Finish(run_id, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3});
  const Answer retried = Post("/api/runs/" + run_id + "/retry");
  ASSERT_EQ(retried.status, 202) << retried.text;
  EXPECT_EQ(retried.body()["run_id"], run_id);
  EXPECT_EQ(retried.body()["state"], "PENDING");
  EXPECT_EQ(retried.body()["attempt"], 2);
  EXPECT_EQ(retried.header("location"), "/api/runs/" + run_id);
  EXPECT_EQ(Get("/api/runs/" + run_id).body()["attempts"].size(), 1u);
}

TEST_F(RunRoutesTest, WhatWaitsForItsNextAttemptIsNobodys) {
  const std::string run_id = Execute(Create().value("job_id", ""));
  Finish(run_id, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3});
  EXPECT_EQ(Get("/api/runs/" + run_id).body()["executor_id"], "executor-1");
  const json retried = Post("/api/runs/" + run_id + "/retry").body();
  EXPECT_TRUE(retried["executor_id"].is_null());
  EXPECT_TRUE(retried["claimed_at"].is_null());
  EXPECT_EQ(retried["attempts"][0]["executor_id"], "executor-1");
}

TEST_F(RunRoutesTest, ARetryTakesTheDeadLetterBack) {
  const std::string run_id = Execute(Create().value("job_id", ""));
  const AttemptResult failed = {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3};
  const auto letters = [&] { return Get("/api/dead-letters").body()["items"].size(); };
  Finish(run_id, failed);
  EXPECT_EQ(letters(), 1u);
  Post("/api/runs/" + run_id + "/retry");
  EXPECT_EQ(letters(), 0u);
  Finish(run_id, failed);
  EXPECT_EQ(letters(), 1u);
  Post("/api/runs/" + run_id + "/retry");
  Finish(run_id, {});
  EXPECT_EQ(letters(), 0u);
}

TEST_F(RunRoutesTest, RunsThatPeopleMakeAndEndAreCounted) {
  const auto runs = [&](const char* state) {
    return metrics_.counter("carillon_runs_total", state).value();
  };
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const std::string job_id = path.substr(path.rfind('/') + 1);
  const std::string first = Execute(job_id);
  EXPECT_EQ(metrics_.counter("carillon_fires_total", "manual").value(), 1u);
  Post("/api/runs/" + first + "/cancel");
  Post("/api/runs/" + first + "/cancel");
  EXPECT_EQ(runs("CANCELLED"), 1u);
  Execute(job_id);
  clock_.Advance(1s);
  Execute(job_id);
  Post(path + "/cancel");
  EXPECT_EQ(runs("CANCELLED"), 3u);
  Execute(job_id);
  clock_.Advance(1s);
  Post(path + "/pause");
  EXPECT_EQ(runs("SKIPPED"), 1u);
}

TEST_F(RunRoutesTest, ACancelSaysWhoAndWhy) {
  const std::string job_id = Create().value("job_id", "");
  const std::string waiting = Execute(job_id);
  Post("/api/runs/" + waiting + "/cancel", {{"reason", "wrong day"}});
  EXPECT_EQ(Get("/api/runs/" + waiting).body()["error"], "cancelled by token/admin: wrong day");
  const std::string silent = Execute(job_id);
  Post("/api/runs/" + silent + "/cancel");
  EXPECT_EQ(Get("/api/runs/" + silent).body()["error"], "cancelled by token/admin");
}

TEST_F(RunRoutesTest, LogsArePlainTextOfTheAskedAttempt) {
  const std::string run_id = Execute(Create().value("job_id", ""));
  Finish(run_id, {.state = RunState::kFailed,
                  .reason = "exit_code",
                  .exit_code = 3,
                  .output = "first \xff\n",
                  .output_truncated = true});
  const Answer logs = Get("/api/runs/" + run_id + "/logs");
  EXPECT_EQ(logs.status, 200);
  EXPECT_EQ(logs.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(logs.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(logs.header("x-output-truncated"), "true");
  EXPECT_EQ(logs.text, "first \xef\xbf\xbd\n");
  ASSERT_EQ(Post("/api/runs/" + run_id + "/retry").status, 202);
  EXPECT_EQ(Get("/api/runs/" + run_id + "/logs?attempt=1").text, "first \xef\xbf\xbd\n");
  EXPECT_EQ(Get("/api/runs/" + run_id + "/logs?attempt=3").code(), "not_found");
  EXPECT_EQ(Get("/api/runs/" + run_id + "/logs?attempt=x").pointer(), "?attempt");
}

TEST_F(RunRoutesTest, DeadLetterIsDiscardedOnceAndItsRunStays) {
  const std::string run_id = Execute(Create().value("job_id", ""));
  Finish(run_id, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3});
  const std::string path =
      "/api/dead-letters/" + Get("/api/dead-letters").body()["items"][0].value("id", "");
  EXPECT_EQ(Get(path).body()["run_id"], run_id);
  EXPECT_EQ(Send("DELETE", path).status, 204);
  EXPECT_EQ(Send("DELETE", path).status, 404);
  EXPECT_EQ(Get(path).code(), "not_found");
  EXPECT_EQ(Get("/api/dead-letters/x").code(), "not_found");
  EXPECT_EQ(Get("/api/runs/" + run_id).body()["state"], "FAILED");
  const json told = Get("/api/audit").body()["items"][0];
  EXPECT_EQ(told["action"], "dead_letter.discard");
  EXPECT_EQ(told["reason"], "run " + run_id);
}

TEST_F(RunRoutesTest, DeadLettersAndGapsAreListed) {
  const std::string job_id = Create({{"cron_expression", "* * * * *"}}).value("job_id", "");
  const std::string run_id = Execute(job_id);
  Finish(run_id, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 3});
  const json letters = Get("/api/dead-letters").body()["items"];
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0]["run_id"], run_id);
  EXPECT_EQ(letters[0]["reason"], "exit_code");
  EXPECT_EQ(Get("/api/dead-letters?job_id=" + job_id).body()["items"], letters);
  EXPECT_EQ(Get("/api/dead-letters?job_id=never-was").body()["items"].size(), 0u);
  EXPECT_EQ(Get("/api/dead-letters?job_id=Never%20was").pointer(), "?job_id");
  Post("/api/jobs/" + job_id + "/pause");
  clock_.Advance(10min);
  Post("/api/jobs/" + job_id + "/resume");
  const json gaps = Get("/api/gaps?job_id=" + job_id).body()["items"];
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0]["reason"], "paused");
  EXPECT_EQ(gaps[0]["count"], 10);
  EXPECT_EQ(Get("/api/gaps?job_id=never-was").body()["items"].size(), 0u);
}

TEST_F(RunRoutesTest, GapsAreFilteredByTimeAndReason) {
  const std::string job_id = Create({{"cron_expression", "* * * * *"}}).value("job_id", "");
  Post("/api/jobs/" + job_id + "/pause");
  clock_.Advance(10min);  // the fires of 00:01 to 00:10
  Post("/api/jobs/" + job_id + "/resume");
  const auto found = [&](const std::string& query) {
    const auto answer = Get("/api/gaps?" + query);
    EXPECT_EQ(answer.status, 200) << query;
    return answer.body()["items"].size();
  };
  ASSERT_EQ(Get("/api/gaps").body()["items"][0]["to"], "2026-03-01T00:10:00.000000Z");
  EXPECT_EQ(found("since=2026-03-01T00:10:00Z"), 1u);
  EXPECT_EQ(found("since=2026-03-01T01:10:00%2B01:00&job_id=" + job_id), 1u);
  EXPECT_EQ(found("since=2026-03-01T00:10:01Z"), 0u);
  EXPECT_EQ(found("until=2026-03-01T00:01:00Z"), 0u);
  EXPECT_EQ(found("until=2026-03-01T00:01:01Z&reason=paused"), 1u);
  EXPECT_EQ(found("reason=misfire&reason=edited"), 0u);
  EXPECT_EQ(found("reason=misfire&reason=paused"), 1u);
  for (const auto& [query, pointer] : std::vector<std::pair<std::string, std::string>>{
           {"since=yesterday", "?since"},
           {"until=24h", "?until"},
           {"since=2026-03-01T00:00:00Z&since=2026-03-01T00:00:00Z", "?since"},
           {"reason=PAUSED", "?reason"},
           {"state=FAILED", "?state"}}) {
    const auto refused = Get("/api/gaps?" + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(refused.pointer(), pointer);
  }
}

TEST_F(RunRoutesTest, UnknownRunsAreNotFoundAndBadIdsRefused) {
  const std::string unknown(26, '0');
  for (const char* tail : {"", "/logs"}) EXPECT_EQ(Get("/api/runs/" + unknown + tail).status, 404);
  EXPECT_EQ(Post("/api/runs/" + unknown + "/cancel").status, 404);
  EXPECT_EQ(Post("/api/runs/" + unknown + "/retry").status, 404);
  EXPECT_EQ(Get("/api/runs/not-a-run").code(), "bad_run_id");
}

}  // namespace
}  // namespace carillon::test
