// The programs of this host that processes find: the interpreters of scripts, and `carillon`.
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
// Lets processes find the command `carillon` in this directory: at the end of their PATH, and by
// CARILLON_BIN, also with a PATH of their own. Changes nothing if it is not there.
void OfferCommand(const std::string& directory, std::map<std::string, std::string>& env);
// The features of a host with these interpreters.
Features FeaturesOf(const Interpreters& interpreters);

}  // namespace carillon::executor
