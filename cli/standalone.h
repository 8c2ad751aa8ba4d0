// `carillon standalone`: a scheduler member, an executor and a private database in one process.
#pragma once

#include <string>
#include <vector>

#include "common/config/load.h"

namespace carillon::cli {

struct StandaloneOptions {
  std::string config_file = {};                  // empty = no file
  std::vector<config::Override> overrides = {};  // settings given by flags, e.g. rest.port
};

// Runs until SIGTERM or SIGINT. Returns the exit code of the process.
int RunStandalone(const StandaloneOptions& options);

}  // namespace carillon::cli
