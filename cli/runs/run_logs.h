// `carillon run logs`: shows the log of a run. With --follow shows it while it is written.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

// Flags of `run logs`.
struct LogFlags {
  std::string run_id;
  int attempt = 0;   // 0 = the last attempt; --follow then continues with retries
  int64_t tail = 0;  // number of last entries to show; 0 = all
  std::string stream = "all";
  std::string since;   // empty = from the beginning
  int64_t shard = -1;  // of a run that fans out; -1 = the run itself
  std::string node;    // of a workflow run; empty = the run itself, or those that have failed
  bool follow = false;
  bool times = false;
};

void AddLogFlags(CLI::App* verb, LogFlags& flags);
// --follow continues while no server answers, for at most kPatience.
Outcome<ExitCode> ShowLogs(Session& session, const LogFlags& flags);

}  // namespace carillon::cli
