// A CurlHttpRunner and a server on loopback that answers as the test says.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/adapters/http/http_server.h"
#include "common/adapters/system/system_clock.h"
#include "executor/http/curl_http_runner.h"
#include "tests/unit/executor/http/held_lookup.h"

namespace carillon::executor {

class ScriptedServer final : public HttpHandler {
 public:
  using Script = std::function<HttpResponse(const HttpRequest& request)>;

  explicit ScriptedServer(const Clock& clock) {
    auto started = HttpServer::Start({}, *this, clock);
    EXPECT_TRUE(started.ok());
    listening_ = *std::move(started);
  }
  HttpResponse Handle(const HttpRequest& request) override {
    const std::lock_guard lock(mu_);
    seen_.push_back(request);
    return script_(request);
  }
  HttpResponse Overloaded(const HttpRequest&) override { return {.status = 503}; }

  void Answer(Script script) {
    const std::lock_guard lock(mu_);
    script_ = std::move(script);
    seen_.clear();
  }
  std::vector<HttpRequest> Seen() {
    const std::lock_guard lock(mu_);
    return seen_;
  }
  std::string Url(const std::string& path) const { return listening_->url() + path; }
  std::string Address() const { return "127.0.0.1:" + std::to_string(listening_->port()); }
  std::string Port() const { return std::to_string(listening_->port()); }

 private:
  std::mutex mu_;
  Script script_ = [](const HttpRequest&) { return HttpResponse{.body = "hello"}; };
  std::vector<HttpRequest> seen_;
  std::unique_ptr<HttpServer> listening_;
};

class RunnerCase : public testing::Test {
 protected:
  void SetUp() override { Make({.policy = AddressPolicy(*ParseNetworks("127.0.0.0/8"), {})}); }

  void Make(CurlHttpRunner::Options options) {
    runner_ = std::make_unique<CurlHttpRunner>(clock_, metrics_, std::move(options), lookup_);
    runner_->OnReadable([this] {
      const std::lock_guard lock(mu_);
      ++woken_;
      changed_.notify_all();
    });
  }

  StartHttp To(const std::string& url) {
    StartHttp start;
    start.attempt.key = {clock_.Wall(), ScheduleId(++made_), 0};
    start.attempt.token = {1, made_};
    start.job_id = JobId("job");
    start.url = url.starts_with('/') ? server_.Url(url) : url;
    start.timeout = 60s;
    start.lease_end = clock_.Steady() + 60s;
    return start;
  }

  // The end of the only request that was started; its log is in log_.
  AttemptResult Await() {
    log_.clear();
    std::unique_lock lock(mu_);
    while (true) {
      const int before = woken_;
      for (AttemptEvent& event : runner_->Receive(10)) {
        if (auto* output = std::get_if<AttemptOutput>(&event)) {
          NoteChunk(output->chunk);
        } else {
          EXPECT_TRUE(log_is_whole_) << "the log comes before the end";
          return std::get<AttemptEnded>(std::move(event)).result;
        }
      }
      if (!changed_.wait_for(lock, std::chrono::seconds(120), [&] { return woken_ != before; })) {
        ADD_FAILURE() << "no end";
        return {};
      }
    }
  }
  AttemptResult Run(StartHttp start) {
    next_entry_ = 1;
    log_is_whole_ = false;
    runner_->Start(std::move(start));
    return Await();
  }

  bool Logs(std::string_view text) const { return log_.find(text) != std::string::npos; }

  SystemClock clock_;
  Metrics metrics_;
  ScriptedServer server_{clock_};
  std::string log_;
  const std::shared_ptr<HeldLookup> lookup_ = std::make_shared<HeldLookup>(
      std::map<std::string, std::vector<std::string>>{{"proxy.test", {"127.0.0.1"}}});
  std::unique_ptr<CurlHttpRunner> runner_;

 private:
  void NoteChunk(const LogChunk& chunk) {
    const auto entries = DecodeEntries(chunk.entries, chunk.count);
    ASSERT_TRUE(entries.ok());
    EXPECT_FALSE(log_is_whole_);
    EXPECT_EQ(chunk.first_seq, next_entry_);
    next_entry_ += chunk.count;
    log_is_whole_ = chunk.last;
    for (const LogEntry& entry : *entries) log_ += entry.text;
  }

  std::mutex mu_;
  std::condition_variable changed_;
  int woken_ = 0;
  uint64_t made_ = 0;
  uint64_t next_entry_ = 1;
  bool log_is_whole_ = false;
};

}  // namespace carillon::executor
