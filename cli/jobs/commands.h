// Commands for jobs, their files, versions and schedules, and the functions they share.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddJobCommands(CLI::App& app, Session& session);
void AddJobWriteCommands(CLI::App& job, Session& session);  // create, edit
void AddVersionCommands(CLI::App& job, Session& session);   // versions, diff, revert
void AddNamespaceCommands(CLI::App& app, Session& session);
void AddImportCommands(CLI::App& app, Session& session);
void AddFileCommands(CLI::App& app, Session& session);  // apply, diff, validate
void AddExportCommand(CLI::App& app, Session& session);
void AddScheduleCommands(CLI::App& app, Session& session);

// "/api/jobs/ID" or "/api/jobs/ID/ACTION".
std::string JobPath(const std::string& job_id, const std::string& action = "");
// The ETag of the job at `path`, even if its stored definition is unreadable.
Outcome<std::string> CurrentTag(Session& session, const std::string& path);
// The cron, rate or time of a job in a few characters, for a table.
std::string ScheduleSummary(const nlohmann::json& job);
// Prints one side of a change, a line per line of `value`: "  - 60".
void PrintSide(Printer& print, const std::string& sign, const nlohmann::json& value);
void PrintJob(Session& session, const nlohmann::json& job);

}  // namespace carillon::cli
