// Checks that every request passes: methods, limits, traces, overload, mutated requests.
#include <condition_variable>
#include <thread>

#include "common/base/rng.h"
#include "scheduler/api/server/request_pipeline.h"
#include "tests/unit/common/adapters/http/raw_socket.h"
#include "tests/unit/scheduler/api/api_env.h"

namespace carillon::test {
namespace {

using RequestLifeTest = ApiEnv;

TEST_F(RequestLifeTest, UnknownMethodsNameTheAllowedOnes) {
  const Answer answer = Send("PATCH", "/api/jobs", "{}");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.code(), "method_not_allowed");
  EXPECT_EQ(answer.header("allow"), "GET, HEAD, POST");
  EXPECT_EQ(Send("OPTIONS", "/api/jobs/x").header("allow"), "GET, HEAD, PUT, PATCH, DELETE");
  EXPECT_EQ(Send("POST", "/api/system/config", "{}").status, 405);
}

TEST_F(RequestLifeTest, UnknownPathsAreNotFound) {
  for (const char* path :
       {"/api", "/api/", "/api/jobs/", "/api/jobs/x/y", "/api//jobs", "/x", "//api/jobs",
        "/api/jobs/../jobs/x", "/api/jobs%2Fx", "/%2e%2e/%2e%2e/etc/passwd"}) {
    EXPECT_EQ(Get(path).code(), "not_found") << path;
  }
}

TEST_F(RequestLifeTest, HeadIsGetWithoutTheBody) {
  const std::string path = "/api/jobs/" + Create().value("job_id", "");
  const Answer get = Get(path);
  const Answer head = Send("HEAD", path);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.text, "");
  EXPECT_EQ(head.header("content-length"), std::to_string(get.text.size()));
  EXPECT_EQ(head.header("etag"), get.header("etag"));
}

TEST_F(RequestLifeTest, BadUrlsAreRefused) {
  for (const char* path : {"/api/jobs/%", "/api/jobs/%2", "/api/jobs/%zz", "/api/jobs/%00",
                           "/api/jobs/%0d%0aX-Evil:1", "/api/jobs/%ff", "/api/jobs/%c0%af",
                           "/api/jobs/%ed%a0%80", "/api/jobs?q=%f8%88%80%80%80"}) {
    const Answer answer = Get(path);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_EQ(answer.code(), "bad_uri") << path;
    EXPECT_EQ(answer.header("x-evil"), "") << path;
  }
  EXPECT_EQ(Get("/api/jobs?q=" + std::string(9000, 'x')).code(), "uri_too_long");
}

TEST_F(RequestLifeTest, WhatIsNotHttpAsItShouldBeIsAnsweredBeforeAnythingElse) {
  const auto answer = [this](const std::string& head) {
    RawSocket socket(server_->port());
    socket.Send(head + "\r\n\r\n");
    return socket.ReadToEnd();
  };
  EXPECT_TRUE(answer("GET /api/jobs HTTP/1.1").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(answer("GET / HTTP/1.1\r\nHost: x\r\nHost: x").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(
      answer("POST /api/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0")
          .starts_with("HTTP/1.1 400 "));
}

TEST_F(RequestLifeTest, ABodyOverOneMebibyteIsAnswered) {
  const std::string body = JobBody({{"command", std::string(1u << 20, 'x')}}).dump();
  const Answer answer = Send("POST", "/api/jobs", body);
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.code(), "body_too_large");
  // Connection and server still work afterwards.
  EXPECT_EQ(Get("/api/jobs").status, 200);
  // A body within the limit is checked by its content.
  EXPECT_EQ(Post("/api/jobs", JobBody({{"command", std::string(1'000'000, 'x')}})).pointer(),
            "/command");
}

TEST_F(RequestLifeTest, ATextToImportMayBeLarger) {
  const json body = {{"text", std::string(2u << 20, '#')}, {"time_zone", "UTC"}};
  EXPECT_EQ(Post("/api/imports/crontab", body).pointer(), "/text") << "read: it has no entry";
  EXPECT_EQ(SendOn(client_, "POST", "/api/imports/crontab", body.dump(),
                   {{"Content-Type", "application/json"}})
                .status,
            401);
}

// The sender is unknown, so the body is refused before it is parsed. (It is not even JSON.)
TEST_F(RequestLifeTest, ABodyOverFourKibibytesNeedsAToken) {
  const std::string large(4097, '[');
  for (const char* path :
       {"/api/auth/login", "/api/auth/setup", "/api/auth/refresh", "/api/auth/logout"}) {
    for (const std::string& body : {large, std::string((1u << 20) + 1, '[')}) {
      const Answer answer =
          SendOn(client_, "POST", path, body, {{"Content-Type", "application/json"}});
      EXPECT_EQ(answer.status, 413) << path;
      EXPECT_EQ(answer.code(), "body_too_large") << path;
    }
  }
  const json longest = {{"name", std::string(256, 'n')}, {"password", std::string(256, 'p')}};
  EXPECT_EQ(SendOn(client_, "POST", "/api/auth/login", longest.dump(),
                   {{"Content-Type", "application/json"}})
                .status,
            401);
}

TEST_F(RequestLifeTest, BodiesOfVeryManyValuesAreRefused) {
  json many = json::array();
  for (int i = 0; i < 60'000; ++i) many.push_back(json::array());
  for (const char* path : {"/api/jobs", "/api/apply", "/api/bulk"}) {
    const Answer answer = Post(path, {{"name", many}});
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_NE(answer.text.find("50000 values"), std::string::npos) << answer.text;
  }
}

TEST_F(RequestLifeTest, ANulIsRefusedWhereItStands) {
  const json nul = std::string("a\0b", 3);
  EXPECT_EQ(Post("/api/jobs", JobBody({{"command", nul}})).pointer(), "/command");
  EXPECT_EQ(Post("/api/jobs", JobBody({{"env", {{"A/B", nul}}}})).pointer(), "/env/A~1B");
  EXPECT_EQ(Post("/api/jobs", JobBody({{"schedules", {1, {{"x", nul}}}}})).pointer(),
            "/schedules/1/x");
  EXPECT_EQ(Post("/api/jobs", JobBody({{"env", {{std::string("N\0", 2), "v"}}}})).pointer(),
            std::string("/env/N\0", 7));
}

TEST_F(RequestLifeTest, QueryParametersOfWritesAreRefused) {
  EXPECT_EQ(Post("/api/jobs?dry_run=true", JobBody()).pointer(), "?dry_run");
  EXPECT_EQ(Get("/api/jobs").body()["items"].size(), 0u);
}

TEST_F(RequestLifeTest, TheTraceIdIsTheCallersOrNew) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const Answer traced =
      Send("GET", "/api/jobs", "", {{"traceparent", "00-" + trace + "-00f067aa0ba902b7-01"}});
  EXPECT_EQ(traced.header("x-trace-id"), trace);
  for (const std::string& bad :
       {std::string("00-zz-x-01"), "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01"}) {
    const std::string made =
        Send("GET", "/api/jobs", "", {{"traceparent", bad}}).header("x-trace-id");
    EXPECT_EQ(made.size(), 32u);
    EXPECT_NE(made, std::string(32, '0'));
  }
  EXPECT_NE(Get("/api/jobs").header("x-trace-id"), Get("/api/jobs").header("x-trace-id"));
}

TEST_F(RequestLifeTest, AStoreThatIsAwayIs503WithoutItsSecrets) {
  faults_.plan.Arm("ListJobs", Fault::kUnavailable);
  const Answer away = Get("/api/jobs");
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(away.code(), "unavailable");
  EXPECT_EQ(away.header("retry-after"), "1");
  EXPECT_EQ(away.text.find("secret"), std::string::npos);
  faults_.plan.Arm("ListJobs", Fault::kTimeoutBefore);
  EXPECT_EQ(Get("/api/jobs").status, 504);
  EXPECT_EQ(Get("/api/jobs").status, 200);
}

TEST_F(RequestLifeTest, AFullQueueIsAnswered503AtOnce) {
  std::mutex mu;
  std::condition_variable changed;
  bool open = false;
  int inside = 0;
  faults_.plan.OnCall([&](const std::string& name) {
    if (name != "ListJobs") return;
    std::unique_lock lock(mu);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
  });
  const std::string request =
      "GET /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token_ + "\r\n\r\n";
  constexpr size_t kWorkers = 8;
  constexpr size_t kQueued = 256;
  std::vector<std::unique_ptr<RawSocket>> held;
  const auto hold = [&] {
    held.push_back(std::make_unique<RawSocket>(server_->port()));
    ASSERT_TRUE(held.back()->Send(request));
  };
  for (size_t i = 0; i < kWorkers; ++i) hold();
  {
    std::unique_lock lock(mu);
    ASSERT_TRUE(changed.wait_for(lock, 120s, [&] { return inside == kWorkers; }));
  }
  // One request more than the queue can hold: only the last one gets an answer, a refusal.
  for (size_t i = 0; i < kQueued + 1; ++i) hold();
  RawSocket* const refused = FirstReadable(held);
  ASSERT_NE(refused, nullptr);
  const std::string answer = refused->ReadAnswer();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_NE(answer.find("Retry-After: 1"), std::string::npos);
  EXPECT_NE(answer.find("\"overloaded\""), std::string::npos);
  {
    const std::lock_guard lock(mu);
    open = true;
  }
  changed.notify_all();
  server_->Stop();  // no worker uses this scope any more
}

TEST_F(RequestLifeTest, RequestsAreCountedByRouteAndCode) {
  Create();
  Get("/api/nothing");
  EXPECT_EQ(metrics_.counter("carillon_http_requests_total", "201").value(), 1u);
  EXPECT_EQ(metrics_.counter("carillon_http_requests_total", "404").value(), 1u);
  const auto seen = metrics_
                        .histogram("carillon_http_request_duration_seconds",
                                   LabelValues({"/api/jobs", "POST", "201"}))
                        .Read();
  EXPECT_EQ(seen.cumulative.back(), 1u);
  Send("PUT", "/api/jobs", "{}");
  EXPECT_EQ(metrics_
                .histogram("carillon_http_request_duration_seconds",
                           LabelValues({"unmatched", "other", "405"}))
                .Read()
                .cumulative.back(),
            1u);
}

// Mutated requests get an answer below 500 or a closed connection. They must not crash the server
// or change the protected job. The seed is fixed, so a failure can be repeated.
TEST_F(RequestLifeTest, MutatedRequestsNeverEndInAServerError) {
  const std::string job_id = Create({{"job_id", "victim"}}).value("job_id", "");
  const std::string body = JobBody().dump();
  const std::string head = " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token_ + "\r\n";
  const auto with_body = [&](const std::string& text) {
    return "Content-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) +
           "\r\n\r\n" + text;
  };
  const std::vector<std::string> seeds = {
      "GET /api/jobs?page_size=5&status=ENABLED&q=n" + head + "\r\n",
      "POST /api/jobs" + head + "Idempotency-Key: k1\r\n" + with_body(body),
      "PUT /api/jobs/victim" + head + "If-Match: \"v1\"\r\n" + with_body(body),
      "PATCH /api/jobs/victim" + head + "If-Match: \"v1\"\r\n" + with_body(R"({"priority":3})"),
      "POST /api/jobs/victim/execute" + head + with_body(R"({"parameters":{"a":1}})"),
      "GET /api/runs?state=FAILED&since=2026-03-01T00:00:00Z" + head + "\r\n",
      "POST /api/schedules/preview" + head +
          with_body(R"({"cron_expression":"0 3 * * 1-5","time_zone":"Europe/Paris","n":3})"),
  };
  Rng rng(20260301);
  for (int round = 0; round < 1500; ++round) {
    std::string request = seeds[rng.Below(seeds.size())];
    const size_t credential = request.find(token_);
    for (uint64_t change = 1 + rng.Below(4); change > 0; --change) {
      const size_t at = rng.Below(request.size());
      // A request with a mutated token would only get 401.
      if (at >= credential && at < credential + token_.size() && rng.Chance(0.95)) continue;
      const auto byte = static_cast<char>(rng.Below(256));
      switch (rng.Below(3)) {
        case 0: request[at] = byte; break;
        case 1: request.insert(at, 1, byte); break;
        default: request.erase(at, 1);
      }
    }
    RawSocket socket(server_->port());
    ASSERT_TRUE(socket.connected());
    socket.Send(request);
    socket.HalfClose();
    const std::string answer = socket.ReadUntil("\r\n");
    EXPECT_FALSE(answer.starts_with("HTTP/1.1 5"))
        << "round " << round << ": " << request << answer;
  }
  EXPECT_EQ(Get("/api/jobs/victim").status, 200);
}

}  // namespace
}  // namespace carillon::test
