// Starts carillon-warden as a daemon detached from this process.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::executor {

// "carillon-warden" beside this process's own executable.
std::string DefaultWardenExecutable();

// The command line of a warden; it exits after being idle for `idle_exit`.
struct WardenCommand {
  std::string executable;
  std::string directory;
  std::string run_directory = {};  // of attempts of other users; empty: there are none
  uint64_t open_files = 0;         // soft limit of commands; 0: that of this process
  Duration idle_exit = 60s;
};
// Returns once the warden has detached; the warden listens a few milliseconds later. Harmless while
// another warden runs. kUnavailable: the warden could not be executed.
Status LaunchWarden(const WardenCommand& command);

}  // namespace carillon::executor
