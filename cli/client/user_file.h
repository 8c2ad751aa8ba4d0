// Files that the command line keeps for its user: their directory, and their replacement.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"

namespace carillon::cli {

// $XDG_CONFIG_HOME/carillon or ~/.config/carillon; empty if neither variable is set.
std::string UserDirectory(const std::map<std::string, std::string>& environment);
// Creates the directory with mode 0700 if it is missing. kUnavailable if that fails.
Status MakeUserDirectory(const std::string& directory);
// Replaces the file atomically, with mode 0600. On return the new file is on the disk. kUnavailable
// if that fails.
Status ReplaceUserFile(const std::string& path, const std::string& text);

}  // namespace carillon::cli
