// Bulk actions that go on by themselves in the scheduler: shown, followed, cancelled.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

// Prints the action as `body` has it: its id alone in a table.
void ShowStarted(Session& session, const nlohmann::json& action);

// Says on standard error how far it is until its last item has a result, and prints it then. The
// exit code is kFailure unless all was done. A member that is away for less than kPatience does not
// end the wait.
Outcome<ExitCode> FollowBulk(Session& session, const std::string& bulk_id);

// As no run is called, so that `bulk cancel` knows which of the two is meant.
bool IsBulkId(const std::string& id);
Outcome<ExitCode> CancelBulkActions(Session& session, const std::vector<std::string>& ids,
                                    const std::string& reason);

// list, get and items below `bulk`.
void AddBulkActionCommands(CLI::App& bulk, Session& session);

}  // namespace carillon::cli
