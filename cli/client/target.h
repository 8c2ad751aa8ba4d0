// The server that the command line talks to, and the token for it.
//
// Errors   kInvalid: an unusable address or runtime.json. kUnavailable: a given file cannot
//          be read.
// Always   A token found beside a server's data directory is sent to that server only.
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
  bool token_found = false;       // the default data directory has it, the user did not name it
  std::string ca_file;            // CAs trusted for https; empty = the system's
  std::string origin;             // source of the server: "--addr", the runtime.json, "default"
};

// Chooses the server, the token and the CA file. Each comes from the first of its sources
// that is given:
//   server   --addr, --data-dir, --context, CARILLON_CONTEXT, CARILLON_ADDR, the default context,
//            the default data directory, kDefaultUrl
//   token    --token-file, the data directory or context that named the server, CARILLON_TOKEN,
//            CARILLON_TOKEN_FILE
//   CA file  --ca-file, the context that named the server, CARILLON_CA_FILE
Result<Target> FindTarget(const TargetFlags& flags,
                          const std::map<std::string, std::string>& environment);

}  // namespace carillon::cli
