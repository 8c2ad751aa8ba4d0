#include "common/adapters/http/http_client.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "tests/unit/common/adapters/http/echo_server.h"

namespace carillon::test {
namespace {

std::string Url(const EchoServer& server, const std::string& path) {
  return "http://127.0.0.1:" + std::to_string(server.port()) + path;
}

TEST(HttpClientTest, SendsMethodHeadersAndBody) {
  EchoServer server({}, [](const HttpRequest& request) {
    HttpResponse response = EchoServer::Echo(request);
    const std::string* seen = request.Header("x-thing");
    response.status = 404;
    response.headers = {{"X-Seen", seen == nullptr ? "none" : *seen}};
    return response;
  });
  HttpClient client;
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    const auto answer = client.Send({.method = method,
                                     .url = Url(server, "/p?q=1"),
                                     .headers = {{"X-Thing", "value"}},
                                     .body = "body"});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 404);
    EXPECT_EQ(answer->body, std::string(method) + "|p?q=1|body");
    bool found = false;
    for (const auto& [name, text] : answer->headers) {
      if (name == "x-seen") found = text == "value";
    }
    EXPECT_TRUE(found);
  }
}

TEST(HttpClientTest, FollowsNoRedirect) {
  EchoServer server({}, [](const HttpRequest&) {
    return HttpResponse{.status = 302, .headers = {{"Location", "/elsewhere"}}};
  });
  HttpClient client;
  EXPECT_EQ(client.Send({.url = Url(server, "/")})->status, 302);
}

// A bound port that does not listen: connections are refused, and no other process gets the port.
class RefusingPort {
 public:
  RefusingPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
  }
  ~RefusingPort() { close(fd_); }
  uint16_t port() const { return port_; }

 private:
  const int fd_;
  uint16_t port_ = 0;
};

TEST(HttpClientTest, ARefusedConnectionIsUnavailable) {
  const RefusingPort refusing;
  HttpClient client;
  const auto refused = client.Send({.url = "http://127.0.0.1:" + std::to_string(refusing.port())});
  EXPECT_EQ(refused.code(), ErrorCode::kUnavailable);
}

TEST(HttpClientTest, ARequestThatMayHaveArrivedIsATimeout) {
  std::mutex mu;
  std::condition_variable changed;
  bool go = false;
  EchoServer silent({}, [&](const HttpRequest&) {
    std::unique_lock lock(mu);
    changed.wait(lock, [&] { return go; });
    return HttpResponse{};
  });
  HttpClient hasty({.total_timeout = 200ms});
  const auto ask = [&] { return hasty.Send({.method = "POST", .url = Url(silent, "/")}).code(); };
  // On a busy machine the time limit may pass before the connection is made. Then nothing was sent,
  // and the call is repeated.
  ErrorCode code = ask();
  for (int i = 0; i < 50 && code == ErrorCode::kUnavailable; ++i) code = ask();
  EXPECT_EQ(code, ErrorCode::kTimeout);
  const std::lock_guard lock(mu);
  go = true;
  changed.notify_all();
}

TEST(HttpClientTest, BoundsTheAnswer) {
  EchoServer server({}, [](const HttpRequest&) {
    return HttpResponse{.status = 200, .body = std::string(1001, 'x')};
  });
  HttpClient client({.response_bytes_max = 1000});
  EXPECT_EQ(client.Send({.url = Url(server, "/")}).code(), ErrorCode::kExhausted);
  HttpClient larger({.response_bytes_max = 1001});
  EXPECT_EQ(larger.Send({.url = Url(server, "/")})->body.size(), 1001u);
}

TEST(HttpClientTest, RefusesBadUrlsAndHeaders) {
  EchoServer server;
  HttpClient client;
  for (const char* url : {"", "file:///etc/passwd", "gopher://127.0.0.1/", "http://"}) {
    EXPECT_EQ(client.Send({.url = url}).code(), ErrorCode::kInvalid) << url;
  }
  EXPECT_EQ(client.Send({.url = Url(server, "/"), .headers = {{"X", "a\r\nY: b"}}}).code(),
            ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::test
