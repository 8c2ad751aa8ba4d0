// The interpreters of scripts that this host has.
//
// Threads  Stateless.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/domain/job/script.h"

namespace carillon::executor {

// The absolute path of each interpreter that was found.
using Interpreters = std::map<Interpreter, std::string>;

// The absolute path of a program in the directories of `path`; empty: there is none.
std::string FindProgram(std::string_view path, std::string_view name);
bool IsProgram(const std::string& path);
// Looks in the directories of `path` ("/usr/bin:/bin"), in their order.
Interpreters FindInterpreters(std::string_view path);
// The features of a host with these interpreters.
Features FeaturesOf(const Interpreters& interpreters);

}  // namespace carillon::executor
