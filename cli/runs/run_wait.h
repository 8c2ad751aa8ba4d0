// Waits for runs to end.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

struct WaitOptions {
  std::optional<Duration> longest = {};  // nullopt = no limit
  bool show_output = false;              // print the run's output at the end; only in table form
};

// Reports each change of state on standard error. When the run has ended, prints it. The exit code
// is the run's result, or kWaitTimedOut if the run has not ended within `longest`. The wait
// continues while no member answers, for at most kPatience.
Outcome<ExitCode> WaitForRun(Session& session, const std::string& run_id,
                             const WaitOptions& options);

inline constexpr Duration kPatience = 60s;

}  // namespace carillon::cli
