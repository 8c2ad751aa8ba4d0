// Files of the user of the command line: where they are, and how they are replaced.
#pragma once

#include <map>
#include <string>

#include "common/base/result.h"

namespace carillon::cli {

// $XDG_CONFIG_HOME/carillon or ~/.config/carillon; empty when neither variable is set.
std::string UserDirectory(const std::map<std::string, std::string>& environment);
// Makes it, 0700, when it is not there. kUnavailable.
Status MakeUserDirectory(const std::string& directory);
// As a whole or not at all, 0600, on the disk when it returns. kUnavailable.
Status ReplaceUserFile(const std::string& path, const std::string& text);

}  // namespace carillon::cli
