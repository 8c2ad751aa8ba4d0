// Commands for events: send one, list those that started runs, and test triggers.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddEventCommands(CLI::App& app, Session& session);

}  // namespace carillon::cli
