// The flags of a daemon; all else is a setting.
#pragma once

#include <optional>
#include <string>

#include "common/config/load.h"

namespace carillon::process {

struct DaemonFlags {
  std::string config_file;
  std::vector<config::Override> overrides;
};

// nullopt: nothing to run (--help, --version, or wrong flags); `exit_code` is then the process's.
std::optional<DaemonFlags> ParseDaemonFlags(const std::string& about, int argc, char** argv,
                                            int& exit_code);

}  // namespace carillon::process
