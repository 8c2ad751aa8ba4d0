#include "cli/standalone.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "cli/standalone/standalone_server.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/log.h"

namespace carillon::cli {
namespace {

constexpr timespec kSuperviseEvery{.tv_sec = 0, .tv_nsec = 200'000'000};
// How long running processes may take to end before they are left to the warden.
constexpr Duration kDrainTimeout = 10s;

// Blocks the stop signals in this thread and all it will start; they are taken by StopSignal.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  // nohup ignores it so that the end of a terminal does not end the server.
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// True when a stop signal came within `timeout`.
bool StopSignal(const sigset_t& signals, timespec timeout) {
  return sigtimedwait(&signals, nullptr, &timeout) > 0;
}

int Fail(const Error& error) {
  std::fprintf(stderr, "carillon standalone: %s\n", error.message.c_str());
  return 1;
}

void ConfigureLog(const config::Config& config) {
  const std::string& level = config.Text("log.level");
  log::Options options{.file = config.Text("log.file"),
                       .file_bytes_max = static_cast<size_t>(config.Integer("log.file_bytes_max")),
                       .files_max = static_cast<size_t>(config.Integer("log.files_max"))};
  if (level == "debug") options.level = log::Level::kDebug;
  if (level == "warn") options.level = log::Level::kWarn;
  if (level == "error") options.level = log::Level::kError;
  if (level == "off") options.level = log::Level::kOff;
  log::Configure(options);
}

}  // namespace

int RunStandalone(const StandaloneOptions& options) {
  const sigset_t signals = BlockStopSignals();
  auto config = config::Load({.file = options.config_file,
                              .environment = config::ProcessEnvironment(),
                              .flags = options.overrides});
  if (!config.ok()) {
    Fail(config.error());
    return 2;
  }
  ConfigureLog(*config);
  for (const std::string& warning : config->warnings()) log::Warn("config", "{}", warning);
  bool stop = false;
  auto server = StandaloneServer::Start(*config, [&signals, &stop] {
    stop = stop || StopSignal(signals, {});
    return stop;
  });
  if (stop) return 0;
  if (!server.ok()) return Fail(server.error());
  std::fprintf(stderr, "carillon is ready: %s (token in %s)\n", (*server)->url().c_str(),
               (*server)->token_file().c_str());

  while (!StopSignal(signals, kSuperviseEvery)) (*server)->Supervise();

  log::Info("standalone", "stopping; a second signal does not wait for running processes");
  (*server)->BeginDrain();
  const SystemClock clock;
  const SteadyTime deadline = clock.Steady() + kDrainTimeout;
  while (!(*server)->drained() && clock.Steady() < deadline &&
         !StopSignal(signals, kSuperviseEvery)) {
    (*server)->Supervise();
  }
  (*server)->Stop();
  return 0;
}

}  // namespace carillon::cli
