// A fleet of simulated executors, each with a connection of its own to one member.
//
//   bench_executors --address HOST:PORT --secret-file FILE [--authority DIR --member ID]
//   [--executors N] [--holders N] [--interval-ms MS] [--seconds S] [--storm]
//
// With --authority each executor has a certificate of this authority, whose files are link-ca.pem
// and link-ca.key.
//
// Prints "registered" when all are, then one line of JSON with the heartbeats that were answered in
// S seconds. With --storm it then waits until the member is restarted, and prints one more line
// when all are registered again. tests/bench/executors.py starts it and measures the member.
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/adapters/system/system_clock.h"
#include "common/tls/certificates.h"
#include "tests/bench/simulated_executor.h"

namespace carillon::bench {
namespace {

struct Options {
  FleetOptions fleet;
  std::string secret_file;
  std::string authority;
  int executors = 10'000;
  int holders = 0;
  int interval_ms = 0;
  int seconds = 30;
  bool storm = false;
};

constexpr Duration kRegisterMax = 120s;
constexpr Duration kSettles = 45s;

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Makes a certificate for each executor, before anything is measured.
std::vector<tls::Identity> Identities(const Options& options, WallTime now) {
  std::vector<tls::Identity> made(static_cast<size_t>(options.executors));
  if (options.authority.empty()) return made;
  const std::string certificate = Read(options.authority + "/link-ca.pem");
  const auto authority =
      tls::Authority::Load(certificate, Read(options.authority + "/link-ca.key"));
  if (!authority.ok()) throw std::runtime_error(authority.error().message);
  for (int i = 0; i < options.executors; ++i) {
    tls::Identity& one = made[static_cast<size_t>(i)];
    one = {.authority = certificate, .key = tls::NewKey()};
    auto issued = authority->IssueFor(
        one.key, {.common_name = SimulatedExecutor::IdOf(i), .from = now - 1h, .until = now + 24h});
    if (!issued.ok()) throw std::runtime_error(issued.error().message);
    one.certificate = std::move(issued).value();
  }
  return made;
}

class Fleet {
 public:
  explicit Fleet(const Options& options)
      : options_(options), identities_(Identities(options, clock_.Wall())) {}

  // Connects all, 500 a second: a fleet does not arrive at once.
  bool Connect() {
    for (int i = 0; i < options_.executors; ++i) {
      executors_.push_back(std::make_unique<SimulatedExecutor>(
          i, i < options_.holders, std::move(identities_[static_cast<size_t>(i)]), options_.fleet,
          clock_, count_, [this, i] { Wake(i); }));
      turn_of_.emplace_back();
      Wake(i);
      Run([] { return false; }, 2ms);
    }
    return Run([this] { return All(); }, kRegisterMax);
  }

  // Beats for some seconds, and prints what was answered. The interval is told to all within 40 s.
  void Measure() {
    Run([] { return false; }, kSettles);
    const uint64_t before = count_.answers;
    const SteadyTime begin = clock_.Steady();
    Run([] { return false; }, std::chrono::seconds(options_.seconds));
    fmt::print("{{\"executors\": {}, \"answers_per_s\": {:.1f}, \"ended\": {}}}\n",
               options_.executors, static_cast<double>(count_.answers - before) / Since(begin),
               count_.ended.load());
    std::fflush(stdout);
  }

  // The time from the end of the streams until all are registered with the restarted member. Some
  // are back before the last of the others has noticed the end.
  bool Storm() {
    const uint64_t registrations = count_.registrations;
    const int ended = count_.ended + options_.executors / 2;
    if (!Run([this, ended] { return count_.ended >= ended; }, kRegisterMax)) return false;
    const SteadyTime begin = clock_.Steady();
    const bool holders = Run([this] { return count_.holders == options_.holders; }, kRegisterMax);
    const double holders_s = Since(begin);
    const bool all = Run([this] { return All(); }, kRegisterMax);
    fmt::print(
        "{{\"all_back\": {}, \"back_s\": {:.1f}, \"holders_back_s\": {:.1f}, "
        "\"registrations\": {}}}\n",
        holders && all, Since(begin), holders_s, count_.registrations - registrations);
    std::fflush(stdout);
    return all;
  }

 private:
  using Turn = std::pair<SteadyTime, int>;

  bool All() const { return count_.registered == options_.executors; }
  double Since(SteadyTime begin) const {
    return std::chrono::duration<double>(clock_.Steady() - begin).count();
  }
  void Wake(int number) {
    const std::lock_guard lock(mu_);
    woken_.push_back(number);
    changed_.notify_one();
  }
  // Lets the executors act until `done`, at most for `limit`. Returns whether it is done.
  template <typename Done>
  bool Run(const Done& done, Duration limit) {
    const SteadyTime end = clock_.Steady() + limit;
    for (SteadyTime now = clock_.Steady(); now < end; now = clock_.Steady()) {
      if (done()) return true;
      std::vector<int> woken;
      {
        std::unique_lock lock(mu_);
        const SteadyTime next = turns_.empty() ? end : std::min(end, turns_.top().first);
        const Duration pause = std::clamp<Duration>(next - now, 0us, 10ms);
        if (woken_.empty()) changed_.wait_for(lock, pause);
        woken.swap(woken_);
      }
      now = clock_.Steady();
      for (; !turns_.empty() && turns_.top().first <= now; turns_.pop()) {
        const auto [at, number] = turns_.top();
        if (at == turn_of_[static_cast<size_t>(number)]) woken.push_back(number);
      }
      for (const int number : woken) {
        const auto place = static_cast<size_t>(number);
        turn_of_[place] = executors_[place]->Act(now);
        turns_.emplace(turn_of_[place], number);
      }
    }
    return done();
  }

  const Options options_;
  const SystemClock clock_;
  std::vector<tls::Identity> identities_;  // until each executor has its own
  FleetCount count_;
  std::vector<std::unique_ptr<SimulatedExecutor>> executors_;
  std::vector<SteadyTime> turn_of_;  // of each executor; its other turns are over
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<int> woken_;
};

}  // namespace
}  // namespace carillon::bench

int main(int argc, char** argv) {
  carillon::bench::Options options;
  CLI::App app("A fleet of simulated executors");
  app.add_option("--address", options.fleet.address)->required();
  app.add_option("--secret-file", options.secret_file)->required();
  app.add_option("--authority", options.authority, "directory of the authority; none: without TLS");
  app.add_option("--member", options.fleet.member, "the name in its certificate");
  app.add_option("--executors", options.executors);
  app.add_option("--holders", options.holders, "that hold something and are never quiet");
  app.add_option("--interval-ms", options.interval_ms, "of heartbeats; 0: as the member asks");
  app.add_option("--seconds", options.seconds);
  app.add_flag("--storm", options.storm, "wait for a restart of the member");
  CLI11_PARSE(app, argc, argv);
  std::getline(std::ifstream(options.secret_file) >> std::ws, options.fleet.secret);
  options.fleet.interval = std::chrono::milliseconds(options.interval_ms);
  carillon::bench::Fleet fleet(options);
  if (!fleet.Connect()) {
    fmt::print(stderr, "not all executors were registered\n");
    return 1;
  }
  fmt::print("registered\n");
  std::fflush(stdout);
  fleet.Measure();
  const bool back = !options.storm || fleet.Storm();
  std::_Exit(back ? 0 : 1);  // without the farewell of thousands of channels
}
