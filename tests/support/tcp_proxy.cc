#include "tests/support/tcp_proxy.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "common/base/check.h"

namespace carillon::test {
namespace {

constexpr int kLookEveryMs = 5;

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool SendAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

TcpProxy::TcpProxy(uint16_t target, std::function<void(std::string_view)> on_request)
    : target_(target), on_request_(std::move(on_request)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  CARILLON_CHECK(bind(listener_, generic, size) == 0 && listen(listener_, 64) == 0 &&
                     getsockname(listener_, generic, &size) == 0,
                 "proxy");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  thread_.join();
  CloseAll();
  close(listener_);
}

void TcpProxy::Run() {
  while (!stopping_) {
    if (cut_.exchange(false)) CloseAll();
    std::vector<pollfd> ready = {{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      const short wanted = frozen_ ? 0 : POLLIN;
      ready.push_back({pair.client, wanted, 0});
      ready.push_back({pair.server, wanted, 0});
    }
    if (poll(ready.data(), ready.size(), kLookEveryMs) <= 0) continue;
    size_t i = 1;
    for (Pair& pair : pairs_) {
      if (!frozen_ && ready[i].revents != 0) Forward(pair, true);
      if (!frozen_ && ready[i + 1].revents != 0) Forward(pair, false);
      i += 2;
    }
    pairs_.remove_if([](const Pair& pair) { return pair.dead; });
    if ((ready[0].revents & POLLIN) != 0) Accept();
  }
}

void TcpProxy::Accept() {
  Pair pair;
  pair.client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (pair.client < 0) return;
  pair.server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(target_);
  if (connect(pair.server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(pair.client);
    close(pair.server);
    return;
  }
  pairs_.push_back(pair);
}

void TcpProxy::Forward(Pair& pair, bool from_client) {
  if (pair.dead) return;
  std::array<char, 65536> buffer;
  const ssize_t n = recv(from_client ? pair.client : pair.server, buffer.data(), buffer.size(), 0);
  bool alive = n > 0;
  if (alive && from_client && on_request_) {
    on_request_({buffer.data(), static_cast<size_t>(n)});
  }
  if (alive && (from_client || !lose_answers_)) {
    alive = SendAll(from_client ? pair.server : pair.client, buffer.data(), static_cast<size_t>(n));
  }
  if (alive) return;
  pair.dead = true;
  close(pair.client);
  close(pair.server);
}

void TcpProxy::CloseAll() {
  for (const Pair& pair : pairs_) {
    close(pair.client);
    close(pair.server);
  }
  pairs_.clear();
}

}  // namespace carillon::test
