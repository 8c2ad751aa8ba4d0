// Shows, follows and cancels bulk actions that run in the background, in the scheduler.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

// Prints an action that was just started. In table form only the action's id is printed.
void ShowStarted(Session& session, const nlohmann::json& action);

// Reports the progress on standard error until the last item has a result. Then prints the action.
// Exit code kFailure unless every item succeeded. The wait ends with an error if no member answers
// for kPatience.
Outcome<ExitCode> FollowBulk(Session& session, const std::string& bulk_id);

// True if `id` is the id of a bulk action. `bulk cancel` accepts ids of runs and of bulk actions,
// because no run id has the form of a bulk action's id.
bool IsBulkId(const std::string& id);
Outcome<ExitCode> CancelBulkActions(Session& session, const std::vector<std::string>& ids,
                                    const std::string& reason);

// Adds list, get and items to `bulk`.
void AddBulkActionCommands(CLI::App& bulk, Session& session);

}  // namespace carillon::cli
