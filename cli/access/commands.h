// Commands for users, tokens, secrets, contexts and the audit log, and the functions they share.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddAuthCommands(CLI::App& app, Session& session);  // login, logout, whoami
void AddContextCommands(CLI::App& app, Session& session);
void AddRoleCommands(CLI::App& app, Session& session);
void AddPasswordCommand(CLI::App& user, Session& session);  // adds `user password`
void AddUserCommands(CLI::App& app, Session& session);
void AddTokenCommands(CLI::App& app, Session& session);
void AddSecretCommands(CLI::App& app, Session& session);
void AddAuditCommand(CLI::App& app, Session& session);

// Reads a password. If standard input is a terminal, prompts and reads without echo; otherwise
// reads one line.
Outcome<std::string> ReadPassword(Session& session, const std::string& prompt);

// Returns the id of the user with this name. The case of the name does not matter. nullopt if there
// is no such user.
Outcome<std::optional<std::string>> UserNamed(Session& session, std::string_view name);

}  // namespace carillon::cli
