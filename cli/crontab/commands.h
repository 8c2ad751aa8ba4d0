// `carillon import`.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddImportCommands(CLI::App& app, Session& session);
// The kinds other than crontab, below `import`.
void AddSchedulerImports(CLI::App& import, Session& session);

}  // namespace carillon::cli
