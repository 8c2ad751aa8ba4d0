// Files of the command line's user: their directory, and how they are replaced.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"

namespace carillon::cli {

// $XDG_CONFIG_HOME/carillon or ~/.config/carillon; empty if neither variable is set.
std::string UserDirectory(const std::map<std::string, std::string>& environment);
// Creates it with mode 0700 if missing. kUnavailable.
Status MakeUserDirectory(const std::string& directory);
// Replaces the file atomically, with mode 0600, synced on return. kUnavailable.
Status ReplaceUserFile(const std::string& path, const std::string& text);

}  // namespace carillon::cli
