// Contexts: named servers, each with its addresses, token file and CA file. They are stored in a
// file of the user.
//
// Errors   kInvalid: no home directory for the file, an unreadable file, or an unknown context.
//          kUnavailable: the file cannot be written.
// Always   The file has mode 0600, in a directory made with 0700, and is replaced atomically.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/result.h"

namespace carillon::cli {

struct Context {
  std::string addresses;        // comma-separated
  std::string token_file = {};  // empty = the session of `carillon login`, or a variable
  std::string ca_file = {};     // empty = the system's CAs
};

struct Contexts {
  std::string current = {};  // name of the default context; empty = none
  std::map<std::string, Context> by_name = {};
};

Result<Contexts> ReadContexts(const std::map<std::string, std::string>& environment);
Status WriteContexts(const std::map<std::string, std::string>& environment,
                     const Contexts& contexts);

// kInvalid unless the name matches [A-Za-z0-9][A-Za-z0-9_.-]{0,62}.
Status ValidateContextName(const std::string& name);

// Returns the context called `name`, or, if `name` is empty, the context that the variable
// CARILLON_CONTEXT gives. nullopt if both are empty or absent.
using NamedContext = std::pair<std::string, Context>;
Result<std::optional<NamedContext>> FindNamedContext(
    const std::string& name, const std::map<std::string, std::string>& environment);
// Returns the default context; nullopt if there is none.
Result<std::optional<NamedContext>> FindCurrentContext(
    const std::map<std::string, std::string>& environment);

}  // namespace carillon::cli
