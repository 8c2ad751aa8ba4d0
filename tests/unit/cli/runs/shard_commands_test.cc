// The parts of a run that fans out, on the command line.
#include "tests/unit/cli/cli_harness.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

class ShardCommandsTest : public CliTest {
 protected:
  static json RunShards() {
    return json::parse(R"({"run_id": "R1", "job_id": "close", "state": "RUNNING", "shard_total": 2,
      "shards": [
      {"index": 0, "run_id": "R2", "state": "FAILED", "reason": "exit_code", "attempt": 2,
       "executor_id": "x", "due_at": null, "claimed_at": "2026-03-01T00:00:00.100000Z",
       "started_at": "2026-03-01T00:00:00.100000Z", "ended_at": "2026-03-01T00:00:02.000000Z"},
      {"index": 1, "run_id": "R3", "state": "PENDING", "reason": null, "attempt": 1,
       "executor_id": null, "due_at": "2026-03-01T00:00:00.000000Z", "claimed_at": null,
       "started_at": null, "ended_at": null}]})");
  }
};

TEST_F(ShardCommandsTest, PartsAreATableFilteredByState) {
  Answer("GET /api/runs/R1/shards", RunShards());
  EXPECT_EQ(Run({"run", "shards", "R1"}), 0) << err();
  EXPECT_NE(out().find("\n0      FAILED   x"), std::string::npos) << out();
  EXPECT_NE(out().find("\n1      PENDING  -"), std::string::npos) << out();
  EXPECT_EQ(Run({"run", "shards", "R1", "--state", "failed", "-o", "name"}), 0);
  EXPECT_EQ(out(), "R2\n");
  EXPECT_EQ(Run({"run", "shards", "R1", "--state", "failed", "-o", "json"}), 0);
  EXPECT_EQ(json::parse(out())["shards"].size(), 1u);
  EXPECT_EQ(json::parse(out())["shard_total"], 2);
}

TEST_F(ShardCommandsTest, AStateThatDoesNotExistIsAMistake) {
  Answer("GET /api/runs/R1/shards", RunShards());
  for (const char* wrong : {"BOGUS", "", "FAILED,LOST"}) {
    EXPECT_EQ(Run({"run", "shards", "R1", "--state", wrong}), 2) << wrong;
    EXPECT_NE(err().find("PENDING, "), std::string::npos) << err();
    EXPECT_EQ(out(), "");
  }
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(ShardCommandsTest, AnAnswerWithoutPartsIsAnEmptyTable) {
  for (const json& odd : {json(), json::array(), json{{"shards", {1}}}}) {
    server_.answers.clear();
    Answer("GET /api/runs/R1/shards", odd);
    EXPECT_EQ(Run({"run", "shards", "R1"}), 0) << odd;
  }
}

TEST_F(ShardCommandsTest, LogsOfARunThatFansOutAreThoseOfItsParts) {
  const HttpResponse elsewhere{
      .headers = {{"content-type", "text/plain; charset=utf-8"}, {"x-log-in", "shards"}}};
  server_.answers["GET http://a/api/runs/R1/logs"].emplace_back(elsewhere);
  server_.answers["GET http://a/api/runs/R1/logs?attempt=1"].emplace_back(elsewhere);
  for (const char* state : {"RUNNING", "RUNNING", "FAILED"}) {
    Answer("GET /api/runs/R1", {{"run_id", "R1"}, {"state", state}, {"attempt", 1}});
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "logs", "R1"}, {"run", "logs", "R1", "-f"}}) {
    EXPECT_EQ(Run(arguments), 0) << err();
    EXPECT_EQ(out(), "");
    const size_t said = err().find("carillon run logs R1 --shard N");
    ASSERT_NE(said, std::string::npos) << err();
    EXPECT_EQ(err().find("--shard N", said + 30), std::string::npos) << "once: " << err();
    EXPECT_NE(err().find("--state FAILED"), std::string::npos) << err();
  }
  EXPECT_EQ(server_.answers["GET http://a/api/runs/R1"].size(), 1u) << "until it has ended";
  Answer("GET /api/runs/R1/shards", RunShards());
  AnswerText("GET /api/runs/R3/logs", "of part 1\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--shard", "1"}), 0) << err();
  EXPECT_EQ(out(), "of part 1\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "--shard", "2"}), 3);
  EXPECT_NE(err().find("there are 2"), std::string::npos) << err();
}

TEST_F(ShardCommandsTest, AFollowedFireThatRunsAgainIsFollowedToItsEnd) {
  const HttpResponse elsewhere{
      .headers = {{"content-type", "text/plain; charset=utf-8"}, {"x-log-in", "shards"}}};
  server_.answers["GET http://a/api/runs/R1/logs?attempt=1"].emplace_back(elsewhere);
  for (const auto& [state, attempt] :
       {std::pair{"RUNNING", 1}, {"RUNNING", 2}, {"RUNNING", 2}, {"COMPLETED", 2}}) {
    Answer("GET /api/runs/R1", {{"run_id", "R1"}, {"state", state}, {"attempt", attempt}});
  }
  EXPECT_EQ(Run({"run", "logs", "R1", "-f"}), 0) << err();
  EXPECT_EQ(server_.answers["GET http://a/api/runs/R1"].size(), 1u);
}

TEST_F(ShardCommandsTest, ALogThatIsEmptySinceNothingRanSaysWhy) {
  const auto said = [this](json run) {
    server_.answers.clear();
    run.update({{"run_id", "R1"}, {"attempt", 1}});
    Answer("GET /api/runs/R1", run);
    AnswerText("GET /api/runs/R1/logs", "");
    EXPECT_EQ(Run({"run", "logs", "R1"}), 0) << err();
    EXPECT_EQ(out(), "");
    return err();
  };
  EXPECT_NE(said({{"state", "PENDING"}}).find("attempt 1 has not begun"), std::string::npos);
  EXPECT_NE(said({{"state", "COMPLETED"}, {"reason", "zero_shards"}}).find("had no shards"),
            std::string::npos);
  EXPECT_NE(said({{"state", "SKIPPED"}, {"reason", "misfire"}})
                .find("was SKIPPED before it began (misfire)"),
            std::string::npos);
  EXPECT_EQ(said({{"state", "COMPLETED"}, {"executor_id", "x"}}), "") << "it printed nothing";
  EXPECT_EQ(said({{"state", "RUNNING"}, {"executor_id", "x"}}), "");
}

TEST_F(ShardCommandsTest, AFollowedRunThatWaitsSaysSoOnce) {
  for (const char* state : {"PENDING", "PENDING", "COMPLETED"}) {
    Answer("GET /api/runs/R1", RunShown(state));
  }
  AnswerText("GET /api/runs/R1/logs?attempt=1", "");
  AnswerText("GET /api/runs/R1/logs?attempt=1", "");
  AnswerText("GET /api/runs/R1/logs?attempt=1", "done\n");
  EXPECT_EQ(Run({"run", "logs", "R1", "-f"}), 0) << err();
  EXPECT_EQ(out(), "done\n");
  const size_t said = err().find("PENDING");
  ASSERT_NE(said, std::string::npos);
  EXPECT_EQ(err().find("PENDING", said + 1), std::string::npos) << err();
}

TEST_F(ShardCommandsTest, PartsHaveNoDryRun) {
  EXPECT_EQ(Run({"run", "retry", "R1", "--shards", "all", "--dry-run"}), 2);
  EXPECT_NE(err().find("carillon run shards"), std::string::npos) << err();
  EXPECT_TRUE(server_.requests.empty());
}

TEST_F(ShardCommandsTest, ARetryNamesItsParts) {
  Answer("POST /api/runs/R1/retry", {{"run_id", "R1"}, {"state", "RUNNING"}}, 202);
  for (const auto& [flag, sent] :
       {std::pair<const char*, json>{"failed", "failed"}, {"all", "all"}, {"3,7", {3, 7}}}) {
    EXPECT_EQ(Run({"run", "retry", "R1", "--shards", flag}), 0) << err();
    EXPECT_EQ(SentBody(server_.requests.size() - 1)["shards"], sent);
  }
  EXPECT_EQ(Run({"run", "retry", "R1", "--shards", "3,x"}), 2);
  EXPECT_EQ(Run({"run", "retry", "R1", "--shards", "-1"}), 2);
  // Without a value, each of them would retry something else than what was meant.
  const size_t sent = server_.requests.size();
  for (const char* flag : {"--shards", "--from", "--skip"}) {
    EXPECT_EQ(Run({"run", "retry", "R1", flag, ""}), 2) << flag;
  }
  EXPECT_EQ(server_.requests.size(), sent);
}

TEST_F(ShardCommandsTest, ListsHavePartsOnRequest) {
  Answer("GET /api/runs?parts=true&page_size=50",
         {{"items", json::array()}, {"next_page_token", nullptr}});
  EXPECT_EQ(Run({"run", "list", "--parts"}), 0) << err();
}

TEST_F(ShardCommandsTest, AJobFansOutByItsFlags) {
  Answer("POST /api/jobs", {{"job_id", "close"}}, 201);
  ASSERT_EQ(Run({"job", "create", "--name", "Close", "--command", "true", "--shards", "alive:9"}),
            0)
      << err();
  EXPECT_EQ(SentBody(0)["shards"], (json{{"total", "alive"}, {"max", 9}}));
  ASSERT_EQ(Run({"job", "create", "--name", "Close", "--command", "true", "--broadcast"}), 0);
  EXPECT_EQ(SentBody(1)["broadcast"], json::object());
  ASSERT_EQ(Run({"job", "create", "--name", "Close", "--command", "true", "--broadcast=90"}), 0);
  EXPECT_EQ(SentBody(2)["broadcast"], (json{{"wait_s", 90}}));
  EXPECT_EQ(Run({"job", "create", "--name", "C", "--broadcast", "--shards", "2"}), 2);
  EXPECT_EQ(Run({"job", "create", "--name", "C", "--command", "true", "--shards", ""}), 2);
}

}  // namespace
}  // namespace carillon::cli
