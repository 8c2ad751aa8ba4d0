// The environment of a process: its variables, and the home directory in paths.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace carillon::config {

// The environment of this process.
std::map<std::string, std::string> ProcessEnvironment();

// Replaces a leading "~" by `home`; other paths are unchanged.
std::string ExpandHome(std::string_view path, std::string_view home);

}  // namespace carillon::config
