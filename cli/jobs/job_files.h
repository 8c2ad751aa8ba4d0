// Reads jobs from files: YAML or JSON, one or more jobs per file, one or more files.
//
// Errors   Usage errors with file and line. If one file is invalid, no file is used.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

// A job with its position in a file.
struct JobDocument {
  nlohmann::json job;
  std::string file;
  std::map<std::string, int> lines = {};  // the line of each field, by JSON pointer into the job

  int Line(const std::string& pointer = "") const;
  // Returns file and line: "jobs.yaml:12". The line is that of `pointer`. If it is not known, the
  // line of the nearest parent.
  std::string Place(const std::string& pointer = "") const;
};

// Reads the jobs of each name. A name is one of:
// - a file;
// - a directory: its *.yaml, *.yml and *.json files at any depth, sorted by name. Hidden files are
//   skipped;
// - "-": standard input.
// A document is a job, a list of jobs, or {"jobs": [...]}. An empty document is skipped.
Outcome<std::vector<JobDocument>> ReadJobFiles(Session& session,
                                               const std::vector<std::string>& names);

// Returns a job from a GET as a user would write it: without read-only fields and without defaults.
// The schedules are in one form only, `cron_expression` or `schedules`.
nlohmann::json AsWritten(const nlohmann::json& job, bool with_owner);

// Returns the job's id. If the job has no id, its name. If it has no name either, its place.
std::string TitleOf(const JobDocument& document);

}  // namespace carillon::cli
