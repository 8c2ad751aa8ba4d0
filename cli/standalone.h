// `carillon standalone`: a member of the scheduler,
// an executor and a private database in one process.
#pragma once

#include <string>
#include <vector>

#include "common/config/load.h"

namespace carillon::cli {

struct StandaloneOptions {
  std::string config_file = {};                  // empty = none
  std::vector<config::Override> overrides = {};  // flags: data_dir, rest.port, …
};

// Runs until SIGTERM or SIGINT. Returns the process's exit code.
int RunStandalone(const StandaloneOptions& options);

}  // namespace carillon::cli
