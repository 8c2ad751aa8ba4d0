// Exit codes of the command line. They are stable, because scripts depend on them. docs/cli.md
// explains each code.
#pragma once

namespace carillon::cli {

enum class ExitCode {
  kDone = 0,
  kFailure = 1,
  kUsage = 2,
  kNotFound = 3,
  kDenied = 4,
  kConflict = 5,
  kUnreachable = 6,
  kRunFailed = 10,
  kRunCancelled = 11,
  kWaitTimedOut = 12,
};

}  // namespace carillon::cli
