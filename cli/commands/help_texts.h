// The layout of the help: groups of commands, and examples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace carillon::cli {

// Sorts the commands of `app` into the groups that its help shows.
void GroupCommands(CLI::App& app);

// The examples in the help of a command; empty if it has none. `path` is "job run", or empty for
// the program itself.
std::string ExamplesOf(std::string_view path);

}  // namespace carillon::cli
