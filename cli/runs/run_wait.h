// Waits for runs to end.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

struct WaitOptions {
  std::optional<Duration> longest = {};  // nullopt = no limit
  bool show_output = false;              // prints the run's output at its end; in table form only
};

// Reports each change of state on standard error, and prints the run when it has ended. The exit
// code is its result; kWaitTimedOut if `longest` passes first. A member unavailable for less than
// kPatience does not end the wait.
Outcome<ExitCode> WaitForRun(Session& session, const std::string& run_id,
                             const WaitOptions& options);

inline constexpr Duration kPatience = 60s;

}  // namespace carillon::cli
