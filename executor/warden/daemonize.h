// Turns this process into one that belongs to nobody: its own session, no terminal, no descriptors
// of its parent, a log file for its words.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::executor {

// Returns in the grandchild; the caller's process and its child are gone. `log` is opened for
// appending, and started anew when it has grown beyond a bound.
Status Daemonize(const std::string& log);

}  // namespace carillon::executor
