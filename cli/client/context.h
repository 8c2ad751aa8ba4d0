// Named servers that somebody works with, in a file of his own: which addresses, which token file.
//
// Errors   kInvalid: there is no home for the file, it cannot be read, or there is no such context.
//          kUnavailable: it cannot be written.
// Always   The file is 0600 in a directory made 0700, and replaced as a whole.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/result.h"

namespace carillon::cli {

struct Context {
  std::string addresses;        // comma-separated
  std::string token_file = {};  // empty = the session of `carillon login`, or the environment's
  std::string ca_file = {};     // empty = the system's
};

struct Contexts {
  std::string current = {};  // empty = none
  std::map<std::string, Context> by_name = {};
};

Result<Contexts> ReadContexts(const std::map<std::string, std::string>& environment);
Status WriteContexts(const std::map<std::string, std::string>& environment,
                     const Contexts& contexts);

// [A-Za-z0-9][A-Za-z0-9_.-]{0,62}
Status ValidateContextName(const std::string& name);

// The one that `name` or CARILLON_CONTEXT names, with its name; nullopt: neither does.
using NamedContext = std::pair<std::string, Context>;
Result<std::optional<NamedContext>> FindNamedContext(
    const std::string& name, const std::map<std::string, std::string>& environment);
// The one in use; nullopt: none is.
Result<std::optional<NamedContext>> FindCurrentContext(
    const std::map<std::string, std::string>& environment);

}  // namespace carillon::cli
