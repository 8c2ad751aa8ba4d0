// Waiting for runs to end.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

struct WaitOptions {
  std::optional<Duration> longest = {};  // nullopt = as long as it takes
  bool show_output = false;              // the run's output at its end, in table form
};

// Says each change of state on standard error and prints the run when it has ended. The exit code
// is its fate; kWaitTimedOut when `longest` is over first. A member that is away for less than
// kPatience does not end the wait.
Outcome<ExitCode> WaitForRun(Session& session, const std::string& run_id,
                             const WaitOptions& options);

inline constexpr Duration kPatience = 60s;

}  // namespace carillon::cli
