// Flags for the fields of a job.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/jobs/flags/event_flags.h"
#include "cli/jobs/flags/fan_out_flags.h"
#include "cli/jobs/flags/http_flags.h"
#include "cli/jobs/flags/waits_flags.h"
#include "common/base/result.h"

namespace carillon::cli {

// The values of one command's flags, as typed.
struct JobFlags {
  std::map<std::string, std::string> fields;  // name of the JSON field -> value as typed
  std::vector<std::string> crons;
  std::vector<std::string> rates;
  std::vector<std::string> instants;
  std::vector<std::string> delays;
  // Of every schedule in `crons` and `rates`; empty = not given.
  std::string start_time;
  std::string end_time;
  std::string jitter;
  std::string calendar;
  std::string blackout;
  std::vector<std::string> pauses;    // of fixed-delay schedules
  std::vector<std::string> upstream;  // IDs of the jobs of --after
  std::string outcome;                // of every schedule in `upstream`; empty = not given
  EventFlags events;
  std::string script_file;
  std::string interpreter;
  std::vector<std::string> args;  // of the script or the container
  std::string image;
  std::vector<std::string> entrypoint;
  std::string network;
  std::string pull;
  std::string container_user;
  bool read_only = false;
  std::vector<std::string> limits;
  HttpFlags http;
  FanOutFlags fan_out;
  WaitsFlags waits;
  std::vector<std::string> parameters;
  std::vector<std::string> env;
  std::vector<std::string> labels;
  bool manual = false;
  bool paused = false;

  bool empty() const;
};

void AddJobFlags(CLI::App* verb, JobFlags& flags);

// Applies the flags to `body`. Schedules given by flags replace the schedules of `body`. Entries
// given for a map (parameters, env, labels) are added to the map. kInvalid if a flag does not
// accept its value.
Result<nlohmann::json> ApplyJobFlags(const JobFlags& flags, nlohmann::json body,
                                     FlagsBody form = FlagsBody::kJob);

// Converts "true", "7" and "1.5" to JSON values, and any other text to a string.
nlohmann::json ParameterOf(const std::string& text);

}  // namespace carillon::cli
