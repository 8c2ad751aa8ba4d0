// Commands for the pause of the whole cluster, and the members that do not apply it yet.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddPauseCommands(CLI::App& system, Session& session);

// Treatment of a member, such as an older one, that does not report whether it is paused.
enum class Unknown { kIsFine, kIsBehind };

// Returns the members of GET /api/system/status whose `paused` differs: "scheduler-2, scheduler-3".
std::string MembersBehind(const nlohmann::json& members, bool paused, Unknown unknown);

}  // namespace carillon::cli
