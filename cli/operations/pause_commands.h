// The pause of the whole cluster, and which members have not taken it over.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal/session.h"

namespace carillon::cli {

void AddPauseCommands(CLI::App& system, Session& session);

// A member that does not tell, such as an older one: is it one of them?
enum class Unknown { kIsFine, kIsBehind };

// "scheduler-2, scheduler-3": those of GET /api/system/status whose `paused` is not this.
std::string MembersBehind(const nlohmann::json& members, bool paused, Unknown unknown);

}  // namespace carillon::cli
