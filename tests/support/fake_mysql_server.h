// A server that greets as MySQL does, asks for the password, and keeps all that it is sent. It lets
// nobody in.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "common/base/check.h"

namespace carillon::test {

class FakeMysqlServer {
 public:
  // It says that it can do TLS, which is not true.
  static constexpr uint32_t kOffersTls = 0x800;

  // `plugin`: the way to sign in that it asks for. `answer`: its answer to the client's first
  // packet.
  FakeMysqlServer(uint32_t capabilities, std::string plugin, std::string answer)
      : greeting_(Greeting(capabilities, plugin)), answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    CARILLON_CHECK(listener_ >= 0 &&
                       bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       listen(listener_, 1) == 0 &&
                       getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
                   "listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakeMysqlServer() { Received(); }

  uint16_t port() const { return port_; }
  // All that the client has sent until it went.
  const std::string& Received() {
    if (thread_.joinable()) {
      shutdown(listener_, SHUT_RDWR);
      thread_.join();
      close(listener_);
    }
    return received_;
  }

 private:
  static std::string Packet(uint8_t number, const std::string& body) {
    std::string packet;
    for (int shift = 0; shift < 24; shift += 8)
      packet += static_cast<char>(body.size() >> shift & 0xff);
    return packet + static_cast<char>(number) + body;
  }
  static std::string Greeting(uint32_t capabilities, const std::string& plugin) {
    // Protocol 4.1, passwords of any length, the way to sign in by its name.
    const uint32_t all = capabilities | 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000 | 0x200000;
    const auto two = [](uint32_t value) {
      return std::string{static_cast<char>(value & 0xff), static_cast<char>(value >> 8 & 0xff)};
    };
    return Packet(0, std::string("\x0a"
                                 "9.7.4\0",
                                 7) +
                         std::string("\1\0\0\0", 4) + "12345678" + '\0' + two(all) + '\x2d' +
                         two(2) + two(all >> 16) + '\x15' + std::string(10, '\0') + "123456789012" +
                         '\0' + plugin + '\0');
  }

  void Serve() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    send(client, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
    char bytes[4096];
    for (bool first = true;; first = false) {
      const ssize_t count = recv(client, bytes, sizeof(bytes), 0);
      if (count <= 0) break;
      received_.append(bytes, static_cast<size_t>(count));
      if (first) {
        const std::string packet = Packet(2, answer_);
        send(client, packet.data(), packet.size(), MSG_NOSIGNAL);
      } else {
        shutdown(client, SHUT_WR);  // enough was heard
      }
    }
    close(client);
  }

  const std::string greeting_;
  const std::string answer_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::string received_;
  std::thread thread_;
};

}  // namespace carillon::test
