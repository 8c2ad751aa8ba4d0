// `carillon run logs`: the log of a run, whole or while it is written.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

struct LogFlags {
  std::string run_id;
  int attempt = 0;   // 0 = the last one; followed through its retries
  int64_t tail = 0;  // entries; 0 = all
  std::string stream = "all";
  std::string since;  // empty = from the beginning
  bool follow = false;
  bool times = false;
};

void AddLogFlags(CLI::App* verb, LogFlags& flags);
// While following, servers that are away for less than kPatience do not end it.
Outcome<ExitCode> ShowLogs(Session& session, const LogFlags& flags);

}  // namespace carillon::cli
