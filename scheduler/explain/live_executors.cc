#include "scheduler/explain/live_executors.h"

#include <utility>

namespace carillon::scheduler {

LiveExecutors::LiveExecutors(const ClusterView& view) {
  for (const ExecutorRecord& heard : view.executors) heard_.emplace(heard.id, heard);
}

ExecutorRecord LiveExecutors::Latest(ExecutorRecord stored) const {
  const auto heard = heard_.find(stored.id);
  if (heard == heard_.end() || heard->second.incarnation != stored.incarnation) return stored;
  // The store does not have these fields.
  stored.breaker = heard->second.breaker;
  stored.claims_nothing = heard->second.claims_nothing;
  stored.config_version = heard->second.config_version;
  stored.tasks_behind = heard->second.tasks_behind;
  stored.features = heard->second.features;
  stored.handlers = heard->second.handlers;
  stored.checks = heard->second.checks;
  if (heard->second.last_heartbeat <= stored.last_heartbeat) return stored;
  stored.state = heard->second.state;
  stored.slots = heard->second.slots;
  stored.running = heard->second.running;
  stored.load = heard->second.load;
  stored.last_heartbeat = heard->second.last_heartbeat;
  return stored;
}

}  // namespace carillon::scheduler
