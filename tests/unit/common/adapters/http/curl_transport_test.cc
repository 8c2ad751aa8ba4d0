#include "common/adapters/http/curl_transport.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <future>

#include "common/adapters/system/system_clock.h"

namespace carillon {
namespace {

constexpr Duration kPromptly = 4s;  // well below the time limit of a call

// A server that accepts connections and never answers.
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
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentServer() {
    if (taken_ >= 0) close(taken_);
    close(fd_);
  }
  // Returns once a client has connected.
  void Take() {
    taken_ = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    EXPECT_GE(taken_, 0);
  }
  const std::string& address() const { return address_; }

 private:
  const int fd_;
  int taken_ = -1;
  std::string address_;
};

class CurlTransportTest : public testing::Test {
 protected:
  Result<int> Post() {
    return transport_.Post({.url = "http://" + server_.address(), .headers = {}, .body = "{}"});
  }
  Result<int> Mail() {
    return transport_.Mail({.server = server_.address(),
                            .tls = MailTls::kOff,
                            .from = "a@b.example",
                            .to = {"c@d.example"},
                            .message = "Subject: x\r\n\r\ny\r\n"});
  }
  // Returns the time from Stop to the end of a call in progress.
  template <typename Send>
  Duration TimeToStop(Send send) {
    auto sent = std::async(std::launch::async, send);
    server_.Take();
    const SteadyTime told = clock_.Steady();
    transport_.Stop();
    EXPECT_FALSE(sent.get().ok());
    return clock_.Steady() - told;
  }

  const SystemClock clock_;
  SilentServer server_;
  CurlTransport transport_{""};
};

TEST_F(CurlTransportTest, APostUnderWayEndsWhenItIsToldToStop) {
  EXPECT_LT(TimeToStop([this] { return Post(); }), kPromptly);
}

TEST_F(CurlTransportTest, AMailUnderWayEndsWhenItIsToldToStop) {
  EXPECT_LT(TimeToStop([this] { return Mail(); }), kPromptly);
}

TEST_F(CurlTransportTest, NothingIsSentOnceItIsStopped) {
  transport_.Stop();
  const SteadyTime told = clock_.Steady();
  EXPECT_FALSE(Post().ok());
  EXPECT_FALSE(Mail().ok());
  EXPECT_LT(clock_.Steady() - told, kPromptly);
}

}  // namespace
}  // namespace carillon
