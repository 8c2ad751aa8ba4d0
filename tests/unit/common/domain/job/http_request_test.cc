// Jobs of type http: their fields, their rendering, and which failures are retried.
#include "common/domain/job/http_request.h"

#include <gtest/gtest.h>

#include "common/domain/job/job.h"
#include "common/domain/job/job_types.h"
#include "common/domain/run/retry_conditions.h"
#include "common/domain/template/command_parameters.h"
#include "common/domain/template/http_template.h"

namespace carillon::http_request_test {
namespace {

JobDefinition Request(HttpDefinition http = {.url = "https://billing.example/close"}) {
  JobDefinition job{.name = "close", .type = JobType::kHttp};
  job.http = std::move(http);
  return job;
}

std::string Pointer(const JobDefinition& job) {
  const Status valid = ValidateJob(job);
  return valid.ok() ? "" : valid.error().pointer;
}
std::string Pointer(HttpDefinition http) { return Pointer(Request(std::move(http))); }

Result<HttpCall> Rendered(HttpDefinition http, Parameters parameters = {}) {
  const AttemptFacts facts{.job_id = JobId("close"), .parameters = std::move(parameters)};
  return RenderHttp(http, facts);
}

std::string PlainText(const SecretText& pieces) {
  std::string text;
  for (const SecretPiece& piece : pieces) {
    text += piece.secret.empty() ? piece.text : "<" + piece.secret + ">";
  }
  return text;
}

TEST(HttpRequestTest, NeedsTheFeatureAndNoProcess) {
  EXPECT_EQ(Pointer(Request()), "");
  EXPECT_EQ(NeedsOf(Request()), Features{Feature::kHttp});
  EXPECT_FALSE(StartsProcess(JobType::kHttp));
  JobDefinition job = Request();
  job.http->headers = {{"Authorization", "Bearer {{secrets.TOKEN}}"}};
  EXPECT_EQ(NeedsOf(job), (Features{Feature::kHttp, Feature::kSecrets}));
  EXPECT_EQ(SecretsOf(job).at("TOKEN"), "Authorization");
}

TEST(HttpRequestTest, MistakesNameTheirPlace) {
  EXPECT_EQ(Pointer(HttpDefinition{}), "/http/url");
  EXPECT_EQ(Pointer({.url = "ftp://a/"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "{{params.url}}"}), "/http/url") << "the scheme must stand there";
  EXPECT_EQ(Pointer({.url = "http:///x"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://user:word@a/"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a/b\nc"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a/?{{secrets.KEY}}"}), "/http/url") << "URLs are logged";
  EXPECT_EQ(Pointer({.url = "http://a/" + std::string(kHttpUrlBytesMax, 'x')}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"A b", "c"}}}), "/http/headers/A b");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"Host", "b/c"}}}), "/http/headers/Host");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"X", "a\r\nY: b"}}}), "/http/headers/X");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"X-a", "1"}, {"x-A", "2"}}}),
            "/http/headers/x-A");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"X", "{{nothing}}"}}}), "/http/headers/X");
  EXPECT_EQ(Pointer({.url = "http://a", .body = std::string(kHttpBodyBytesMax + 1, 'x')}),
            "/http/body");
  EXPECT_EQ(Pointer({.url = "http://a", .body = "{{env.A}}"}), "/http/body");
  EXPECT_EQ(Pointer({.url = "http://a", .follow = 6}), "/http/follow");
  EXPECT_EQ(Pointer({.url = "http://a", .connect_timeout_s = 0}), "/http/connect_timeout");
}

TEST(HttpRequestTest, AUrlThatCannotBeSentIsRefusedWhenItIsWritten) {
  EXPECT_EQ(Pointer({.url = "http://a b/"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a:99999/"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a b/{{params.x}}"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a/?q=" + std::string(kHttpUrlBytesMax / 2, ' ')}), "/http/url")
      << "too long once it is encoded";
  EXPECT_EQ(Pointer({.url = "http://a b{{fire_time}}/"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://a:99999{{attempt}}/"}), "/http/url");
  EXPECT_EQ(Pointer({.url = "http://{{job_id}}.a:{{attempt}}/{{ run_id }}"}), "");
  EXPECT_EQ(Pointer({.url = "http://[{{job_id}}]/"}), "");
  EXPECT_EQ(Pointer({.url = "http://a/b c?x=你好"}), "");
  EXPECT_EQ(Pointer({.url = "http://例子.测试/"}), "");
}

TEST(HttpRequestTest, UrlsAreRenderedAsTheyAreSent) {
  EXPECT_EQ(Rendered({.url = "http://例子.测试:81/a b?x=你&y={{{{z}}"}).value().url,
            "http://xn--fsqu00a.xn--0zwm56d:81/a%20b?x=%E4%BD%A0&y=%7B%7Bz%7D%7D");
  const auto port = Rendered({.url = "http://a:{{params.port}}/"}, {{"port", int64_t{99'999}}});
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.error().message.find("port"), std::string::npos);
}

TEST(HttpRequestTest, AHostOfItsOwnIsAHost) {
  const auto render = [](const char* host, const char* value) {
    return Rendered({.url = "http://a/", .headers = {{"host", host}}}, {{"h", std::string(value)}});
  };
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"Host", "b.example:81"}}}), "");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"host", "例子.测试"}}}), "/http/headers/host");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"host", ""}}}), "/http/headers/host");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"host", "{{secrets.H}}"}}}),
            "/http/headers/host");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"host", "{{job_id}}/x"}}}),
            "/http/headers/host");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"host", "{{job_id}}.a:{{attempt}}"}}}), "");
  EXPECT_EQ(PlainText(render("{{params.h}}.example", "b").value().headers.at("host")), "b.example");
  EXPECT_FALSE(render("{{params.h}}", "b/c").ok());
  EXPECT_FALSE(render("{{params.h}}", "").ok());
  EXPECT_FALSE(render("{{secrets.H}}", "").ok());
}

// Such a part of a path is removed by whoever sends the URL, with the part before it.
TEST(HttpRequestTest, AValueDoesNotLeaveItsPlaceInThePath) {
  const auto renders = [](const std::string& url, const std::string& value) {
    return Rendered({.url = url}, {{"day", value}}).ok();
  };
  for (const char* value : {"..", "."}) {
    EXPECT_FALSE(renders("http://h/days/{{params.day}}/close", value));
    EXPECT_FALSE(renders("http://h/days/{{params.day}}", value));
    EXPECT_TRUE(renders("http://h/days/x{{params.day}}/close", value));
    EXPECT_TRUE(renders("http://h/days?day={{params.day}}", value));
    EXPECT_TRUE(renders("http://h/a/../{{params.day}}", value)) << "its author does so, too";
  }
  EXPECT_FALSE(renders("http://h/days/.{{params.day}}/close", "."));
  EXPECT_TRUE(renders("http://h/days/{{params.day}}/close", "../..")) << "percent-encoded";
  EXPECT_FALSE(
      Rendered({.url = "http://h", .poll = HttpPoll{.url = "http://h/{{params.day}}/status"}},
               {{"day", ".."}})
          .ok());
}

// Braces that stand for themselves are no placeholder, of which only a run could say what it is.
TEST(HttpRequestTest, LiteralBracesAreCheckedAsTheyAreSent) {
  for (const std::string url : {"http://a{{{{b", "http://a{{{{b/x", "http://a{{{{[b",
                                "http://{{{{8", "http://a/{{{{", "http://a/{{{{b}}}}"}) {
    const bool sent = Rendered({.url = url}).ok();
    EXPECT_EQ(Pointer({.url = url}), sent ? "" : "/http/url") << url;
    EXPECT_EQ(sent, url.starts_with("http://a/")) << url;
  }
  const std::string longer = "http://a/{{{{" + std::string(kHttpUrlBytesMax / 2, ' ');
  EXPECT_FALSE(Rendered({.url = longer}).ok());
  EXPECT_EQ(Pointer({.url = longer}), "/http/url") << "too long once it is percent-encoded";
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"host", "a{{{{b"}}}), "/http/headers/host");
  EXPECT_EQ(Pointer({.url = "http://a", .client_certificate = "{{{{secrets.PEM}}"}),
            "/http/client_certificate");
}

TEST(HttpRequestTest, MistakesOfPollsAndCertificates) {
  const auto poll = [](HttpPoll value) { return Pointer({.url = "http://a", .poll = value}); };
  EXPECT_EQ(poll({}), "");
  EXPECT_EQ(poll({.url = "http://a/{{secrets.X}}"}), "/http/poll/url");
  EXPECT_EQ(poll({.url = "/status"}), "/http/poll/url");
  EXPECT_EQ(poll({.url = "http://a b/"}), "/http/poll/url");
  EXPECT_EQ(poll({.url_at = "id"}), "/http/poll/url_at");
  EXPECT_EQ(poll({.interval_s = 0}), "/http/poll/interval");
  EXPECT_EQ(poll({.until = {{"s", {int64_t{1}}}}}), "/http/poll/until/s");
  EXPECT_EQ(poll({.until = {{"/s", {}}}}), "/http/poll/until/~1s");
  EXPECT_EQ(Pointer({.url = "http://a", .client_certificate = "-----BEGIN CERTIFICATE-----"}),
            "/http/client_certificate")
      << "with the key it would be stored in clear";
  EXPECT_EQ(Pointer({.url = "http://a", .client_certificate = "{{ secrets.PEM }}"}), "");
  EXPECT_EQ(Pointer({.url = "http://a", .headers = {{"Host", "{{ secrets.HOST }}"}}}),
            "/http/headers/Host");
  EXPECT_EQ(Pointer({.url = "http://a", .client_certificate = "{{params.pem}}"}),
            "/http/client_certificate");
  EXPECT_EQ(Pointer({.method = HttpMethod::kHead,
                     .url = "http://a",
                     .poll = HttpPoll{.url = "http://a/", .url_at = "/id"}}),
            "/http/poll/url_at");
  JobDefinition job =
      Request({.url = "https://a", .client_certificate = "{{secrets.CERT}}\n{{secrets.KEY}}"});
  EXPECT_EQ(Pointer(job), "");
  EXPECT_EQ(SecretsOf(job).size(), 2u);
  EXPECT_EQ(NeedsOf(job), (Features{Feature::kHttp, Feature::kHttpExtended, Feature::kSecrets}));
}

TEST(HttpRequestTest, MistakesOfExpectations) {
  EXPECT_EQ(Pointer({.url = "http://a", .expect = {.status = {}}}), "/http/expect/status");
  EXPECT_EQ(Pointer({.url = "http://a", .expect = {.status = {"2xx", "99"}}}),
            "/http/expect/status/1");
  EXPECT_EQ(Pointer({.url = "http://a", .expect = {.regex = "(a"}}), "/http/expect/regex");
  EXPECT_EQ(Pointer({.url = "http://a", .expect = {.json = {{"status", std::string("ok")}}}}),
            "/http/expect/json/status");
  EXPECT_EQ(Pointer({.method = HttpMethod::kHead, .url = "http://a", .expect = {.contains = "ok"}}),
            "/http/expect");
}

TEST(HttpRequestTest, FieldsOfOtherTypesAreRefused) {
  JobDefinition job = Request();
  job.env = {{"A", "b"}};
  EXPECT_EQ(Pointer(job), "/env");
  job = Request();
  job.command = "true";
  EXPECT_EQ(Pointer(job), "/command");
  job = Request();
  job.http.reset();
  EXPECT_EQ(Pointer(job), "/http");
  job = Request();
  job.type = JobType::kShell;
  job.command = "true";
  EXPECT_EQ(Pointer(job), "/http");
}

TEST(HttpRequestTest, InsertedValuesStayInTheirPlace) {
  const HttpDefinition http{
      .method = HttpMethod::kPost,
      .url = "https://{{params.host}}/days/{{params.day}}?note={{params.note}}",
      .headers = {{"X-Note", "{{params.day}}"}, {"Authorization", "Bearer {{secrets.TOKEN}}"}},
      .body =
          R"({"note": "{{params.note}}", "count": {{params.count}}, "key": "{{secrets.KEY}}"})"};
  const auto call = Rendered(http, {{"host", std::string("b.example:8080")},
                                    {"day", std::string("2026/03")},
                                    {"note", std::string("a&b \"c\"\n")},
                                    {"count", int64_t{3}}});
  ASSERT_TRUE(call.ok()) << call.error().message;
  EXPECT_EQ(call->url, "https://b.example:8080/days/2026%2F03?note=a%26b%20%22c%22%0A");
  EXPECT_EQ(PlainText(call->headers.at("Authorization")), "Bearer <TOKEN>");
  EXPECT_EQ(PlainText(call->body), R"({"note": "a&b \"c\"\u000a", "count": 3, "key": "<KEY>"})");
}

TEST(HttpRequestTest, ValuesThatWouldLeaveTheirPlaceAreRefused) {
  for (const char* host : {"", "a/b", "user@a", "a?b", "a b"}) {
    EXPECT_FALSE(Rendered({.url = "http://{{params.h}}/"}, {{"h", std::string(host)}}).ok())
        << host;
  }
  EXPECT_FALSE(Rendered({.url = "http://a/", .headers = {{"X", "{{params.h}}"}}},
                        {{"h", std::string("a\r\nY: b")}})
                   .ok());
}

TEST(HttpRequestTest, BodiesAreEscapedByTheirType) {
  const Parameters parameters{{"a", std::string("x \"&=")}};
  const auto body = [&](const char* type) {
    const auto call =
        Rendered({.url = "http://a/", .headers = {{"content-type", type}}, .body = "{{params.a}}"},
                 parameters);
    return call.ok() ? PlainText(call->body) : call.error().message;
  };
  EXPECT_EQ(body("application/vnd.api+json; charset=utf-8"), "x \\\"&=");
  EXPECT_EQ(body("application/x-www-form-urlencoded"), "x%20%22%26%3D");
  EXPECT_EQ(body("text/plain"), "x \"&=");
}

TEST(HttpRequestTest, OnlyUnescapedPlacesCountAsCommands) {
  JobDefinition job = Request({.url = "http://{{params.host}}/{{params.path}}",
                               .headers = {{"X", "{{params.header}}"}},
                               .body = "{{params.body}}"});
  EXPECT_EQ(CommandParameters(job), std::set<std::string>{"host"});
  job.http->headers["Content-Type"] = "text/xml";
  EXPECT_EQ(CommandParameters(job), (std::set<std::string>{"body", "host"}));
}

TEST(HttpRequestTest, RetryConditionsNameStatuses) {
  const auto matches = [](const char* text, const AttemptResult& result) {
    const auto condition = ParseRetryCondition(text);
    return condition.ok() && condition->Matches(result);
  };
  const AttemptResult busy{
      .state = RunState::kFailed, .reason = std::string(reason::kHttpStatus), .http_status = 503};
  const AttemptResult unanswered{.state = RunState::kFailed,
                                 .reason = std::string(reason::kHttpError)};
  EXPECT_TRUE(matches("http:503", busy));
  EXPECT_TRUE(matches("http:5xx", busy));
  EXPECT_TRUE(matches("http:500-503", busy));
  EXPECT_FALSE(matches("http:400-499", busy));
  EXPECT_FALSE(matches("http:error", busy));
  EXPECT_TRUE(matches("http:error", unanswered));
  EXPECT_FALSE(matches("http:5xx", unanswered));
  for (const char* wrong :
       {"http:", "http:6xx", "http:99", "http:503-500", "http:5XX", "http:600"}) {
    EXPECT_FALSE(ParseRetryCondition(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace carillon::http_request_test
