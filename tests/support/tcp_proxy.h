// A TCP proxy between a client and a server that loses traffic on request.
//
// Threads  Thread-safe. The proxy forwards on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>

namespace carillon::test {

class TcpProxy {
 public:
  // `on_request` is called with the bytes that a client sent, before they are forwarded. It may
  // call the other functions of this class.
  explicit TcpProxy(uint16_t target, std::function<void(std::string_view)> on_request = {});
  ~TcpProxy();

  uint16_t port() const { return port_; }
  // While frozen, nothing is forwarded in either direction, and nothing is closed.
  void Freeze(bool frozen) { frozen_ = frozen; }
  // While true, the server's answers are discarded.
  void LoseAnswers(bool lose) { lose_answers_ = lose; }
  // Closes all connections. New connections are accepted.
  void Cut() { cut_ = true; }

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    bool dead = false;
  };
  void Run();
  void Accept();
  void Forward(Pair& pair, bool from_client);
  void CloseAll();

  const uint16_t target_;
  const std::function<void(std::string_view)> on_request_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::list<Pair> pairs_;
  std::atomic<bool> frozen_ = false;
  std::atomic<bool> lose_answers_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace carillon::test
