// Flags for the fields of a job.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace carillon::cli {

// The values of the flags of one command, unparsed.
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

// Applies the flags to `body`. Schedules given by flags replace those of `body`; map entries are
// added. kInvalid: a value that its flag does not accept.
Result<nlohmann::json> ApplyJobFlags(const JobFlags& flags, nlohmann::json body);

// Converts "true", "7" and "1.5" to JSON values, and any other text to a string.
nlohmann::json ParameterOf(const std::string& text);

}  // namespace carillon::cli
