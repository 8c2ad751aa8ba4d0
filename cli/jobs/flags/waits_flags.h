// Flags for the jobs whose runs those of a job wait for.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/jobs/flags/flag_values.h"
#include "common/base/result.h"

namespace carillon::cli {

// The values as typed; empty = not given.
struct WaitsFlags {
  std::vector<std::string> waits_for;  // "load-orders,on=done,day=-1"; or "none" alone
  std::string limit;

  bool empty() const { return waits_for.empty() && limit.empty(); }
};

void AddWaitsFlags(CLI::App* verb, WaitsFlags& flags);

// The entries replace those of the body. "none" removes them, and their limit.
Status ApplyWaitsFlags(const WaitsFlags& flags, FlagsBody form, nlohmann::json& body);

}  // namespace carillon::cli
