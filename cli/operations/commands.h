// Commands for executors, groups, calendars, the system, servers and backups.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

// Adds the subcommands authority and join-token to `executor`.
void AddJoinCommands(CLI::App& executor, Session& session);
void AddHandlerCommands(CLI::App& app, Session& session);
void AddExecutorCommands(CLI::App& app, Session& session);
void AddGroupCommands(CLI::App& app, Session& session);
void AddCalendarCommands(CLI::App& app, Session& session);
void AddSystemCommands(CLI::App& app, Session& session);     // system, api, version, completion
void AddConfigCommands(CLI::App& system, Session& session);  // adds `system config`
void AddTopologyCommand(CLI::App& system, Session& session);
void AddUpgradeCommands(CLI::App& system, Session& session);
void AddServerCommands(CLI::App& app, Session& session);  // standalone, check-config
void AddBackupCommands(CLI::App& app, Session& session);

// Prints all items of a list that accepts no page size.
Outcome<ExitCode> PrintAll(Session& session, const std::string& path, const View& view);

}  // namespace carillon::cli
