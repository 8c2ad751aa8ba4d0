// Counts accepted events for carillon_events_total, by the door through which they came.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/metrics/metrics.h"
#include "common/ports/events/event_store.h"

namespace carillon::scheduler {

inline constexpr std::string_view kApiDoor = "api";
inline constexpr std::string_view kTopicDoor = "topic";

// "started", "gap", "duplicate" or "no_match". An event with a run and a gap has started.
std::string_view StatusOf(const EventEffect& effect);

// Also counts filters that had no answer.
void CountEffects(Metrics& metrics, std::string_view door, const std::vector<EventEffect>& effects);

}  // namespace carillon::scheduler
