// Tells heartbeats that can wait: an executor that holds nothing and has nothing new to tell speaks
// as seldom as the member of a large fleet asks it to. Pure.
#pragma once

#include "common/base/failpoint.h"
#include "common/ports/executor_link.h"

namespace carillon::executor {

// True if no lease depends on this heartbeat.
inline bool HoldsNothing(const Heartbeat& beat) {
  return (beat.claiming.empty() && beat.running.empty() && beat.reporting.empty()) ||
         failpoint::Broken("quiet.with_attempts");
}

// True if `beat` tells the member nothing that `last` has not told. Load and backlog do not count:
// they always change.
inline bool SaysTheSame(const Heartbeat& beat, const Heartbeat& last) {
  return beat.running_count == last.running_count && beat.free_slots == last.free_slots &&
         beat.free_light_slots == last.free_light_slots && beat.slots == last.slots &&
         beat.config_version == last.config_version && beat.features == last.features &&
         beat.handlers == last.handlers && beat.leaving == last.leaving &&
         beat.trouble == last.trouble;
}

}  // namespace carillon::executor
