#include "common/ports/events/event_store.h"

#include <array>

namespace carillon {
namespace {

constexpr std::array kOutcomes{EventOutcome::kStarted, EventOutcome::kGap, EventOutcome::kRefused};

}  // namespace

std::string_view Name(EventOutcome outcome) {
  switch (outcome) {
    case EventOutcome::kStarted: return "started";
    case EventOutcome::kGap: return "gap";
    case EventOutcome::kRefused: return "refused";
  }
  return "";
}

Result<EventOutcome> ParseEventOutcome(std::string_view text) {
  for (const EventOutcome outcome : kOutcomes) {
    if (Name(outcome) == text) return outcome;
  }
  return {ErrorCode::kInvalid, "must be started, gap or refused"};
}

}  // namespace carillon
