// Shell completion: the words that may follow each command, and the scripts that offer them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace carillon::cli {

// Pairs of a command and the words that may follow it, such as "carillon job" and "list get …
// --addr". A command comes after its parent.
using CompletionTable = std::vector<std::pair<std::string, std::string>>;
CompletionTable WordsOf(const CLI::App& app);

std::string BashCompletion(const CompletionTable& table);
std::string ZshCompletion(const CompletionTable& table);
std::string FishCompletion(const CompletionTable& table);

}  // namespace carillon::cli
