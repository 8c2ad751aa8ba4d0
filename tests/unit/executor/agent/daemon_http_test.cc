// Requests: from the accepted claim to the runner, and from the end to the result.
#include "tests/unit/executor/agent/daemon_fixture.h"

namespace carillon::executor {
namespace {

class DaemonHttpTest : public DaemonFixture {
 protected:
  TaskMessage HttpTask(uint64_t number) {
    TaskMessage task = Task(number, JobType::kHttp);
    task.http = HttpCall{.method = HttpMethod::kPost, .url = "https://a.example/x"};
    task.http->headers = {{"Authorization", {{.text = "Bearer "}, {.secret = "token"}}},
                          {"X-Plain", {{.text = "p"}}}};
    task.http->body = {{.text = "{\"k\": \""}, {.secret = "key"}, {.text = "\"}"}};
    return task;
  }
  void AnswerWith(const ClaimRequest& claim, SecretValues values) {
    ClaimBatchReply reply;
    reply.batch_id = last_batch_;
    reply.sent_us = clock_.Steady().time_since_epoch().count();
    reply.items.push_back({.key = claim.key,
                           .token = claim.token,
                           .verdict = ClaimVerdict::kAccepted,
                           .secrets = std::move(values)});
    Deliver(reply);
  }
  ClaimRequest Begin() {
    Join();
    Publish({HttpTask(1)});
    const auto claims = Claims();
    EXPECT_EQ(claims.size(), 1u);
    if (claims.empty()) return {};
    EXPECT_TRUE(claims[0].wants_secrets);
    AnswerWith(claims[0], {{"token", "open-sesame"}, {"key", "a\"b-c-d-e"}});
    return claims[0];
  }
};

TEST_F(DaemonHttpTest, ARequestGetsItsSecretsAndNoProcess) {
  const ClaimRequest claim = Begin();
  EXPECT_TRUE(warden_.starts.empty());
  ASSERT_EQ(http_.starts.size(), 1u);
  const StartHttp& start = http_.starts[0];
  EXPECT_EQ(start.attempt.token, claim.token);
  EXPECT_EQ(start.headers.at("Authorization"), "Bearer open-sesame");
  EXPECT_EQ(start.headers.at("X-Plain"), "p");
  EXPECT_EQ(start.secret_headers, std::set<std::string>{"Authorization"});
  EXPECT_EQ(start.body, "{\"k\": \"a\\\"b-c-d-e\"}") << "escaped, because the body is JSON";
  EXPECT_TRUE(start.secret_body);
  EXPECT_EQ(start.masked, (std::vector<std::string>{"a\"b-c-d-e", "open-sesame"}));
  EXPECT_TRUE(start.close_at_lease_end);
}

TEST_F(DaemonHttpTest, ItsEndIsSpooledAndReportedOnce) {
  const ClaimRequest claim = Begin();
  AttemptEnded ended{HeldOf(claim), {.state = RunState::kFailed}, JobId("job")};
  ended.result.reason = reason::kHttpStatus;
  ended.result.http_status = 503;
  ended.result.retry_after = 30s;
  http_.events.push_back(AttemptOutput{HeldOf(claim), JobId("job"), {.count = 0, .last = true}});
  http_.events.push_back(ended);
  Step();
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(bus_.results[0].report.result, ended.result);
  EXPECT_EQ(bus_.logs.size(), 1u);
  ASSERT_EQ(spool_.held.size(), 1u);
  Deliver(ResultsApplied{{HeldOf(claim)}});
  StepFor(100ms);
  EXPECT_TRUE(spool_.held.empty());
}

TEST_F(DaemonHttpTest, LeasesAreRenewedAndCancelsReachIt) {
  const ClaimRequest claim = Begin();
  HeartbeatReply beat;
  beat.sent_us = clock_.Steady().time_since_epoch().count();
  beat.lease = 20s;
  beat.renewed = {HeldOf(claim)};
  Deliver(beat);
  ASSERT_EQ(http_.renewed.size(), 1u);
  EXPECT_EQ(http_.renewed[0].first, claim.token);
  EXPECT_GT(http_.renewed[0].second, clock_.Steady() + 19s);
  Deliver(CancelAttempts{{HeldOf(claim)}, CancelMode::kGraceful});
  EXPECT_EQ(http_.cancelled, std::vector<ClaimToken>{claim.token});
  EXPECT_TRUE(warden_.renewed.empty());
  EXPECT_TRUE(warden_.cancelled.empty());
}

TEST_F(DaemonHttpTest, AMissingSecretEndsItWithoutARequest) {
  Join();
  Publish({HttpTask(1)});
  const auto claims = Claims();
  ASSERT_EQ(claims.size(), 1u);
  AnswerWith(claims[0], {{"token", "open-sesame"}});
  StepFor(100ms);
  EXPECT_TRUE(http_.starts.empty());
  ASSERT_EQ(bus_.results.size(), 1u);
  EXPECT_EQ(bus_.results[0].report.result.reason, reason::kSecretMissing);
}

TEST_F(DaemonHttpTest, WithoutAWardenRequestsStillRun) {
  warden_.can_start = {ErrorCode::kUnavailable, "test"};
  Begin();
  EXPECT_EQ(http_.starts.size(), 1u);
}

}  // namespace
}  // namespace carillon::executor
