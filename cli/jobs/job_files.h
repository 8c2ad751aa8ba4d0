// Jobs as people keep them in files: YAML or JSON, one or many in a file, one or many files.
//
// Errors   As usage, with file and line; nothing is taken of files of which one cannot be read.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

struct JobDocument {
  nlohmann::json job;
  std::string file;
  std::map<std::string, int> lines = {};  // by JSON pointer into the job

  int Line(const std::string& pointer = "") const;
  // "jobs.yaml:12", where `pointer` or what it is in stands.
  std::string Place(const std::string& pointer = "") const;
};

// The jobs of files, of the *.yaml, *.yml and *.json files in and below directories (in the order
// of their names, without hidden ones), and of standard input ("-"). A document is a job, a list of
// jobs, or {"jobs": [...]}; an empty one is nothing.
Outcome<std::vector<JobDocument>> ReadJobFiles(Session& session,
                                               const std::vector<std::string>& names);

// What a person would write of a job that a GET showed: no field that is only read or that has its
// default, one view of its schedules.
nlohmann::json AsWritten(const nlohmann::json& job, bool with_owner);

// "nightly-backup", else its name, else where it stands.
std::string TitleOf(const JobDocument& document);

}  // namespace carillon::cli
