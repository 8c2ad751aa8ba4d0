#include "common/process/daemon.h"

#include <unistd.h>

#include <cstdio>

#include "common/adapters/system/system_clock.h"
#include "common/base/log.h"
#include "common/process/process.h"

namespace carillon::process {
namespace {

constexpr timespec kSuperviseEvery{.tv_sec = 0, .tv_nsec = 200'000'000};
// The time in which running processes may end before the daemon ends and leaves them to the warden.
constexpr Duration kDrainTimeout = 10s;

int Fail(const std::string& name, const Error& error, int code) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), error.message.c_str());
  return code;
}

Status Drain(const std::string& name, Daemon& daemon, const sigset_t& signals) {
  log::Info(name, "stopping; a second signal does not wait for running processes");
  daemon.BeginDrain();
  const SystemClock clock;
  const SteadyTime deadline = clock.Steady() + kDrainTimeout;
  while (!daemon.drained() && clock.Steady() < deadline &&
         TakeStopSignal(signals, kSuperviseEvery) == 0) {
    CARILLON_TRY(daemon.Supervise());
  }
  return {};
}

Status Live(const std::string& name, Daemon& daemon, const sigset_t& signals, bool at_terminal) {
  int signal = 0;
  while (signal == 0) {
    CARILLON_TRY(daemon.Supervise());
    signal = TakeStopSignal(signals, kSuperviseEvery);
    if (signal != SIGHUP || at_terminal) continue;
    // A request to reload must not end the daemon.
    if (!daemon.Reload()) log::Info(name, "SIGHUP: there is nothing to reload");
    signal = 0;
  }
  return Drain(name, daemon, signals);
}

}  // namespace

Error InterruptedError() { return {ErrorCode::kUnavailable, "stopped before it was ready"}; }

bool AtTerminal() { return isatty(STDIN_FILENO) == 1; }

int RunDaemon(const std::string& name, const config::LoadRequest& request, const StartDaemon& start,
              bool at_terminal) {
  const sigset_t signals = BlockStopSignals();
  std::vector<Error> further;
  const auto config = config::Load(request, &further);
  if (!config.ok()) {
    Fail(name, config.error(), 2);
    for (const Error& one : further) Fail(name, one, 2);
    return 2;
  }
  ConfigureLog(*config);
  for (const std::string& warning : config->warnings()) log::Warn("config", "{}", warning);
  bool stop = false;
  auto daemon = start(*config, [&signals, &stop] {
    stop = stop || TakeStopSignal(signals, {}) != 0;
    return stop;
  });
  if (stop) return 0;
  if (!daemon.ok()) {
    return Fail(name, daemon.error(), daemon.code() == ErrorCode::kInvalid ? 2 : 1);
  }
  std::fprintf(stderr, "%s\n", (*daemon)->ReadyText().c_str());
  const Status lived = Live(name, **daemon, signals, at_terminal);
  (*daemon)->Stop();
  if (!lived.ok()) return Fail(name, lived.error(), 1);
  return 0;
}

}  // namespace carillon::process
