// Commands for users, tokens, secrets, contexts and the audit log, and the functions they share.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddAuthCommands(CLI::App& app, Session& session);  // login, logout, whoami
void AddContextCommands(CLI::App& app, Session& session);
void AddRoleCommands(CLI::App& app, Session& session);
void AddPasswordCommand(CLI::App& user, Session& session);  // added to user
void AddUserCommands(CLI::App& app, Session& session);
void AddTokenCommands(CLI::App& app, Session& session);
void AddSecretCommands(CLI::App& app, Session& session);
void AddAuditCommand(CLI::App& app, Session& session);

// Reads a password: without echo from a terminal, else one line of standard input.
Outcome<std::string> ReadPassword(Session& session, const std::string& prompt);

// Returns the id of the user with this name, case-insensitive; nullopt if there is none.
Outcome<std::optional<std::string>> UserNamed(Session& session, std::string_view name);

}  // namespace carillon::cli
