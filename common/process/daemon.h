// The life of a daemon, from its configuration to its exit code.
//
// Threads  All methods of the Daemon run on RunDaemon's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/config/load.h"

namespace carillon::process {

class Daemon {
 public:
  virtual ~Daemon() = default;
  // One line for the user who started it.
  virtual std::string ReadyText() const = 0;
  // Called several times a second while the daemon runs. An error ends the process.
  virtual Status Supervise() = 0;
  // Called on SIGHUP: starts reading certificate files again. False if there are none.
  virtual bool Reload() { return false; }
  // Stops accepting new work; called once.
  virtual void BeginDrain() = 0;
  // True once nothing is in progress.
  virtual bool drained() const = 0;
  // Stops all parts of the daemon.
  virtual void Stop() = 0;
};

// Called repeatedly during waits; true if the process has received a signal to stop.
using Interrupted = std::function<bool()>;
using StartDaemon =
    std::function<Result<std::unique_ptr<Daemon>>(const config::Config&, const Interrupted&)>;

// True if a user started this process at a terminal. Such a process ends when the terminal closes.
bool AtTerminal();

// Runs until SIGTERM or SIGINT. With `at_terminal`, SIGHUP also ends the daemon; otherwise SIGHUP
// only calls Reload. After the signal, work in progress has 10 s to finish; a second signal ends
// this wait. Returns the exit code:
// - 0 after a signal;
// - 1 if a part failed;
// - 2 if the configuration is invalid (`start` returned kInvalid).
int RunDaemon(const std::string& name, const config::LoadRequest& request, const StartDaemon& start,
              bool at_terminal = AtTerminal());

// The error to return from a wait that ends because the process has received a signal to stop.
Error InterruptedError();

}  // namespace carillon::process
