// A job's fields as flags.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace carillon::cli {

struct JobFlags {
  std::map<std::string, std::string> fields;  // JSON name -> as typed
  std::vector<std::string> crons;
  std::vector<std::string> rates;
  std::vector<std::string> instants;
  std::vector<std::string> parameters;
  std::vector<std::string> env;
  std::vector<std::string> labels;
  bool manual = false;
  bool paused = false;

  bool empty() const;
};

void AddJobFlags(CLI::App* verb, JobFlags& flags);

// `body` with what the flags say. Schedules given by flags replace those of `body`; entries of maps
// are added. kInvalid: a value that is not what its flag takes.
Result<nlohmann::json> ApplyJobFlags(const JobFlags& flags, nlohmann::json body);

// "true", "7" and "1.5" as JSON values, everything else as text.
nlohmann::json ParameterOf(const std::string& text);

}  // namespace carillon::cli
