// `carillon import crontab`.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddImportCommands(CLI::App& app, Session& session);

}  // namespace carillon::cli
