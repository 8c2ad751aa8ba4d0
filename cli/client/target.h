// The server that the command line talks to, and the credential it uses.
//
// Errors   kInvalid: an address or runtime.json that cannot be used. kUnavailable: a file that was
//          named cannot be read.
// Always   A token found beside a server's data directory goes to that server only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon::cli {

inline constexpr std::string_view kDefaultUrl = "http://127.0.0.1:8640";

struct TargetFlags {
  std::string addresses = {};   // --addr, comma-separated
  std::string token_file = {};  // --token-file
  std::string data_dir = {};    // --data-dir
  std::string context = {};     // --context
  std::string ca_file = {};     // --ca-file
};

struct Target {
  std::vector<std::string> urls;  // tried in this order; without a trailing slash
  std::string token;              // empty = none
  bool token_found = false;       // beside the default data directory, not named by anybody
  std::string ca_file;            // who signs https servers' certificates; empty = the system's
  std::string origin;             // "--addr", "CARILLON_ADDR", a runtime.json, "default"
};

// The server: --addr, --data-dir, --context, CARILLON_CONTEXT, CARILLON_ADDR, the context in use,
// the default data directory, kDefaultUrl. The token: --token-file, that of the data directory or
// the context when the server came from it, CARILLON_TOKEN, CARILLON_TOKEN_FILE. Whom it trusts:
// --ca-file, that of the context when the server came from it, CARILLON_CA_FILE.
Result<Target> FindTarget(const TargetFlags& flags,
                          const std::map<std::string, std::string>& environment);

}  // namespace carillon::cli
