// The `carillon` command.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/host.h"

namespace carillon::cli {

// Runs one command; returns the exit code of the process (docs/cli.md).
int RunCommandLine(const std::vector<std::string>& arguments, Host& host);

}  // namespace carillon::cli
