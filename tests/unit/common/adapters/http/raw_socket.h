// A plain TCP client that sends any bytes and reads answers with a deadline.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::test {

class RawSocket {
 public:
  // `from`: the loopback address to connect from; null = the default.
  explicit RawSocket(uint16_t port, const char* from = nullptr) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (from != nullptr) {
      EXPECT_EQ(inet_pton(AF_INET, from, &address.sin_addr), 1);
      EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawSocket() { Close(); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool connected() const { return connected_; }

  // Sends all bytes. Returns false if the peer has closed the connection.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Reads until `mark` has occurred `times` times, the peer has closed, or no byte came for
  // `timeout_ms`.
  std::string ReadUntil(std::string_view mark, size_t times = 1, int timeout_ms = 30000) {
    while (Count(mark) < times && ReadSome(timeout_ms)) {
    }
    return std::move(received_);
  }

  // Reads one whole answer with a Content-Length.
  std::string ReadAnswer(int timeout_ms = 30000) {
    size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadSome(timeout_ms)) return std::move(received_);
    }
    const size_t at = received_.find("Content-Length: ");
    const size_t length = at < end ? std::stoul(received_.substr(at + 16)) : 0;
    while (received_.size() < end + 4 + length) {
      if (!ReadSome(timeout_ms)) break;
    }
    std::string answer = received_.substr(0, end + 4 + length);
    received_.erase(0, answer.size());
    return answer;
  }

  // Reads until the peer closes the connection; closed() is true if it did so in time.
  std::string ReadToEnd(int timeout_ms = 30000) {
    while (ReadSome(timeout_ms)) {
    }
    return std::move(received_);
  }
  bool closed() const { return closed_; }

  // Closes the sending direction; answers can still be read.
  void HalfClose() { shutdown(fd_, SHUT_WR); }
  // Closes with a reset instead of a FIN.
  void Reset() {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }
  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  size_t Count(std::string_view mark) const {
    size_t count = 0;
    for (size_t at = received_.find(mark); at != std::string::npos;
         at = received_.find(mark, at + mark.size())) {
      ++count;
    }
    return count;
  }

  bool ReadSome(int timeout_ms) {
    pollfd wait{fd_, POLLIN, 0};
    if (poll(&wait, 1, timeout_ms) <= 0) return false;
    char buffer[65536];
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) {
      closed_ = true;
      return false;
    }
    received_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool closed_ = false;
  std::string received_;
};

// Returns the first of `sockets` that can be read; null if there is none within `timeout_ms`.
inline RawSocket* FirstReadable(const std::vector<std::unique_ptr<RawSocket>>& sockets,
                                int timeout_ms = 30000) {
  std::vector<pollfd> waits;
  for (const auto& socket : sockets) waits.push_back({socket->fd(), POLLIN, 0});
  if (poll(waits.data(), waits.size(), timeout_ms) <= 0) return nullptr;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].revents != 0) return sockets[i].get();
  }
  return nullptr;
}

}  // namespace carillon::test
