// Commands that pause and resume the whole cluster, and the list of members that have not applied
// it yet.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddPauseCommands(CLI::App& system, Session& session);

// Treatment of a member that does not report whether it is paused. Older versions do not report it.
enum class Unknown { kIsFine, kIsBehind };

// Returns the ids of the members whose field `paused` differs from `paused`: "scheduler-2,
// scheduler-3". `members` is the list in the response to GET /api/system/status.
std::string MembersBehind(const nlohmann::json& members, bool paused, Unknown unknown);

}  // namespace carillon::cli
