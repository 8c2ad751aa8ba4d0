// The layout of the help: groups of commands, and examples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace carillon::cli {

// Assigns each command of `app` to a group of the help.
void GroupCommands(CLI::App& app);

// Returns the examples for the help of a command; empty if the command has none. `path` is the
// command, such as "job run". An empty `path` means the program itself.
std::string ExamplesOf(std::string_view path);

}  // namespace carillon::cli
