// Lost replies to a commit: the API reports the true result, or that the outcome is unknown.
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

class UnknownOutcomeTest : public ApiEnv {
 protected:
  UnknownOutcomeTest() : job_id_(Create({{"job_id", "known"}}).value("job_id", "")) {}
  void Lose(const std::string& operation, int times = 1) {
    faults_.plan.Arm(operation, Fault::kTimeoutAfter, times);
  }
  void Drop(const std::string& operation, int times = 1) {
    faults_.plan.Arm(operation, Fault::kTimeoutBefore, times);
  }
  const std::string job_id_;
  const std::string path_ = "/api/jobs/known";
  const HttpHeaders at_v1_ = {{"If-Match", "\"v1\""}};
};

TEST_F(UnknownOutcomeTest, ACreateThatHappenedIsCreated) {
  Lose("CreateJob");
  const Answer answer = Post("/api/jobs", JobBody({{"job_id", "fresh"}}));
  EXPECT_EQ(answer.status, 201) << answer.text;
  EXPECT_EQ(answer.header("etag"), "\"v1\"");
}

TEST_F(UnknownOutcomeTest, ACreateThatDidNotHappenIsUnknown) {
  Drop("CreateJob");
  const Answer answer = Post("/api/jobs", JobBody({{"job_id", "fresh"}}));
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.code(), "outcome_unknown");
  EXPECT_EQ(answer.text.find("secret"), std::string::npos);
}

TEST_F(UnknownOutcomeTest, ARepeatedCreateWithItsKeyMakesOneJob) {
  // The reply is lost, and the read after it fails too. The key then stays in use for a minute.
  Lose("CreateJob");
  faults_.plan.Arm("GetJob", Fault::kUnavailable);
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  EXPECT_EQ(Post("/api/jobs", JobBody(), key).code(), "outcome_unknown");
  EXPECT_EQ(Post("/api/jobs", JobBody(), key).code(), "request_in_flight");
  clock_.Advance(2min);
  EXPECT_EQ(Post("/api/jobs", JobBody(), key).status, 201);
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 2u);  // "known" and the new one
}

// The repetition is a little later, but `in_s` counts from the first request.
TEST_F(UnknownOutcomeTest, ARepeatedDelayWithItsKeyMakesOneJob) {
  Lose("CreateJob");
  faults_.plan.Arm("GetJob", Fault::kUnavailable);
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  const json delayed = JobBody({{"cron_expression", nullptr},
                                {"schedules",
                                 {{{"kind", "once"}, {"in_s", 3600}},
                                  {{"kind", "cron"}, {"cron_expression", "H 3 * * *"}}}}});
  EXPECT_EQ(Post("/api/jobs", delayed, key).code(), "outcome_unknown");
  clock_.Advance(2min);
  const Answer made = Post("/api/jobs", delayed, key);
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.body()["schedules"][0]["at"], "2026-03-01T01:00:00.000000Z");
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 2u);  // "known" and the new one
}

TEST_F(UnknownOutcomeTest, AnEditIsReadBack) {
  Lose("ReplaceJob");
  const Answer stored = Send("PUT", path_, JobBody({{"priority", 4}}).dump(), at_v1_);
  EXPECT_EQ(stored.status, 200) << stored.text;
  EXPECT_EQ(stored.header("etag"), "\"v2\"");
  Drop("ReplaceJob");
  const Answer lost = Send("PATCH", path_, R"({"priority":5})", {{"If-Match", "\"v2\""}});
  EXPECT_EQ(lost.code(), "outcome_unknown");
  EXPECT_EQ(Get(path_).body()["priority"], 4);
}

TEST_F(UnknownOutcomeTest, ADeleteIsReadBack) {
  Drop("DeleteJob");
  EXPECT_EQ(Send("DELETE", path_, "", at_v1_).code(), "outcome_unknown");
  Lose("DeleteJob");
  EXPECT_EQ(Send("DELETE", path_, "", at_v1_).status, 204);
  EXPECT_EQ(Get(path_).status, 404);
}

TEST_F(UnknownOutcomeTest, PauseAndResumeAreTriedAgain) {
  Lose("PauseJob");
  EXPECT_EQ(Post(path_ + "/pause").body()["state"], "PAUSED");
  Drop("ResumeJob");
  EXPECT_EQ(Post(path_ + "/resume").body()["state"], "ENABLED");
  Drop("PauseJob", 2);
  EXPECT_EQ(Post(path_ + "/pause").code(), "outcome_unknown");
}

TEST_F(UnknownOutcomeTest, AnExecuteIsNeverGuessed) {
  Drop("ExecuteJob");
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  EXPECT_EQ(Post(path_ + "/execute", json::object(), key).code(), "outcome_unknown");
  // An immediate repetition does not create a second run.
  EXPECT_EQ(Post(path_ + "/execute", json::object(), key).code(), "request_in_flight");
  EXPECT_EQ(Get("/api/runs").body()["items"].size(), 0u);
}

// The run and the answer for its key are written in one transaction, so a repetition finds the
// answer, no matter what happens after the transaction.
TEST_F(UnknownOutcomeTest, ARepeatedExecuteWithItsKeyMakesOneRun) {
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  Lose("ExecuteJob");
  EXPECT_EQ(Post(path_ + "/execute", json::object(), key).code(), "outcome_unknown");
  const Answer found = Post(path_ + "/execute", json::object(), key);
  EXPECT_EQ(found.status, 202) << found.text;
  EXPECT_EQ(found.header("idempotent-replayed"), "true");
  // The request writes nothing else, so an outage of the store after this transaction
  // loses nothing.
  const HttpHeaders other = {{"Idempotency-Key", "other"}};
  faults_.plan.Arm("FinishRequest", Fault::kUnavailable);
  const Answer first = Post(path_ + "/execute", json::object(), other);
  ASSERT_EQ(first.status, 202);
  clock_.Advance(2min);
  const Answer second = Post(path_ + "/execute", json::object(), other);
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(second.header("location"), first.header("location"));
  EXPECT_EQ(Get("/api/runs").body()["items"].size(), 2u);
}

TEST_F(UnknownOutcomeTest, CancelOfARunIsTriedAgain) {
  const std::string run_id = Execute(job_id_);
  Drop("CancelRun");
  EXPECT_EQ(Post("/api/runs/" + run_id + "/cancel").body()["cancelled"], 1);
  Drop("CancelRun", 2);
  EXPECT_EQ(Post("/api/runs/" + run_id + "/cancel").code(), "outcome_unknown");
  Drop("CancelJobRuns");
  EXPECT_EQ(Post(path_ + "/cancel").code(), "outcome_unknown");
}

TEST_F(UnknownOutcomeTest, ARetryIsReadBack) {
  AddExecutor("executor-1");
  const std::string run_id = Execute(job_id_);
  Finish(run_id, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 1});
  Drop("RetryRun");
  EXPECT_EQ(Post("/api/runs/" + run_id + "/retry").code(), "outcome_unknown");
  Lose("RetryRun");
  const Answer retried = Post("/api/runs/" + run_id + "/retry");
  EXPECT_EQ(retried.status, 202) << retried.text;
  EXPECT_EQ(retried.body()["attempt"], 2);
}

TEST_F(UnknownOutcomeTest, ARepeatedRetryWithItsKeyMakesOneAttempt) {
  AddExecutor("executor-1");
  const std::string run_id = Execute(job_id_);
  Finish(run_id, {.state = RunState::kFailed, .reason = "exit_code", .exit_code = 1});
  const HttpHeaders key = {{"Idempotency-Key", "k"}};
  Lose("RetryRun");
  EXPECT_EQ(Post("/api/runs/" + run_id + "/retry", json::object(), key).code(), "outcome_unknown");
  const Answer found = Post("/api/runs/" + run_id + "/retry", json::object(), key);
  EXPECT_EQ(found.status, 202) << found.text;
  EXPECT_EQ(found.header("idempotent-replayed"), "true");
  EXPECT_EQ(found.body()["attempt"], 2);
}

TEST_F(UnknownOutcomeTest, AnAnswerThatCouldNotBeKeptIsStillGiven) {
  faults_.plan.Arm("FinishRequest", Fault::kUnavailable);
  EXPECT_EQ(Post("/api/jobs", JobBody(), {{"Idempotency-Key", "k"}}).status, 201);
}

}  // namespace
}  // namespace carillon::test
