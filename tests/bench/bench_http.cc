// Measures the HTTP runner alone: requests a second and CPU time a request, against a server in a
// process of its own.
//
//   bench_http [--requests N] [--open N]
//
// --open: requests that are in progress at once. One line of JSON, as ./dev bench prints it.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string_view>

#include <fmt/core.h>

#include "common/adapters/system/system_clock.h"
#include "executor/http/curl_http_runner.h"

namespace carillon::executor {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Answers each request without a body with kAnswer, until it is killed.
[[noreturn]] void Serve(int listening) {
  const int epoll = epoll_create1(0);
  const auto watch = [epoll](int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listening);
  std::array<epoll_event, 256> events{};
  std::array<char, 16'384> buffer{};
  while (true) {
    const int count = epoll_wait(epoll, events.data(), events.size(), -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events.at(static_cast<size_t>(i)).data.fd;
      if (fd == listening) {
        const int taken = accept(listening, nullptr, nullptr);
        const int yes = 1;
        setsockopt(taken, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        watch(taken);
        continue;
      }
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
      const std::string_view request(buffer.data(), got > 0 ? static_cast<size_t>(got) : 0);
      if (request.ends_with("\r\n\r\n")) {
        send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
      } else {
        close(fd);
      }
    }
  }
}

struct Listening {
  int fd;
  int port;
};
Listening Listen() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  CARILLON_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0, "bind");
  CARILLON_CHECK(listen(fd, 1024) == 0, "listen");
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return {fd, ntohs(address.sin_port)};
}

double CpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void Measure(int port, int requests, int open) {
  const SystemClock clock;
  Metrics metrics;
  std::mutex mu;
  std::condition_variable changed;
  uint64_t woken = 0;
  CurlHttpRunner runner(clock, metrics,
                        {.policy = AddressPolicy(*ParseNetworks("127.0.0.0/8"), {})});
  runner.OnReadable([&] {
    const std::lock_guard lock(mu);
    ++woken;
    changed.notify_one();
  });
  const std::string url = fmt::format("http://127.0.0.1:{}/", port);
  int started = 0;
  int ended = 0;
  int failed = 0;
  const auto start = [&] {
    StartHttp request;
    request.attempt.key = {clock.Wall(), ScheduleId(static_cast<uint64_t>(++started)), 0};
    request.job_id = JobId("bench");
    request.url = url;
    request.timeout = 60s;
    request.lease_end = clock.Steady() + 60s;
    runner.Start(std::move(request));
  };
  const double cpu = CpuSeconds();
  const SteadyTime begin = clock.Steady();
  while (started < open) start();
  while (ended < requests) {
    std::unique_lock lock(mu);
    const uint64_t before = woken;
    lock.unlock();
    const std::vector<AttemptEvent> events = runner.Receive(1024);
    for (const AttemptEvent& event : events) {
      const auto* end = std::get_if<AttemptEnded>(&event);
      if (end == nullptr) continue;
      ++ended;
      if (end->result.state != RunState::kCompleted) ++failed;
      if (started < requests) start();
    }
    lock.lock();
    if (events.empty()) changed.wait(lock, [&] { return woken != before; });
  }
  const std::chrono::duration<double> took = clock.Steady() - begin;
  fmt::print(
      "{{\"requests\": {}, \"open\": {}, \"failed\": {}, \"per_second\": {:.0f}, "
      "\"cpu_us_per_request\": {:.1f}}}\n",
      requests, open, failed, requests / took.count(), (CpuSeconds() - cpu) * 1e6 / requests);
}

}  // namespace
}  // namespace carillon::executor

int main(int argc, char** argv) {
  using namespace carillon::executor;
  int requests = 50'000;
  int open = 64;
  CLI::App app("How many requests a second the HTTP runner makes");
  app.add_option("--requests", requests);
  app.add_option("--open", open);
  CLI11_PARSE(app, argc, argv);
  const Listening listening = Listen();
  const pid_t server = fork();
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Serve(listening.fd);
  }
  close(listening.fd);
  Measure(listening.port, requests, open);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  return 0;
}
