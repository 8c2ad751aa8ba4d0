// Commands for runs, bulk actions, dead letters and notifications, and the types they share.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddRunCommands(CLI::App& app, Session& session);
void AddNodeCommands(CLI::App& run, Session& session);        // nodes, skip
void AddShardCommands(CLI::App& run, Session& session);       // shards
void AddOutputCommand(CLI::App& app, Session& session);       // inside a run, without a server
void AddCheckpointCommands(CLI::App& app, Session& session);  // likewise
void AddGapsCommand(CLI::App& job, Session& session);
void AddDeadLetterCommands(CLI::App& app, Session& session);
void AddDeliveryCommands(CLI::App& app, Session& session);  // adds `delivery` and `notify`
void AddBulkCommands(CLI::App& app, Session& session);

// The help of the flag --kill, which every command that cancels runs has.
inline constexpr const char* kKillHelp =
    "Send SIGKILL at once, without the grace period; also to runs that are being cancelled";

// The flags that `run list` and `job history` share.
struct RunListFlags {
  std::string job_id;
  std::string executor_id;
  // Flags that only `run list` has.
  std::string user_id;
  std::vector<std::string> namespaces;
  std::string name_part;
  std::vector<std::string> labels;  // each "name:value", such as "team:etl"
  // Flags that both commands have.
  std::vector<std::string> states;
  std::vector<std::string> kinds;
  std::string waiting;  // code of what they wait for
  bool parts = false;
  std::string since;
  std::string until;
  std::string sort;
  std::optional<int64_t> limit;
};
void AddRunListFlags(CLI::App* verb, RunListFlags& flags);
Outcome<ExitCode> ListRuns(Session& session, const RunListFlags& flags);

}  // namespace carillon::cli
