// The answer to an accepted registration, sent again when something in it changes.
#pragma once

#include "common/base/live_settings.h"
#include "common/ports/executor_link.h"
#include "scheduler/handover/cluster_clock.h"

namespace carillon::scheduler {

// How often an executor is to send heartbeats.
struct HeartbeatPace {
  Duration usual = 2s;
  Duration quiet = 2s;  // while it holds nothing and has nothing new to tell
};

inline Registered StandingOf(const ExecutorRecord& record, const LiveSettings& settings,
                             const ClusterClock& cluster, const HeartbeatPace& pace) {
  return {.enabled = record.enabled,
          .draining = record.draining,
          .settings = settings.Current(),
          .cluster_time = cluster.Now(),
          .heartbeat = pace.usual,
          .quiet_heartbeat = pace.quiet,
          .takes_saves = true};
}

}  // namespace carillon::scheduler
