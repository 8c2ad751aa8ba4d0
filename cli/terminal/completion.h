// Completion of the command line in shells: the words that may follow each verb, and the script
// that knows them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace carillon::cli {

// "carillon job": "list get … --addr --output"; a verb after the one it belongs to.
using CompletionTable = std::vector<std::pair<std::string, std::string>>;
CompletionTable WordsOf(const CLI::App& app);

std::string BashCompletion(const CompletionTable& table);
std::string ZshCompletion(const CompletionTable& table);
std::string FishCompletion(const CompletionTable& table);

}  // namespace carillon::cli
