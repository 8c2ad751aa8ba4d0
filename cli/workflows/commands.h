// Commands for workflows: their list, their graph, and a check of their files.
#pragma once

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddWorkflowCommands(CLI::App& app, Session& session);

}  // namespace carillon::cli
