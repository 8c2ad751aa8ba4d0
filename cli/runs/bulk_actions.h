// Bulk actions that run in the scheduler: shows, follows and cancels them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/terminal/session.h"

namespace carillon::cli {

// Prints a started action: in table form only its id.
void ShowStarted(Session& session, const nlohmann::json& action);

// Reports the progress on standard error until the last item has a result, then prints the action.
// Exit code kFailure unless every item succeeded. Goes on waiting while a member is unavailable for
// less than kPatience.
Outcome<ExitCode> FollowBulk(Session& session, const std::string& bulk_id);

// True if `id` is that of a bulk action. No run id looks like one, so `bulk cancel` accepts both.
bool IsBulkId(const std::string& id);
Outcome<ExitCode> CancelBulkActions(Session& session, const std::vector<std::string>& ids,
                                    const std::string& reason);

// Adds list, get and items to `bulk`.
void AddBulkActionCommands(CLI::App& bulk, Session& session);

}  // namespace carillon::cli
