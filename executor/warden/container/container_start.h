// The record of a container from the start of its attempt, and the result from its end. Pure, except for the environment
// of this process, some of which the engine's command line needs.
#pragma once

#include "executor/warden/container/container_record.h"

namespace carillon::executor {

// The variables that stay in `start` are those of the driver, which gives them to the engine's command line by name. The
// others, which would change what these two do, are removed from it and stand in the record.
ContainerRecord TakeRecord(StartAttempt& start, const std::string& warden_id, const std::string& control_directory);

// The result without times, output and outputs.
AttemptResult ResultOf(const ContainerEnd& end, const std::optional<Limits>& limits);

}  // namespace carillon::executor
