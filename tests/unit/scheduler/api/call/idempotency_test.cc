// Idempotency-Key: a request takes effect once, and every repetition gets the same answer.
#include <thread>

#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using IdempotencyTest = ApiEnv;

TEST_F(IdempotencyTest, ReplaysTheFirstAnswer) {
  const Answer first = Post("/api/jobs", JobBody(), {{"Idempotency-Key", "k"}});
  ASSERT_EQ(first.status, 201) << first.text;
  const Answer second = Post("/api/jobs", JobBody(), {{"Idempotency-Key", "k"}});
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(second.header("location"), first.header("location"));
  EXPECT_EQ(second.header("etag"), first.header("etag"));
  EXPECT_EQ(second.header("content-type"), "application/json");
  EXPECT_EQ(second.header("idempotent-replayed"), "true");
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 1u);
  // The same body with another key is a new request.
  EXPECT_EQ(Post("/api/jobs", JobBody(), {{"Idempotency-Key", "k2"}}).status, 201);
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 2u);
}

TEST_F(IdempotencyTest, RefusesTheKeyWithAnotherBody) {
  Post("/api/jobs", JobBody(), {{"Idempotency-Key", "k"}});
  const Answer other = Post("/api/jobs", JobBody({{"name", "other"}}), {{"Idempotency-Key", "k"}});
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.code(), "idempotency_mismatch");
}

TEST_F(IdempotencyTest, KeysAreOfOneRoute) {
  const std::string a = Create().value("job_id", "");
  const std::string b = Create().value("job_id", "");
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  const Answer first = Post("/api/jobs/" + a + "/execute", json::object(), key);
  const Answer other = Post("/api/jobs/" + b + "/execute", json::object(), key);
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(other.status, 202);
  EXPECT_NE(first.text, other.text);
}

TEST_F(IdempotencyTest, ARetryIsKeptWithoutWhatWasPrinted) {
  const std::string run_id = Execute(Create().value("job_id", ""));
  Finish(run_id, {.state = RunState::kFailed, .exit_code = 3, .output = "a long story"});
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  const Answer first = Post("/api/runs/" + run_id + "/retry", json::object(), key);
  ASSERT_EQ(first.status, 202) << first.text;
  EXPECT_EQ(first.body()["attempts"][0]["output"], "a long story");
  const Answer second = Post("/api/runs/" + run_id + "/retry", json::object(), key);
  ASSERT_EQ(second.status, 202) << second.text;
  EXPECT_EQ(second.header("idempotent-replayed"), "true");
  EXPECT_EQ(second.text.find("a long story"), std::string::npos);
  json expected = first.body();
  expected["output"] = "";
  expected["attempts"] = json::array();
  EXPECT_EQ(second.body(), expected);
}

TEST_F(IdempotencyTest, ConcurrentDuplicatesDoItOnce) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "") + "/execute";
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> done{0};
    std::atomic<int> in_flight{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 6; ++i) {
      clients.emplace_back([&] {
        HttpClient client;
        const Answer answer =
            SendOn(client, "POST", path, "",
                   Authorized({{"Idempotency-Key", "double-click-" + std::to_string(round)}}));
        if (answer.status == 202) ++done;
        if (answer.status == 409) ++in_flight;
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_GE(done, 1);
    EXPECT_EQ(done + in_flight, 6);
  }
  EXPECT_EQ(Get("/api/runs").body()["items"].size(), 10u);
}

TEST_F(IdempotencyTest, AWhileInFlightAnswers409) {
  std::atomic<int> status{0};
  std::string code;
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "CreateJob" || status != 0) return;
    status = -1;  // only the first request sends another one while it is handled
    HttpClient client;
    const Answer second =
        SendOn(client, "POST", "/api/jobs", JobBody().dump(),
               Authorized({{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}}));
    code = second.code();
    status = second.status;
  });
  EXPECT_EQ(Post("/api/jobs", JobBody(), {{"Idempotency-Key", "k"}}).status, 201);
  EXPECT_EQ(status, 409);
  EXPECT_EQ(code, "request_in_flight");
}

TEST_F(IdempotencyTest, AfterAnErrorTheKeyMayTryAgain) {
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  faults_.plan.Arm("CreateJob", Fault::kUnavailable);
  EXPECT_EQ(Post("/api/jobs", JobBody(), key).status, 503);
  EXPECT_EQ(Post("/api/jobs", JobBody({{"name", ""}}), key).status, 400);
  EXPECT_EQ(Post("/api/jobs", JobBody(), key).status, 201);
}

TEST_F(IdempotencyTest, BadKeysAreRefused) {
  for (const std::string& key :
       {std::string("a b"), std::string(256, 'k'), std::string("\"\""), std::string("k\xc3\xa9")}) {
    EXPECT_EQ(Post("/api/jobs", JobBody(), {{"Idempotency-Key", key}}).code(),
              "bad_idempotency_key")
        << key;
  }
  EXPECT_EQ(
      Post("/api/jobs", JobBody(), {{"Idempotency-Key", "a"}, {"Idempotency-Key", "b"}}).status,
      400);
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 0u);
}

}  // namespace
}  // namespace carillon::test
