#include "executor/http/response_judge.h"

#include <gtest/gtest.h>

#include "common/domain/job/retry.h"

namespace carillon::executor::response_judge_test {
namespace {

std::string Reason(const HttpExpect& expect, const HttpAnswer& answer) {
  const AttemptResult result = JudgeAnswer(expect, answer);
  EXPECT_EQ(result.http_status, answer.status);
  EXPECT_EQ(result.state == RunState::kCompleted, result.reason.empty());
  EXPECT_EQ(result.error.empty(), result.reason.empty());
  return result.reason;
}

TEST(ResponseJudgeTest, Statuses) {
  EXPECT_EQ(Reason({}, {.status = 204}), "");
  EXPECT_EQ(Reason({}, {.status = 302}), "http_status");
  EXPECT_EQ(Reason({.status = {"404", "200-201"}}, {.status = 404}), "");
  EXPECT_EQ(Reason({.status = {"404", "200-201"}}, {.status = 202}), "http_status");
}

TEST(ResponseJudgeTest, Bodies) {
  const HttpAnswer answer{.status = 200, .body = R"({"status": "ok", "n": 3, "all": [true, 1.5]})"};
  EXPECT_EQ(Reason({.contains = "\"ok\""}, answer), "");
  EXPECT_EQ(Reason({.contains = "failed"}, answer), "http_body");
  EXPECT_EQ(Reason({.regex = "\"n\": \\d+"}, answer), "");
  EXPECT_EQ(Reason({.regex = "^ok$"}, answer), "http_body");
  EXPECT_EQ(Reason({.json = {{"/status", std::string("ok")},
                             {"/n", int64_t{3}},
                             {"/all/0", true},
                             {"/all/1", 1.5}}},
                   answer),
            "");
  EXPECT_EQ(Reason({.json = {{"/n", std::string("3")}}}, answer), "http_body");
  EXPECT_EQ(Reason({.json = {{"/all/0", int64_t{1}}}}, answer), "http_body");
  EXPECT_EQ(Reason({.json = {{"/all/x", int64_t{1}}}}, answer), "http_body");
  EXPECT_EQ(Reason({.json = {{"/none", int64_t{1}}}}, answer), "http_body");
  EXPECT_EQ(Reason({.json = {{"/a", true}}}, {.status = 200, .body = "{\"a\": tru"}), "http_body");
}

TEST(ResponseJudgeTest, NullIsAValue) {
  const HttpExpect expect{.json = {{"/error", std::nullopt}}};
  EXPECT_EQ(Reason(expect, {.status = 200, .body = R"({"error": null})"}), "");
  EXPECT_EQ(Reason(expect, {.status = 200, .body = R"({"error": "x"})"}), "http_body");
  EXPECT_EQ(Reason(expect, {.status = 200, .body = "{}"}), "http_body") << "it must stand there";
}

TEST(ResponseJudgeTest, WorkIsPendingAsThePollSays) {
  const auto pending = [](const HttpPoll& poll, int status, const char* body) {
    const auto known = IsPending(poll, {.status = status, .body = body});
    return known.ok() ? (*known ? "yes" : "no") : "error";
  };
  EXPECT_STREQ(pending({}, 202, ""), "yes");
  EXPECT_STREQ(pending({}, 200, ""), "no");
  EXPECT_STREQ(pending({}, 500, ""), "no");
  const HttpPoll until{.until = {{"/s", {std::string("done"), std::nullopt}}}};
  EXPECT_STREQ(pending(until, 200, R"({"s": "going"})"), "yes");
  EXPECT_STREQ(pending(until, 200, R"({"s": "done"})"), "no");
  EXPECT_STREQ(pending(until, 202, R"({"s": null})"), "no");
  EXPECT_STREQ(pending(until, 202, "no JSON"), "yes");
  EXPECT_STREQ(pending(until, 200, "no JSON"), "error");
  EXPECT_STREQ(pending(until, 404, "no JSON"), "no");
  const HttpAnswer answer{.status = 200, .body = R"({"a": "x", "b": 3, "c": [1.5]})"};
  EXPECT_EQ(TextAt("/a", answer), "x");
  EXPECT_EQ(TextAt("/b", answer), "3");
  EXPECT_FALSE(TextAt("/c", answer));
  EXPECT_FALSE(TextAt("/d", answer));
}

TEST(ResponseJudgeTest, ABodyThatIsNotReadToItsEnd) {
  const HttpAnswer cut{.status = 200, .body = "{\"a\": true", .whole = false};
  EXPECT_EQ(Reason({.contains = "true"}, cut), "");
  EXPECT_EQ(Reason({.contains = "later"}, cut), "http_body");
  EXPECT_EQ(Reason({.json = {{"/a", true}}}, cut), "http_body");
}

TEST(ResponseJudgeTest, RetryAfter) {
  const WallTime now = *ParseRfc3339("2026-03-01T10:00:00Z");
  EXPECT_EQ(RetryAfterOf("120", now), Duration(120s));
  EXPECT_EQ(RetryAfterOf("99999999999", now), kRetryAfterMax);
  EXPECT_EQ(RetryAfterOf("Sun, 01 Mar 2026 10:00:30 GMT", now), Duration(30s));
  EXPECT_EQ(RetryAfterOf("Sun, 01 Mar 2026 09:00:00 GMT", now), Duration{}) << "past";
  EXPECT_FALSE(RetryAfterOf("soon", now));
  EXPECT_FALSE(RetryAfterOf("", now));
}

}  // namespace
}  // namespace carillon::executor::response_judge_test
