// The command line of a daemon: help, version, the configuration file, and settings as flags.
#pragma once

#include <optional>
#include <string>

#include "common/config/load.h"

namespace carillon::process {

// The configuration file, and settings given as flags.
struct DaemonFlags {
  std::string config_file;
  std::vector<config::Override> overrides;
};

// Returns nullopt if there is nothing to run (--help, --version, or invalid flags). Then
// `exit_code` is the exit code of the process.
std::optional<DaemonFlags> ParseDaemonFlags(const std::string& about, int argc, char** argv,
                                            int& exit_code);

}  // namespace carillon::process
