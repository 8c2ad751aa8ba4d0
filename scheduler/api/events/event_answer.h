// Effects of events, those that they had and those that they would have, in the terms of the API.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "common/ports/events/event_store.h"

namespace carillon::scheduler {

// {id, source, status, starts}; the status is started, duplicate, no_match or gap.
nlohmann::json EffectToJson(const EventOrigin& origin, const EventEffect& effect);

nlohmann::json EventRecordToJson(const EventRecord& record);

// The effect that an event would have on a trigger: {result, sentence, parameters, untrusted}. The
// result is matched, no_match, not_computable or bad_event.
nlohmann::json VerdictOn(const EventFilter& filter, const JobDefinition& job,
                         const ScheduleSpec& spec, const Event& event, WallTime now);

}  // namespace carillon::scheduler
