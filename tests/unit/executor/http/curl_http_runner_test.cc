// Requests over real sockets: results, what the server sees, and every way in which a request
// is closed.
#include "executor/http/curl_http_runner.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "common/adapters/http/http_server.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/lease.h"
#include "executor/http/own_address.h"
#include "tests/unit/executor/http/held_lookup.h"

namespace carillon::executor::curl_http_runner_test {
namespace {

constexpr auto kPatience = std::chrono::seconds(120);

// Answers by the path, and remembers what it got.
class Server final : public HttpHandler {
 public:
  HttpResponse Handle(const HttpRequest& request) override {
    {
      std::lock_guard lock(mu_);
      seen_.push_back(request);
    }
    const std::string& path = request.target;
    if (path == "/busy") return {.status = 503, .headers = {{"Retry-After", "7"}}, .body = "later"};
    if (path == "/away") return {.status = 302, .headers = {{"Location", target}}};
    if (path == "/round") return {.status = 302, .headers = {{"Location", "/round"}}};
    if (path == "/long") return {.body = std::string(300'000, 'x')};
    if (path == "/echo")
      return {.headers = {{"X-Echo", *request.Header("x-key")}}, .body = request.body};
    return {.body = "hello"};
  }
  HttpResponse Overloaded(const HttpRequest&) override { return {.status = 503}; }

  std::vector<HttpRequest> Seen() {
    std::lock_guard lock(mu_);
    return seen_;
  }
  std::string target;  // of the redirect; set before the first request

 private:
  std::mutex mu_;
  std::vector<HttpRequest> seen_;
};

// Accepts connections and never answers.
class SilentServer {
 public:
  SilentServer() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
  }
  ~SilentServer() { close(fd_); }
  // Returns the connection once a client has sent something.
  int Take() {
    const int taken = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    char byte = 0;
    EXPECT_EQ(recv(taken, &byte, 1, 0), 1);
    return taken;
  }
  // Reads until the client closes.
  static void AwaitClosed(int connection) {
    char buffer[1024];
    while (recv(connection, buffer, sizeof buffer, 0) > 0) continue;
    close(connection);
  }
  const std::string& url() const { return url_; }

 private:
  const int fd_;
  std::string url_;
};

class CurlHttpRunnerTest : public testing::Test {
 protected:
  void SetUp() override { Make(AddressPolicy(*ParseNetworks("127.0.0.0/8"), {})); }

  void TearDown() override { lookup_->Release(); }

  void Make(AddressPolicy policy) {
    runner_ = std::make_unique<CurlHttpRunner>(
        clock_, metrics_, CurlHttpRunner::Options{.policy = std::move(policy)}, lookup_);
    runner_->OnReadable([this] {
      std::lock_guard lock(mu_);
      ++woken_;
      changed_.notify_all();
    });
    auto started = HttpServer::Start({}, server_, clock_);
    ASSERT_TRUE(started.ok());
    listening_ = *std::move(started);
  }

  StartHttp To(const std::string& url) {
    StartHttp start;
    start.attempt.key = {clock_.Wall(), ScheduleId(++made_), 0};
    start.attempt.token = {1, made_};
    start.job_id = JobId("job");
    start.url = url.starts_with('/') ? listening_->url() + url : url;
    start.timeout = 60s;
    start.lease_end = clock_.Steady() + 60s;
    return start;
  }

  // The end of the only request that was started; its log is in log_.
  AttemptResult Await() {
    std::unique_lock lock(mu_);
    while (true) {
      for (AttemptEvent& event : runner_->Receive(10)) {
        if (auto* output = std::get_if<AttemptOutput>(&event)) {
          const auto entries = DecodeEntries(output->chunk.entries, output->chunk.count);
          EXPECT_TRUE(entries.ok());
          EXPECT_TRUE(output->chunk.last);
          for (const LogEntry& entry : *entries) log_ += entry.text;
        } else {
          return std::get<AttemptEnded>(std::move(event)).result;
        }
      }
      const int before = woken_;
      if (!changed_.wait_for(lock, kPatience, [&] { return woken_ != before; })) {
        ADD_FAILURE() << "no end";
        return {};
      }
    }
  }
  AttemptResult Run(StartHttp start) {
    runner_->Start(std::move(start));
    return Await();
  }

  SystemClock clock_;
  Metrics metrics_;
  Server server_;
  std::unique_ptr<HttpServer> listening_;
  std::mutex mu_;
  std::condition_variable changed_;
  int woken_ = 0;
  const std::shared_ptr<HeldLookup> lookup_ = std::make_shared<HeldLookup>(
      std::map<std::string, std::vector<std::string>>{{"server.test", {"127.0.0.1"}},
                                                      {"localhost", {"127.0.0.1"}},
                                                      {"both.test", {"2001:db8::1", "127.0.0.1"}},
                                                      {"private.test", {"169.254.169.254"}}});
  std::unique_ptr<CurlHttpRunner> runner_;
  uint64_t made_ = 0;
  std::string log_;
};

TEST_F(CurlHttpRunnerTest, AResponseIsTheResult) {
  const AttemptResult result = Run(To("/hello"));
  EXPECT_EQ(result.state, RunState::kCompleted) << result.error;
  EXPECT_EQ(result.http_status, 200);
  EXPECT_EQ(result.output, "hello");
  EXPECT_FALSE(result.output_truncated);
  EXPECT_FALSE(result.exit_code);
  EXPECT_GE(result.ended, result.started);
  EXPECT_NE(log_.find("> GET " + listening_->url() + "/hello\n"), std::string::npos) << log_;
  EXPECT_NE(log_.find("< 200\n"), std::string::npos) << log_;
  EXPECT_NE(log_.find("first byte"), std::string::npos) << log_;
  EXPECT_TRUE(log_.ends_with("hello\n")) << log_;
}

TEST_F(CurlHttpRunnerTest, TheServerGetsTheRequest) {
  StartHttp start = To("/echo");
  start.method = HttpMethod::kPut;
  start.headers = {{"X-Key", "open-sesame"}, {"X-Empty", ""}};
  start.body = R"({"key": "open-sesame"})";
  start.masked = {"open-sesame"};
  const std::string run_id = EncodeRunId(start.attempt.key);
  const AttemptResult result = Run(std::move(start));
  ASSERT_EQ(server_.Seen().size(), 1u);
  const HttpRequest seen = server_.Seen()[0];
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.body, R"({"key": "open-sesame"})");
  EXPECT_EQ(*seen.Header("x-key"), "open-sesame");
  EXPECT_EQ(*seen.Header("x-empty"), "");
  EXPECT_EQ(*seen.Header("content-type"), "application/json");
  EXPECT_EQ(*seen.Header("x-carillon-run-id"), run_id);
  EXPECT_EQ(*seen.Header("x-carillon-attempt"), "1");
  EXPECT_EQ(result.output, R"({"key": "***"})") << "the server sent it back";
  EXPECT_EQ(log_.find("open-sesame"), std::string::npos) << log_;
  EXPECT_NE(log_.find("x-echo: ***"), std::string::npos) << log_;
}

TEST_F(CurlHttpRunnerTest, AnUnexpectedStatusFailsAndMayAskToWait) {
  const AttemptResult result = Run(To("/busy"));
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kHttpStatus);
  EXPECT_EQ(result.http_status, 503);
  EXPECT_EQ(result.retry_after, Duration(7s));
  EXPECT_EQ(result.output, "later");
}

TEST_F(CurlHttpRunnerTest, LongResponsesAreCut) {
  const AttemptResult result = Run(To("/long"));
  EXPECT_EQ(result.output.size(), 64u << 10);
  EXPECT_TRUE(result.output_truncated);
  StartHttp start = To("/long");
  start.expect.regex = "^x{100}";
  EXPECT_EQ(Run(std::move(start)).state, RunState::kCompleted);
}

TEST_F(CurlHttpRunnerTest, RedirectsAreFollowedAsFarAsAllowed) {
  server_.target = "/hello";
  StartHttp start = To("/away");
  start.follow = 1;
  EXPECT_EQ(Run(std::move(start)).output, "hello");
  const AttemptResult kept = Run(To("/away"));
  EXPECT_EQ(kept.reason, reason::kHttpStatus);
  EXPECT_EQ(kept.http_status, 302);
  start = To("/round");
  start.follow = 5;
  EXPECT_EQ(Run(std::move(start)).http_status, 302);
  EXPECT_EQ(server_.Seen().size(), 3u + 6u);
}

TEST_F(CurlHttpRunnerTest, ForbiddenAddressesGetNoRequest) {
  Make(AddressPolicy());
  const std::string by_name = "http://localhost:" + std::to_string(listening_->port());
  for (const char* url : {"/hello", by_name.c_str(), "http://169.254.169.254/latest/meta-data/",
                          "http://[::ffff:127.0.0.1]/", "http://0/", "http://2130706433/"}) {
    const AttemptResult result = Run(To(url));
    EXPECT_EQ(result.reason, reason::kHttpForbidden) << url << ": " << result.error;
  }
  EXPECT_TRUE(server_.Seen().empty());
}

// 127.0.0.0/8 is allowed here, an address of an interface is not.
TEST_F(CurlHttpRunnerTest, TheHostsOwnAddressesGetNoRequest) {
  ifaddrs* all = nullptr;
  ASSERT_EQ(getifaddrs(&all), 0);
  size_t tried = 0;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    if ((each->ifa_flags & IFF_LOOPBACK) != 0 || (each->ifa_flags & IFF_UP) == 0) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto& address = reinterpret_cast<const sockaddr_in&>(*each->ifa_addr).sin_addr;
    ASSERT_NE(inet_ntop(AF_INET, &address, text.data(), text.size()), nullptr);
    const AttemptResult result = Run(To(fmt::format("http://{}:9/", text.data())));
    EXPECT_EQ(result.reason, reason::kHttpForbidden) << text.data() << ": " << result.error;
    ++tried;
  }
  freeifaddrs(all);
  // A host without a network has loopback only, which is an address of its own, too.
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_TRUE(IsOwnAddress(reinterpret_cast<const sockaddr&>(loopback), sizeof loopback)) << tried;
  loopback.sin_addr.s_addr = inet_addr("192.0.2.77");
  EXPECT_FALSE(IsOwnAddress(reinterpret_cast<const sockaddr&>(loopback), sizeof loopback));
}

TEST_F(CurlHttpRunnerTest, ARedirectToAForbiddenAddressIsNotFollowed) {
  server_.target = "http://169.254.169.254/latest/meta-data/";
  StartHttp start = To("/away");
  start.follow = 5;
  const AttemptResult result = Run(std::move(start));
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kHttpForbidden) << result.error;
}

TEST_F(CurlHttpRunnerTest, NoResponse) {
  std::string nobody;
  { nobody = SilentServer().url(); }
  const AttemptResult refused = Run(To(nobody));
  EXPECT_EQ(refused.reason, reason::kHttpError) << refused.error;
  EXPECT_FALSE(refused.http_status);
  EXPECT_EQ(Run(To("http://no such host/")).reason, reason::kHttpError);
  StartHttp start = To("/hello");
  start.headers = {{"X-Key", "a\r\nX-Other: b"}};
  EXPECT_EQ(Run(std::move(start)).reason, reason::kHttpError);
  EXPECT_TRUE(server_.Seen().empty());
}

TEST_F(CurlHttpRunnerTest, NamesAreLookedUp) {
  const auto at = [&](const std::string& host, const std::string& path) {
    return To(fmt::format("http://{}:{}{}", host, listening_->port(), path));
  };
  EXPECT_EQ(Run(at("server.test", "/hello")).output, "hello");
  EXPECT_EQ(Run(at("server.test", "/hello")).output, "hello");
  EXPECT_EQ(lookup_->AskedFor("server.test"), 1u);
  EXPECT_EQ(Run(at("private.test", "/hello")).reason, reason::kHttpForbidden);
  const AttemptResult nowhere = Run(at("nowhere.test", "/hello"));
  EXPECT_EQ(nowhere.reason, reason::kHttpError);
  EXPECT_NE(nowhere.error.find("nowhere.test"), std::string::npos) << nowhere.error;
  server_.target = fmt::format("http://server.test:{}/hello", listening_->port());
  StartHttp redirected = To("/away");
  redirected.follow = 1;
  EXPECT_EQ(Run(std::move(redirected)).output, "hello") << "the name of a redirect";
}

// A name server that does not answer holds the resolver for up to a minute.
TEST_F(CurlHttpRunnerTest, ANameWithoutAnAnswerDelaysNobody) {
  StartHttp patient = To("http://silent.test/");
  patient.connect_timeout = 60s;
  runner_->Start(patient);
  lookup_->AwaitAsked(1);
  EXPECT_EQ(Run(To("/hello")).output, "hello");
  SilentServer silent;
  StartHttp slow = To(silent.url());
  slow.timeout = 100ms;
  EXPECT_EQ(Run(std::move(slow)).state, RunState::kTimedOut);
  StartHttp unnamed = To("http://silent.test/");
  unnamed.connect_timeout = 100ms;
  const AttemptResult result = Run(std::move(unnamed));
  EXPECT_EQ(result.state, RunState::kFailed);
  EXPECT_EQ(result.reason, reason::kHttpError);
  EXPECT_NE(result.error.find("silent.test"), std::string::npos) << result.error;
  StartHttp leased = To("http://silent.test/");
  leased.lease_end = clock_.Steady() + kLeaseMargin + 100ms;
  EXPECT_EQ(Run(std::move(leased)).state, RunState::kLost);
  const StartHttp cancelled = To("http://silent.test/");
  runner_->Start(cancelled);
  EXPECT_TRUE(runner_->Cancel(cancelled.attempt, CancelMode::kGraceful).ok());
  EXPECT_EQ(Await().state, RunState::kCancelled);
  EXPECT_EQ(lookup_->AskedFor("silent.test"), 1u);
  runner_.reset();  // would hang
}

TEST_F(CurlHttpRunnerTest, AStatusThatIsNoneIsNoResponse) {
  SilentServer server;
  runner_->Start(To(server.url()));
  const int connection = server.Take();
  const std::string_view answer = "HTTP/1.1 700 Strange\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(send(connection, answer.data(), answer.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(answer.size()));
  const AttemptResult result = Await();
  EXPECT_EQ(result.reason, reason::kHttpError);
  EXPECT_FALSE(result.http_status);
  close(connection);
}

TEST_F(CurlHttpRunnerTest, ACancelClosesTheConnection) {
  SilentServer silent;
  const StartHttp start = To(silent.url());
  runner_->Start(start);
  const int connection = silent.Take();
  HeldAttempt other = start.attempt;
  other.token = {9, 9};
  EXPECT_TRUE(runner_->Cancel(other, CancelMode::kGraceful).ok());  // of another claim
  EXPECT_TRUE(runner_->Cancel(start.attempt, CancelMode::kGraceful).ok());
  SilentServer::AwaitClosed(connection);
  const AttemptResult result = Await();
  EXPECT_EQ(result.state, RunState::kCancelled);
  EXPECT_EQ(result.reason, reason::kCancelRequested);
}

TEST_F(CurlHttpRunnerTest, ItsTimeoutClosesIt) {
  SilentServer silent;
  StartHttp start = To(silent.url());
  start.timeout = 100ms;
  const AttemptResult result = Run(std::move(start));
  EXPECT_EQ(result.state, RunState::kTimedOut) << result.error;
  EXPECT_EQ(result.reason, reason::kTimeout);
}

TEST_F(CurlHttpRunnerTest, TheEndOfItsLeaseClosesIt) {
  SilentServer silent;
  StartHttp start = To(silent.url());
  start.lease_end = clock_.Steady() + kLeaseMargin + 200ms;
  runner_->Start(start);
  const int connection = silent.Take();
  SilentServer::AwaitClosed(connection);
  EXPECT_GE(clock_.Steady(), start.lease_end - kLeaseMargin);
  EXPECT_LT(clock_.Steady(), start.lease_end);
  const AttemptResult result = Await();
  EXPECT_EQ(result.state, RunState::kLost);
  EXPECT_EQ(result.reason, reason::kLeaseEnded);
}

TEST_F(CurlHttpRunnerTest, ARenewedLeaseAndOneThatIsNotEnforcedKeepItOpen) {
  SilentServer silent;
  StartHttp renewed = To(silent.url());
  renewed.lease_end = clock_.Steady() + kLeaseMargin + 300ms;
  renewed.timeout = 800ms;
  EXPECT_TRUE(
      runner_->RenewLeases({renewed.attempt}, clock_.Steady() + 60s).ok());  // unknown yet: ignored
  runner_->Start(renewed);
  EXPECT_TRUE(runner_->RenewLeases({renewed.attempt}, clock_.Steady() + 60s).ok());
  EXPECT_EQ(Await().state, RunState::kTimedOut);
  StartHttp kept = To(silent.url());
  kept.lease_end = clock_.Steady() + kLeaseMargin + 100ms;
  kept.close_at_lease_end = false;
  kept.timeout = 500ms;
  EXPECT_EQ(Run(std::move(kept)).state, RunState::kTimedOut);
}

TEST_F(CurlHttpRunnerTest, ManyAtOnceEndOnceEach) {
  constexpr size_t kCount = 500;
  std::set<AttemptId> asked;
  for (size_t i = 0; i < kCount; ++i) {
    StartHttp start = To("/hello");
    asked.insert(IdOf(start.attempt));
    runner_->Start(std::move(start));
  }
  size_t ended = 0;
  std::unique_lock lock(mu_);
  while (!asked.empty()) {
    for (AttemptEvent& event : runner_->Receive(10 * kCount)) {
      if (auto* end = std::get_if<AttemptEnded>(&event)) {
        EXPECT_EQ(end->result.state, RunState::kCompleted) << end->result.error;
        EXPECT_EQ(asked.erase(IdOf(end->attempt)), 1u);
        ++ended;
      }
    }
    const int before = woken_;
    if (asked.empty()) break;
    ASSERT_TRUE(changed_.wait_for(lock, kPatience, [&] { return woken_ != before; }));
  }
  EXPECT_EQ(ended, kCount);
}

}  // namespace
}  // namespace carillon::executor::curl_http_runner_test
