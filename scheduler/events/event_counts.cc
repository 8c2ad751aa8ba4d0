#include "scheduler/events/event_counts.h"

#include <algorithm>

namespace carillon::scheduler {

std::string_view StatusOf(const EventEffect& effect) {
  if (effect.duplicate) return "duplicate";
  if (effect.starts.empty()) return "no_match";
  const bool started = std::ranges::any_of(
      effect.starts, [](const EventStart& start) { return start.run.has_value(); });
  return started ? "started" : "gap";
}

void CountEffects(Metrics& metrics, std::string_view door,
                  const std::vector<EventEffect>& effects) {
  uint64_t unanswered = 0;
  for (const EventEffect& effect : effects) {
    metrics.counter("carillon_events_total", LabelValues({door, StatusOf(effect)})).Add();
    unanswered += static_cast<uint64_t>(effect.not_computable);
  }
  if (unanswered > 0) metrics.counter("carillon_event_filters_failed_total").Add(unanswered);
}

}  // namespace carillon::scheduler
