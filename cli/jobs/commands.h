// Commands for jobs, their files, versions and schedules, and the functions they share.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddJobCommands(CLI::App& app, Session& session);
void AddJobWriteCommands(CLI::App& job, Session& session);  // create, edit
void AddVersionCommands(CLI::App& job, Session& session);   // versions, diff, revert
void AddQueueCommand(CLI::App& job, Session& session);
void AddDependenciesCommand(CLI::App& job, Session& session);
void AddJobBackfillCommand(CLI::App& job, Session& session);
void AddBackfillCommands(CLI::App& app, Session& session);
void AddNamespaceCommands(CLI::App& app, Session& session);
void AddFileCommands(CLI::App& app, Session& session);  // apply, diff, validate
void AddExportCommand(CLI::App& app, Session& session);
void AddScheduleCommands(CLI::App& app, Session& session);

// Returns "/api/jobs/ID", or "/api/jobs/ID/ACTION".
std::string JobPath(const std::string& job_id, const std::string& action = "");
// Returns the ETag of the job at `path`, even if the job's stored definition is unreadable.
Outcome<std::string> CurrentTag(Session& session, const std::string& path);
// Returns the schedules of a job in a few characters, for a table.
std::string ScheduleSummary(const nlohmann::json& job);
// Prints the old or the new value of a change. Each line of `value` becomes one line: "  - 60".
void PrintSide(Printer& print, const std::string& sign, const nlohmann::json& value);
void PrintJob(Session& session, const nlohmann::json& job);
// Says the warnings about schedules of an answer, each after `place` ("jobs.yaml:3: ").
void SayWarnings(Session& session, const nlohmann::json& answer, const std::string& place = "");

}  // namespace carillon::cli
