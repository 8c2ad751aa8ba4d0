// The limit on connections of one address, and its exception for proxies.
#include <memory>
#include <vector>

#include "tests/support/process_wait.h"
#include "tests/unit/common/adapters/http/echo_server.h"
#include "tests/unit/common/adapters/http/raw_socket.h"

namespace carillon::test {
namespace {

std::string TextOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

// When an address has its maximum of connections, new ones are closed until one of them ends.
TEST(AddressConnectionsTest, OneAddressHasSoManyConnections) {
  EchoServer server({.address_connections_max = 2, .read_timeout = 1h});
  const std::string request = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
  auto first = std::make_unique<RawSocket>(server.port());
  ASSERT_TRUE(first->Send(request));
  EXPECT_EQ(TextOf(first->ReadAnswer()), "GET|x|");
  RawSocket second(server.port());  // idle
  for (int i = 0; i < 3; ++i) {
    RawSocket more(server.port());
    more.Send(request);
    EXPECT_EQ(more.ReadToEnd(), "");
    EXPECT_TRUE(more.closed());
  }
  RawSocket other(server.port(), "127.0.0.2");
  ASSERT_TRUE(other.Send(request));
  EXPECT_EQ(TextOf(other.ReadAnswer()), "GET|x|");
  first->Close();
  EXPECT_TRUE(WaitUntil([&] {
    RawSocket next(server.port());
    return next.Send(request) && TextOf(next.ReadToEnd(100)) == "GET|x|";
  }));
}

TEST(AddressConnectionsTest, OnlyATrustedProxySaysWhoAsksAndIsNotCounted) {
  EchoServer server(
      {.address_connections_max = 1,
       .trusted_proxies = ParseNetworks("127.0.0.2").value(),
       .read_timeout = 1h},
      [](const HttpRequest& request) { return HttpResponse{.status = 200, .body = request.peer}; });
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n";
  std::vector<std::unique_ptr<RawSocket>> of_proxy;
  for (int i = 0; i < 3; ++i) {
    of_proxy.push_back(std::make_unique<RawSocket>(server.port(), "127.0.0.2"));
    ASSERT_TRUE(of_proxy.back()->Send(request));
    EXPECT_EQ(TextOf(of_proxy.back()->ReadAnswer()), "192.0.2.7:0");
  }
  RawSocket stranger(server.port(), "127.0.0.3");
  ASSERT_TRUE(stranger.Send(request));
  EXPECT_TRUE(TextOf(stranger.ReadAnswer()).starts_with("127.0.0.3:"));
}

}  // namespace
}  // namespace carillon::test
