// Handlers of /api/system/config and of the pause of the whole cluster. The first show
// all effective settings and change the live settings. The pause is stored like a live
// setting (docs/adr/0016).
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

// null if the cluster is not paused.
nlohmann::json PauseToJson(const std::optional<ClusterPause>& pause);

}  // namespace carillon::scheduler
