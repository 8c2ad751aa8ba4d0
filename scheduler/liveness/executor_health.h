// Derives the health of an executor from how long it has been silent. Pure.
#pragma once

#include "common/base/time.h"
#include "common/ports/store/executor_store.h"

namespace carillon::scheduler {

struct HealthRules {
  Duration heartbeat = 2s;
  int missed_until_unhealthy = 3;
  Duration lost_after = 10s;
};

// `silence` is the time since the last message of the executor. By default an executor is unhealthy
// after three missed heartbeats, and lost after 10 s.
constexpr ExecutorState HealthOf(Duration silence, const HealthRules& rules) {
  if (silence >= rules.lost_after) return ExecutorState::kLost;
  if (silence > rules.heartbeat * rules.missed_until_unhealthy) return ExecutorState::kUnhealthy;
  return ExecutorState::kOnline;
}

}  // namespace carillon::scheduler
