// Finds the parameters that become part of a job's command, where text from outside could change
// what the shell does. Variables such as "$CARILLON_PARAM_NAME" are safe. Pure.
#pragma once

#include <set>
#include <string>

#include "common/domain/job/job.h"

namespace carillon {

// Names of the parameters that the command contains: as {{params.NAME}}, or by an {{env.VARIABLE}}
// whose value contains them. Of a workflow: its parameters that a node hands to the command of its
// task. Empty for other jobs without a process.
std::set<std::string> CommandParameters(const JobDefinition& job);

}  // namespace carillon
