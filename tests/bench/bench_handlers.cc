// Measures the runner of handlers alone, with a real worker and without a scheduler: functions
// called a second.
//
//   bench_handlers [--calls N] [--open N] -- COMMAND...
//
// COMMAND: a worker with the handler bench/nothing, such as tests/bench/workers/nothing.py. It gets
// the path of the socket in CARILLON_WORKER_SOCKET. --open: calls that are in progress at once. One
// line of JSON, as ./dev bench prints it.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include <fmt/core.h>

#include "common/adapters/grpc/grpc_worker_door.h"
#include "common/adapters/system/system_clock.h"
#include "executor/worker/worker_runner.h"

namespace carillon::executor {
namespace {

double CpuSeconds(int who) {
  rusage used{};
  getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

pid_t Launch(std::vector<std::string> command) {
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> arguments;
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

struct Counts {
  int started = 0;
  int ended = 0;
  int failed = 0;
};

// Keeps `open` calls in progress until `calls` have ended. As the daemon does, it forgets those
// that have.
Counts Call(WorkerRunner& runner, const SystemClock& clock, int calls, int open) {
  std::mutex mu;
  std::condition_variable changed;
  bool woken = false;
  runner.OnReadable([&] {
    const std::lock_guard lock(mu);
    woken = true;
    changed.notify_one();
  });
  Counts counts;
  const auto start = [&] {
    const auto number = static_cast<uint64_t>(++counts.started);
    runner.Start({.attempt = {.key = {clock.Wall(), ScheduleId(number), 0}, .token = {number, 1}},
                  .job_id = JobId("bench"),
                  .handler = "bench/nothing",
                  .timeout = 60s,
                  .lease_end = clock.Steady() + 600s});
  };
  while (counts.started < open) start();
  while (counts.ended < calls) {
    std::vector<HeldAttempt> ended;
    for (const AttemptEvent& event : runner.Receive(1024)) {
      const auto* end = std::get_if<AttemptEnded>(&event);
      if (end == nullptr) continue;
      ended.push_back(end->attempt);
      if (end->result.state != RunState::kCompleted) ++counts.failed;
    }
    counts.ended += static_cast<int>(ended.size());
    CARILLON_CHECK(runner.Forget(ended).ok(), "forget");
    for (size_t i = 0; i < ended.size() && counts.started < calls; ++i) start();
    std::unique_lock lock(mu);
    if (ended.empty()) changed.wait(lock, [&] { return woken; });
    woken = false;
  }
  runner.OnReadable({});
  return counts;
}

int Measure(const std::vector<std::string>& command, int calls, int open) {
  std::string folder = std::filesystem::temp_directory_path() / "bench-handlers-XXXXXX";
  CARILLON_CHECK(mkdtemp(folder.data()) != nullptr, "mkdtemp");
  const SystemClock clock;
  Metrics metrics;
  const std::string socket = folder + "/s";
  auto runner = WorkerRunner::Open({.socket = socket, .directory = folder + "/starts"},
                                   rpc::ListenForWorkers, clock, metrics);
  CARILLON_CHECK(runner.ok(), "the runner cannot be opened");
  setenv("CARILLON_WORKER_SOCKET", socket.c_str(), 1);
  const pid_t worker = Launch(command);
  std::mutex mu;
  std::condition_variable never;
  std::unique_lock lock(mu);
  while (!never.wait_for(lock, std::chrono::milliseconds(10),
                         [&] { return !(*runner)->Offers()->empty(); })) {
    CARILLON_CHECK(waitpid(worker, nullptr, WNOHANG) == 0, "the worker has ended");
  }
  Call(**runner, clock, calls / 10 + 1, open);  // the worker gets warm
  const double cpu = CpuSeconds(RUSAGE_SELF);
  const SteadyTime begin = clock.Steady();
  const Counts counts = Call(**runner, clock, calls, open);
  const std::chrono::duration<double> took = clock.Steady() - begin;
  const double ours = CpuSeconds(RUSAGE_SELF) - cpu;
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  fmt::print(
      "{{\"calls\": {}, \"open\": {}, \"failed\": {}, \"per_second\": {:.0f}, \"cpu_us_per_call\": "
      "{:.1f}}}\n",
      calls, open, counts.failed, calls / took.count(), ours * 1e6 / calls);
  runner->reset();
  std::filesystem::remove_all(folder);
  return counts.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace carillon::executor

int main(int argc, char** argv) {
  int calls = 50'000;
  int open = 256;
  std::vector<std::string> command;
  CLI::App app("How many functions a second the runner of handlers calls");
  app.add_option("--calls", calls);
  app.add_option("--open", open);
  app.add_option("command", command)->required();
  app.positionals_at_end();
  CLI11_PARSE(app, argc, argv);
  return carillon::executor::Measure(command, calls, open);
}
