// The life of a daemon, from its configuration to its exit code.
//
// Threads  RunDaemon's thread calls everything of the Daemon.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/config/load.h"

namespace carillon::process {

class Daemon {
 public:
  virtual ~Daemon() = default;
  // One line for the person who started it.
  virtual std::string ReadyText() const = 0;
  // Called several times a second while it runs. An error ends the process.
  virtual Status Supervise() = 0;
  // SIGHUP came: true when there were files to look at anew.
  virtual bool Reload() { return false; }
  // Nothing new is begun; called once.
  virtual void BeginDrain() = 0;
  // Nothing is under way any more.
  virtual bool drained() const = 0;
  // Ends the parts in order.
  virtual void Stop() = 0;
};

// Asked while something is waited for: true when the process was told to stop.
using Interrupted = std::function<bool()>;
using StartDaemon =
    std::function<Result<std::unique_ptr<Daemon>>(const config::Config&, const Interrupted&)>;

// Whether a person started this process at a terminal, which ends it when it goes away.
bool AtTerminal();

// Runs until SIGTERM or SIGINT, `at_terminal` also until SIGHUP, which otherwise only reloads; what
// is under way then has 10 s to end, or until a second signal. Returns the exit code: 0 told to
// stop, 1 a part failed, 2 the configuration is wrong (kInvalid of `start`).
int RunDaemon(const std::string& name, const config::LoadRequest& request, const StartDaemon& start,
              bool at_terminal = AtTerminal());

// What a part that waits answers when the process was told to stop.
Error ToldToStop();

}  // namespace carillon::process
