// Work that a server accepts with 202: its status is asked for until it is over.
#include <thread>

#include "tests/unit/executor/http/runner_case.h"

namespace carillon::executor::http_poll_test {
namespace {

class HttpPollTest : public RunnerCase {
 protected:
  void TearDown() override { lookup_->Release(); }
  StartHttp Submit(HttpPoll poll = {.interval_s = 0}) {
    StartHttp start = To("/jobs");
    start.method = HttpMethod::kPost;
    start.body = "{}";
    start.headers = {{"Authorization", "Bearer t"}, {"X-Plain", "p"}};
    start.poll = std::move(poll);
    return start;
  }
  // The status is over when it was asked for the `count`th time.
  void AnswerAfter(size_t count, HttpHeaders accepted, HttpResponse going, HttpResponse over) {
    server_.Answer([=, asked = size_t{0}](const HttpRequest& request) mutable {
      if (request.method == "POST") {
        return HttpResponse{.status = 202, .headers = accepted, .body = R"({"id": 17})"};
      }
      return ++asked < count ? going : over;
    });
  }
};

TEST_F(HttpPollTest, TheStatusIsAskedForUntilItIsNot202) {
  AnswerAfter(2, {{"Location", "/status/1"}}, {.status = 202, .body = "going on"},
              {.body = "done"});
  StartHttp start = Submit();
  start.expect.contains = "done";
  const AttemptResult result = Run(std::move(start));
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_EQ(result.http_status, 200);
  EXPECT_EQ(result.output, "done");
  const auto seen = server_.Seen();
  ASSERT_EQ(seen.size(), 3u);
  for (const size_t question : {1, 2}) {
    EXPECT_EQ(seen[question].method, "GET");
    EXPECT_EQ(seen[question].target, "/status/1");
    EXPECT_EQ(seen[question].body, "");
    EXPECT_EQ(*seen[question].Header("authorization"), "Bearer t");
    EXPECT_EQ(seen[question].Header("content-type"), nullptr);
  }
  EXPECT_TRUE(Logs("* the work is accepted; its status is asked for in 0 s\n")) << log_;
  EXPECT_TRUE(Logs("* 202 going on; its status is asked for in 0 s\n")) << log_;
}

TEST_F(HttpPollTest, ValuesSayThatItIsOver) {
  AnswerAfter(2, {}, {.body = R"({"state": "running"})"}, {.body = R"({"state": "failed"})"});
  const HttpPoll poll{.url = server_.Url("/jobs/"),
                      .url_at = "/id",
                      .interval_s = 0,
                      .until = {{"/state", {std::string("succeeded"), std::string("failed")}}}};
  StartHttp start = Submit(poll);
  start.expect.json = {{"/state", std::string("succeeded")}};
  const AttemptResult result = Run(std::move(start));
  EXPECT_EQ(result.reason, reason::kHttpBody);
  EXPECT_EQ(server_.Seen().at(1).target, "/jobs/17");
  EXPECT_EQ(server_.Seen().size(), 3u);
}

TEST_F(HttpPollTest, AResponseWithoutWorkIsTheEnd) {
  server_.Answer([](const HttpRequest&) { return HttpResponse{.status = 200, .body = "{}"}; });
  EXPECT_EQ(Run(Submit()).state, RunState::kCompleted);
  server_.Answer([](const HttpRequest&) { return HttpResponse{.status = 503}; });
  EXPECT_EQ(Run(Submit()).http_status, 503);
  EXPECT_EQ(server_.Seen().size(), 1u);
  StartHttp plain = Submit();
  plain.poll.reset();
  server_.Answer([](const HttpRequest&) { return HttpResponse{.status = 202}; });
  EXPECT_EQ(Run(std::move(plain)).state, RunState::kCompleted);
}

TEST_F(HttpPollTest, WithoutAUrlItFails) {
  AnswerAfter(1, {}, {}, {});
  const AttemptResult result = Run(Submit());
  EXPECT_EQ(result.reason, reason::kHttpError);
  EXPECT_NE(result.error.find("Location"), std::string::npos) << result.error;
  EXPECT_NE(Run(Submit({.url_at = "/none", .interval_s = 0})).error.find("/none"),
            std::string::npos);
  server_.Answer([](const HttpRequest&) { return HttpResponse{.body = "<html>"}; });
  const HttpPoll poll{.url = server_.Url("/"), .interval_s = 0, .until = {{"/a", {true}}}};
  EXPECT_EQ(Run(Submit(poll)).reason, reason::kHttpBody) << "no JSON, so no end";
}

TEST_F(HttpPollTest, AFailedQuestionIsAskedAgain) {
  AnswerAfter(3, {{"Location", "/s"}}, {.status = 503}, {.body = "done"});
  EXPECT_EQ(Run(Submit()).output, "done");
  EXPECT_EQ(server_.Seen().size(), 4u);
  server_.Answer([](const HttpRequest& request) {
    if (request.method == "POST") {
      return HttpResponse{.status = 202, .headers = {{"Location", "/s"}}};
    }
    return HttpResponse{.status = 500};
  });
  const AttemptResult result = Run(Submit());
  EXPECT_EQ(result.http_status, 500);
  EXPECT_EQ(server_.Seen().size(), 2u + HttpExchange::kStatusFailuresMax) << "not for ever";
}

TEST_F(HttpPollTest, AQuestionWithoutAnAddressIsAskedAgain) {
  for (const std::string host : {"silent.test", "unknown.test"}) {
    AnswerAfter(1, {{"Location", "http://" + host + "/s"}}, {}, {});
    StartHttp start = Submit();
    start.connect_timeout = 20ms;
    const AttemptResult result = Run(std::move(start));
    EXPECT_EQ(result.reason, reason::kHttpError);
    EXPECT_NE(result.error.find(host), std::string::npos) << result.error;
    int questions = 0;
    for (size_t at = 0; (at = log_.find("> GET ", at)) != std::string::npos; ++at) ++questions;
    EXPECT_EQ(questions, 1 + HttpExchange::kStatusFailuresMax) << log_;
  }
}

TEST_F(HttpPollTest, ItAsksNoAddressThatIsDenied) {
  AnswerAfter(1, {{"Location", "http://169.254.169.254/latest"}}, {}, {});
  EXPECT_EQ(Run(Submit()).reason, reason::kHttpForbidden);
  AnswerAfter(1, {{"Location", "file:///etc/passwd"}}, {}, {});
  EXPECT_EQ(Run(Submit()).reason, reason::kHttpForbidden);
}

TEST_F(HttpPollTest, AnotherOriginGetsNoCredentials) {
  ScriptedServer other(clock_);
  AnswerAfter(1, {{"Location", other.Url("/s")}}, {}, {});
  EXPECT_EQ(Run(Submit()).output, "hello");
  ASSERT_EQ(other.Seen().size(), 1u);
  EXPECT_EQ(other.Seen()[0].Header("authorization"), nullptr);
  EXPECT_EQ(*other.Seen()[0].Header("x-plain"), "p");
}

TEST_F(HttpPollTest, RetryAfterIsHeeded) {
  AnswerAfter(1, {{"Location", "/s"}, {"Retry-After", "1"}}, {}, {.body = "done"});
  const SteadyTime begun = clock_.Steady();
  EXPECT_EQ(Run(Submit()).output, "done");
  EXPECT_GE(clock_.Steady() - begun, 1s);
}

TEST_F(HttpPollTest, TheTimeoutAndACancelEndIt) {
  AnswerAfter(100, {{"Location", "/s"}}, {.status = 202}, {});
  StartHttp start = Submit({.interval_s = 3600});
  start.timeout = 300ms;
  const AttemptResult late = Run(std::move(start));
  EXPECT_EQ(late.state, RunState::kTimedOut);
  EXPECT_EQ(late.http_status, 202);
  start = Submit({.interval_s = 3600});
  const HeldAttempt attempt = start.attempt;
  std::thread cancels([&] {
    while (server_.Seen().size() < 2) std::this_thread::yield();
    EXPECT_TRUE(runner_->Cancel(attempt, CancelMode::kGraceful).ok());
  });
  EXPECT_EQ(Run(std::move(start)).state, RunState::kCancelled);
  cancels.join();
}

}  // namespace
}  // namespace carillon::executor::http_poll_test
