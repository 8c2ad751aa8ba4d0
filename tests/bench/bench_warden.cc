// Measures how many short processes per second a warden can run (claimed attempts, markers and ends
// on disk, output captured), compared with a bare posix_spawn loop of the same command.
//
//   bench_warden [--runs 2000] [--rounds 3] [--window 64] [--command true] [--directory DIR]
//                [--warden FILE] [--json FILE] [--no-bare]
//
// Three variants alternate, so that other load of the machine affects all of them: bare, one
// process after the other; bare, `window` processes at the same time; through the warden, `window`
// processes at the same time. The figures are the medians of the rounds.
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "common/adapters/system/system_clock.h"
#include "common/base/log.h"
#include "executor/warden/client/warden_client.h"
#include "executor/warden/client/warden_launcher.h"
#include "tests/support/process_wait.h"

extern char** environ;

namespace carillon::test {
namespace {

using namespace executor;

// Returns the path of the warden of this build.
std::string BuiltWarden() {
  const std::string self = DefaultWardenExecutable();
  return self.substr(0, self.rfind('/')) + "/../../bin/carillon-warden";
}

struct BenchOptions {
  int runs = 2000;
  int rounds = 3;
  int window = 64;
  std::string command = "true";
  std::string directory = {};
  std::string warden = BuiltWarden();
  std::string json = {};
  bool bare = true;
};

double PerSecond(int runs, Duration took) {
  return runs / std::chrono::duration<double>(took).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void SpawnBare(const std::string& command) {
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawn(&child, shell.c_str(), nullptr, nullptr, arguments, environ);
  CARILLON_CHECK(error == 0, "posix_spawn");
}

double BareRound(const Clock& clock, const BenchOptions& options, int window) {
  const SteadyTime begin = clock.Steady();
  int started = 0;
  for (int ended = 0; ended < options.runs;) {
    while (started < options.runs && started - ended < window) {
      SpawnBare(options.command);
      ++started;
    }
    int status = 0;
    CARILLON_CHECK(waitpid(-1, &status, 0) > 0, "waitpid");
    ++ended;
  }
  return PerSecond(options.runs, clock.Steady() - begin);
}

class WardenRounds {
 public:
  WardenRounds(const Clock& clock, const BenchOptions& options, const std::string& directory)
      : clock_(clock),
        options_(options),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        client_({.directory = directory, .executable = options.warden, .idle_exit = 1s}, clock_,
                metrics_) {
    client_.OnReadable([this] { static_cast<void>(!eventfd_write(wake_.get(), 1)); });
    CARILLON_CHECK(WaitUntil([this] { return client_.warden_pid() > 0; }), "no warden");
  }
  ~WardenRounds() { client_.Leave(); }

  double Round() {
    const SteadyTime begin = clock_.Steady();
    int started = 0;
    int ended = 0;
    while (ended < options_.runs) {
      for (; started < options_.runs && started - ended < options_.window; ++started) {
        CARILLON_CHECK(client_.Start(Next()).ok(), "start");
      }
      ended += TakeEnds();
    }
    return PerSecond(options_.runs, clock_.Steady() - begin);
  }

 private:
  StartAttempt Next() {
    StartAttempt start;
    start.attempt.key = {clock_.Wall(), ScheduleId(++made_), 0};
    start.attempt.job_no = JobNo(1);
    start.attempt.token = {.high = 1, .low = made_};
    start.job_id = JobId("bench");
    start.command = options_.command;
    start.env = {{"PATH", "/usr/bin:/bin"},
                 {"CARILLON_RUN_ID", EncodeRunId(start.attempt.key)},
                 {"CARILLON_ATTEMPT", "1"}};
    start.lease_end = clock_.Steady() + 1h;
    return start;
  }
  int TakeEnds() {
    pollfd readable{wake_.get(), POLLIN, 0};
    CARILLON_CHECK(poll(&readable, 1, 10'000) == 1, "the warden is silent");
    eventfd_t rung = 0;
    static_cast<void>(!eventfd_read(wake_.get(), &rung));
    std::vector<HeldAttempt> over;
    for (const AttemptEvent& event : client_.Receive(SIZE_MAX)) {
      const auto* ended = std::get_if<AttemptEnded>(&event);
      if (ended == nullptr) continue;
      CARILLON_CHECK(ended->result.state == RunState::kCompleted, ended->result.error);
      over.push_back(ended->attempt);
    }
    CARILLON_CHECK(client_.Forget(over).ok(), "forget");
    return static_cast<int>(over.size());
  }

  const Clock& clock_;
  const BenchOptions& options_;
  Metrics metrics_;
  FileDescriptor wake_;
  uint64_t made_ = 0;
  WardenClient client_;
};

void Report(const BenchOptions& options, double one, double many, double warden) {
  const std::string json = fmt::format(
      "{{\"processes\": {{\"runs\": {}, \"window\": {}, \"bare_one_per_second\": {:.0f}, "
      "\"bare_window_per_second\": {:.0f}, \"warden_per_second\": {:.0f}, "
      "\"ratio_one\": {:.3f}, \"ratio_window\": {:.3f}}}}}\n",
      options.runs, options.window, one, many, warden, warden / one, warden / many);
  std::fputs(json.c_str(), stdout);
  if (!options.json.empty()) std::ofstream(options.json) << json;
}

int Bench(const BenchOptions& options) {
  const SystemClock clock;
  const ScratchDirectory scratch;
  const std::string directory = options.directory.empty() ? scratch / "warden" : options.directory;
  WardenRounds rounds(clock, options, directory);
  std::vector<double> one;
  std::vector<double> many;
  std::vector<double> warden;
  for (int i = 0; i < options.rounds; ++i) {
    one.push_back(options.bare ? BareRound(clock, options, 1) : 0);
    many.push_back(options.bare ? BareRound(clock, options, options.window) : 0);
    warden.push_back(rounds.Round());
    std::fprintf(stderr, "round %d: bare %.0f/s, bare x%d %.0f/s, warden %.0f/s\n", i + 1,
                 one.back(), options.window, many.back(), warden.back());
  }
  if (options.bare) Report(options, Median(one), Median(many), Median(warden));
  return 0;
}

}  // namespace
}  // namespace carillon::test

int main(int argc, char** argv) {
  carillon::test::BenchOptions options;
  CLI::App app{"Short processes a second, through the warden and without."};
  app.add_option("--runs", options.runs)->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  app.add_option("--window", options.window, "in flight")->check(CLI::Range(1, 4096));
  app.add_option("--command", options.command);
  app.add_option("--directory", options.directory, "of the warden; a new one when not given");
  app.add_option("--warden", options.warden, "the carillon-warden to measure");
  app.add_option("--json", options.json);
  app.add_flag("!--no-bare", options.bare, "only the warden, under a profiler");
  CLI11_PARSE(app, argc, argv);
  return carillon::test::Bench(options);
}
