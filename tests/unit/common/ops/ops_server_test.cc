#include "common/ops/ops_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "common/adapters/http/http_client.h"
#include "common/adapters/system/system_clock.h"

namespace carillon::test {
namespace {

class OpsServerTest : public ::testing::Test {
 protected:
  OpsServerTest() {
    auto started = ops::OpsServer::Start({.port = 0},
                                         {.metrics = metrics_, .clock = clock_, .health = health_});
    EXPECT_TRUE(started.ok());
    server_ = std::move(started).value();
  }
  ~OpsServerTest() override {
    if (hanging_.exchange(false)) go_.set_value();
  }
  // Repeats the request until the answer has this status. Returns the last answer.
  HttpResponse Await(const std::string& path, int status) {
    const SteadyTime deadline = clock_.Steady() + 120s;
    HttpResponse answer = Get(path);
    while (answer.status != status && clock_.Steady() < deadline) answer = Get(path);
    return answer;
  }
  HttpResponse Get(const std::string& path, const std::string& method = "GET") {
    return *client_.Send({.method = method, .url = server_->url() + path});
  }
  static std::string Header(const HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return {};
  }

  SystemClock clock_;
  Metrics metrics_;
  std::atomic<bool> leader_{true};
  std::atomic<bool> hanging_{false};
  std::promise<void> go_;
  const std::shared_future<void> gone_ = go_.get_future().share();
  ops::Health health_{{{.name = "store",
                        .check =
                            [this] {
                              if (hanging_) gone_.wait();
                              return Status();
                            },
                        .blocks = true},
                       {.name = "leader",
                        .check =
                            [this] {
                              return leader_ ? Status()
                                             : Status(ErrorCode::kUnavailable, "password=secret");
                            }}},
                      clock_};
  std::unique_ptr<ops::OpsServer> server_;
  HttpClient client_;
};

TEST_F(OpsServerTest, IsLiveAndReadyWithoutAToken) {
  EXPECT_EQ(Get("/livez").status, 200);
  EXPECT_EQ(Get("/readyz").body, "ok\n");
  EXPECT_EQ(Get("/healthz").status, 200);
  EXPECT_EQ(Get("/readyz?verbose").body, "[+] store ok\n[+] leader ok\nready\n");
}

TEST_F(OpsServerTest, SaysWhichCheckFailsButNotTheDriversWords) {
  leader_ = false;
  EXPECT_EQ(Get("/readyz").status, 503) << "at once: it does not block";
  EXPECT_EQ(Get("/healthz").status, 503);
  EXPECT_EQ(Get("/livez").status, 200);
  EXPECT_EQ(Get("/readyz?verbose").body,
            "[+] store ok\n[-] leader failed: unavailable\nnot ready\n");
}

TEST_F(OpsServerTest, NobodyWaitsForACheckThatHangs) {
  hanging_ = true;
  EXPECT_EQ(Await("/readyz", 503).status, 503);
  // Far more requests than workers: none of the checks returns before its request is answered.
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Get("/readyz?verbose").body, "[-] store failed: timeout\n[+] leader ok\nnot ready\n");
    EXPECT_EQ(Get("/livez").status, 200);
    EXPECT_EQ(Get("/metrics").status, 200);
  }
  hanging_ = false;
  go_.set_value();
  EXPECT_EQ(Await("/readyz", 200).body, "ok\n");
}

TEST_F(OpsServerTest, ShowsMetricsInPrometheusText) {
  metrics_.counter("carillon_runs_total", "COMPLETED").Add(3);
  metrics_.gauge("carillon_is_leader").Set(1);
  metrics_.histogram("carillon_fire_lateness_seconds").Observe(0.004);
  const HttpResponse response = Get("/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(Header(response, "content-type").starts_with("text/plain; version=0.0.4"));
  for (const char* line :
       {"# TYPE carillon_runs_total counter\n", "carillon_runs_total{state=\"COMPLETED\"} 3\n",
        "carillon_is_leader 1\n", "# TYPE carillon_fire_lateness_seconds histogram\n",
        "carillon_fire_lateness_seconds_count 1\n",
        "carillon_fire_lateness_seconds_bucket{le=\"0.005\"} 1\n",
        "carillon_fire_lateness_seconds_bucket{le=\"0.002\"} 0\n",
        "carillon_fire_lateness_seconds_bucket{le=\"+Inf\"} 1\n"}) {
    EXPECT_NE(response.body.find(line), std::string::npos) << line << "in\n" << response.body;
  }
}

TEST_F(OpsServerTest, OffersNothingElse) {
  EXPECT_EQ(Get("/api/jobs").status, 404);
  EXPECT_EQ(Get("/").status, 404);
  EXPECT_EQ(Get("/metrics/x").status, 404);
  const HttpResponse refused = Get("/metrics", "POST");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(Header(refused, "allow"), "GET, HEAD");
}

class ReadyProbeTest : public ::testing::Test {
 protected:
  SteadyTime now_{1h};
  Status answer_;
  int asked_ = 0;
  Status seen_;
  ops::ReadyProbe probe_{{.name = "store", .check = [this] {
                            ++asked_;
                            // Another reading while this check is in progress.
                            seen_ = probe_.Read(now_ + ops::ReadyProbe::kPatience + 1us);
                            return answer_;
                          }}};
};

TEST_F(ReadyProbeTest, SaysWhatTheCheckSaidLast) {
  EXPECT_EQ(probe_.Read(now_).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(probe_.Step(now_), now_ + ops::ReadyProbe::kEvery);
  EXPECT_TRUE(probe_.Read(now_).ok());
  answer_ = {ErrorCode::kFenced, "over"};
  probe_.Step(now_);
  EXPECT_EQ(probe_.Read(now_ + 1h).code(), ErrorCode::kFenced);
  EXPECT_EQ(asked_, 2);
}

TEST_F(ReadyProbeTest, AnOpenQuestionIsATimeoutAfterKPatience) {
  probe_.Step(now_);
  EXPECT_EQ(seen_.code(), ErrorCode::kTimeout);
}

TEST_F(OpsServerTest, StaysOnLoopback) {
  EXPECT_EQ(ops::OpsServer::Start({.address = "0.0.0.0", .port = 0},
                                  {.metrics = metrics_, .clock = clock_, .health = health_})
                .code(),
            ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::test
