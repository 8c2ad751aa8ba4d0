// Secrets, from the answer to a claim to the start of the attempt.
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonSecretTest : public DaemonFixture {
 protected:
  TaskMessage SecretTask(uint64_t number) {
    TaskMessage task = Task(number);
    task.env = {{"PLAIN", "{{secrets.db}}"}};
    task.secret_env = {{"URL", {{.text = "mysql://u:"}, {.secret = "db"}, {.text = "@h"}}}};
    return task;
  }
  void AnswerWith(const ClaimRequest& claim, SecretValues values, const std::string& failure = "") {
    ClaimBatchReply reply;
    reply.batch_id = last_batch_;
    reply.sent_us = clock_.Steady().time_since_epoch().count();
    reply.items.push_back({.key = claim.key,
                           .token = claim.token,
                           .verdict = ClaimVerdict::kAccepted,
                           .secrets = std::move(values),
                           .secret_failure = failure,
                           .secret_error = failure.empty() ? "" : "the member's sentence"});
    Deliver(reply);
  }
  ClaimRequest OnlyClaim() {
    const auto claims = Claims();
    EXPECT_EQ(claims.size(), 1u);
    return claims.empty() ? ClaimRequest{} : claims[0];
  }
};

TEST_F(DaemonSecretTest, ValuesGoIntoTheStartAndAreMasked) {
  Join();
  Publish({SecretTask(1)});
  const ClaimRequest claim = OnlyClaim();
  EXPECT_TRUE(claim.wants_secrets);
  AnswerWith(claim, {{"db", "hunter22"}});
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_EQ(warden_.starts[0].env.at("URL"), "mysql://u:hunter22@h");
  EXPECT_EQ(warden_.starts[0].env.at("PLAIN"), "{{secrets.db}}") << "only pieces are filled";
  EXPECT_EQ(warden_.starts[0].masked, std::vector<std::string>{"hunter22"});
}

TEST_F(DaemonSecretTest, OthersAskForNoneAndAreNotMasked) {
  Join();
  Publish({Task(1)});
  const ClaimRequest claim = OnlyClaim();
  EXPECT_FALSE(claim.wants_secrets);
  Answer(claim, ClaimVerdict::kAccepted);
  ASSERT_EQ(warden_.starts.size(), 1u);
  EXPECT_TRUE(warden_.starts[0].masked.empty());
}

TEST_F(DaemonSecretTest, AFailureEndsTheAttemptWithoutAStart) {
  Join();
  Publish({SecretTask(1)});
  AnswerWith(OnlyClaim(), {}, "secret_forbidden");
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_FALSE(bus_.results.empty());
  const AttemptResult& result = bus_.results[0].report.result;
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kSecretForbidden);
  EXPECT_EQ(result.error, "the member's sentence");
  EXPECT_EQ(result.started, WallTime{});
}

// A member may send no values because it has an earlier version or no longer finds the definition.
TEST_F(DaemonSecretTest, WithoutValuesNothingIsStarted) {
  Join();
  Publish({SecretTask(1)});
  AnswerWith(OnlyClaim(), {{"other", "some value"}});
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_FALSE(bus_.results.empty());
  EXPECT_EQ(bus_.results[0].report.result.reason, reason::kSecretMissing);
}

TEST_F(DaemonSecretTest, AWardenThatCannotMaskIsNotTrustedWithThem) {
  Join();
  Publish({SecretTask(1)});
  const ClaimRequest claim = OnlyClaim();
  warden_.can_start = Status(ErrorCode::kInvalid, "too old");
  AnswerWith(claim, {{"db", "hunter22"}});
  warden_.can_start = {};
  StepFor(3s);
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_FALSE(bus_.results.empty());
  EXPECT_EQ(bus_.results[0].report.result.state, RunState::kFailed);
  EXPECT_EQ(bus_.results[0].report.result.reason, reason::kSecretUnsupported);
}

TEST_F(DaemonSecretTest, WhatIsTooLargeForAProcessIsNotSentToTheWarden) {
  Join();
  TaskMessage task = SecretTask(1);
  for (int i = 0; i < 20; ++i) task.secret_env["A" + std::to_string(i)] = {{.secret = "db"}};
  Publish({task});
  AnswerWith(OnlyClaim(), {{"db", std::string(kSecretBytesMax, 'x')}});
  StepFor(1s);
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_FALSE(bus_.results.empty());
  EXPECT_EQ(bus_.results[0].report.result.reason, reason::kSpawn);
}

}  // namespace
}  // namespace carillon::executor
