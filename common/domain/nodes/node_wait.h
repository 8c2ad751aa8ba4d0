// Nodes that wait for a time. Pure. The run of an open one is PENDING with the due time kTimed
// (run.h), and ends COMPLETED.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

// When a wait that opens at `now` ends. `until` is the first such local time at or after the fire,
// `day` days later, in `zone`; a time in a gap of the zone is the first instant after the gap, a
// repeated one its first. kInvalid: the parameter that it names is missing or no time.
Result<WallTime> EndOfWait(const NodeWait& wait, WallTime fire, std::string_view zone,
                           const std::map<std::string, ParameterValue>& parameters, WallTime now);

// Checks the text of `until`: "HH:MM", "HH:MM:SS", or one {{workflow.parameters.NAME}} alone.
Status CheckUntil(std::string_view until);

}  // namespace carillon
