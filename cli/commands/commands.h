// Each group of verbs adds itself to the command line.
#pragma once

#include "cli/commands/session.h"

namespace carillon::cli {

void AddJobCommands(CLI::App& app, Session& session);
void AddJobWriteCommands(CLI::App& job, Session& session);  // create, edit
void AddVersionCommands(CLI::App& job, Session& session);   // versions, diff, revert
void AddGapsCommand(CLI::App& job, Session& session);
void AddRunCommands(CLI::App& app, Session& session);
// Below `executor`.
void AddJoinCommands(CLI::App& executor, Session& session);
void AddExecutorCommands(CLI::App& app, Session& session);
void AddAuthCommands(CLI::App& app, Session& session);  // login, logout, whoami
void AddContextCommands(CLI::App& app, Session& session);
void AddNamespaceCommands(CLI::App& app, Session& session);
void AddRoleCommands(CLI::App& app, Session& session);
void AddPasswordCommand(CLI::App& user, Session& session);  // of user
void AddUserCommands(CLI::App& app, Session& session);
void AddTokenCommands(CLI::App& app, Session& session);
void AddSecretCommands(CLI::App& app, Session& session);
void AddSystemCommands(CLI::App& app, Session& session);     // system, api, version, completion
void AddConfigCommands(CLI::App& system, Session& session);  // of system
void AddTopologyCommand(CLI::App& system, Session& session);
void AddImportCommands(CLI::App& app, Session& session);
void AddFileCommands(CLI::App& app, Session& session);  // apply, diff, validate
void AddAuditCommand(CLI::App& app, Session& session);
void AddDeadLetterCommands(CLI::App& app, Session& session);
void AddDeliveryCommands(CLI::App& app, Session& session);  // delivery, notify
void AddBulkCommands(CLI::App& app, Session& session);
void AddExportCommand(CLI::App& app, Session& session);
void AddScheduleCommands(CLI::App& app, Session& session);
void AddServerCommands(CLI::App& app, Session& session);  // standalone, check-config
void AddBackupCommands(CLI::App& app, Session& session);

// Of `--kill`, wherever runs are cancelled.
inline constexpr const char* kKillHelp =
    "Send SIGKILL at once, without the grace period; also to runs that are being cancelled";

// Validator: an empty text, as from a variable that is not set, is not the same as no flag.
std::string NotEmpty(const std::string& text);

// Without echo on a terminal, else a line of standard input.
Outcome<std::string> ReadPassword(Session& session, const std::string& prompt);

// The id of the user with this name, whatever its case. nullopt: there is none.
Outcome<std::optional<std::string>> UserNamed(Session& session, std::string_view name);

// What `run list` and `job history` share: flags, and the listing itself.
struct RunListFlags {
  std::string job_id;
  std::string executor_id;
  // Of run list only.
  std::string user_id;
  std::vector<std::string> namespaces;
  std::string name_part;
  std::vector<std::string> labels;  // "team:etl"
  // Of both.
  std::vector<std::string> states;
  std::vector<std::string> kinds;
  std::string since;
  std::string until;
  std::string sort;
  std::optional<int64_t> limit;
};
void AddRunListFlags(CLI::App* verb, RunListFlags& flags);
Outcome<ExitCode> ListRuns(Session& session, const RunListFlags& flags);

// "/api/jobs/ID" or "/api/jobs/ID/ACTION".
std::string JobPath(const std::string& job_id, const std::string& action = "");
// The ETag of the job at `path`, also when its stored definition cannot be read.
Outcome<std::string> CurrentTag(Session& session, const std::string& path);
// The cron, rate or time of a job in a few characters, for a table.
std::string ScheduleSummary(const nlohmann::json& job);
// One side of a change, a line of `value` each: "  - 60".
void PrintSide(Printer& print, const std::string& sign, const nlohmann::json& value);
void PrintJob(Session& session, const nlohmann::json& job);

}  // namespace carillon::cli
