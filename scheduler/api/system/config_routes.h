// GET and PUT /api/system/config: all effective settings, and those set for the whole cluster. Also
// the pause of the whole cluster, which is stored in the same way (docs/adr/0016).
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "common/base/cluster_settings.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply GetConfig(const Call& call);
Reply ChangeConfig(const Call& call);
Reply PauseCluster(const Call& call);
Reply ResumeCluster(const Call& call);

// null: not paused.
nlohmann::json PauseToJson(const std::optional<ClusterPause>& pause);

}  // namespace carillon::scheduler
