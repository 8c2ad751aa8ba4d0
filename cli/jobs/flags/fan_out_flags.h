// Flags for the parts of a job's runs.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/jobs/flags/flag_values.h"
#include "common/base/result.h"

namespace carillon::cli {

// The values as typed; empty = not given.
struct FanOutFlags {
  std::string shards;
  std::string broadcast;

  bool empty() const { return shards.empty() && broadcast.empty(); }
};

void AddFanOutFlags(CLI::App* verb, FanOutFlags& flags);

// One of `shards` and `broadcast` of the body is replaced, and the other one removed.
Status ApplyFanOutFlags(const FanOutFlags& flags, FlagsBody form, nlohmann::json& body);

}  // namespace carillon::cli
