// Turns this process into a daemon: its own session, no terminal, no descriptors of its parent, and
// a log file as standard output and error.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::executor {

// Returns in the grandchild; the caller's process and its child have exited. `log` is opened for
// appending, and truncated first if it has grown beyond a bound.
Status Daemonize(const std::string& log);

// Gives every signal its default action and blocks none. Async-signal-safe.
void ResetSignals();

}  // namespace carillon::executor
