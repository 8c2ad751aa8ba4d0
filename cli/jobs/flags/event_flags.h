// Flags for the events that start runs of a job.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace carillon::cli {

// The values as typed: "order.*,source=shop,filter=data.amount > 9".
struct EventFlags {
  std::vector<std::string> events;

  bool empty() const { return events.empty(); }
};

// Returns the flag, which other flags may exclude.
CLI::Option* AddEventFlags(CLI::App* verb, EventFlags& flags);

// Adds a schedule for each of them.
Status AddEventSchedules(const EventFlags& flags, nlohmann::json& schedules);

}  // namespace carillon::cli
