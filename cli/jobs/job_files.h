// Reads jobs from files: YAML or JSON, one or more jobs per file, one or more files.
//
// Errors   Usage errors with file and line. If one file is invalid, none is used.
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
  std::map<std::string, int> lines = {};  // by JSON pointer into the job

  int Line(const std::string& pointer = "") const;
  // "jobs.yaml:12": the line of `pointer`, or of the nearest parent with a known line.
  std::string Place(const std::string& pointer = "") const;
};

// Reads the jobs of each name: a file, a directory (its *.yaml, *.yml and *.json files at any
// depth, sorted by name, without hidden ones), or "-" for standard input. A document is a job, a
// list of jobs, or {"jobs": [...]}; an empty one is skipped.
Outcome<std::vector<JobDocument>> ReadJobFiles(Session& session,
                                               const std::vector<std::string>& names);

// A job from a GET as a user would write it: without read-only fields and defaults, and with its
// schedules in one form only.
nlohmann::json AsWritten(const nlohmann::json& job, bool with_owner);

// The job's id, else its name, else its place.
std::string TitleOf(const JobDocument& document);

}  // namespace carillon::cli
