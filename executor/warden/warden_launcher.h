// Starts carillon-warden, which then belongs to nobody.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::executor {

// "carillon-warden" beside this process's own executable.
std::string DefaultWardenExecutable();

struct WardenCommand {
  std::string executable;
  std::string directory;
  Duration idle_exit = 60s;
};
// Returns when the process was handed over; it listens a few milliseconds later. Harmless while
// another one runs. kUnavailable: it could not be executed.
Status LaunchWarden(const WardenCommand& command);

}  // namespace carillon::executor
