// Parameters from a caller who may run a job, but not change it, such as a token with the
// scope jobs:run.
//
// Their texts come from outside, as outputs of nodes do
// (docs/workflows.md#values-from-node-to-node): they reach the process by its environment, and
// never become part of its command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/domain/job/job.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Returns `parameters`, those of the runs, in which the names of the texts from outside are
// noted: a workflow gives values on to its nodes, and the job may be edited before a run starts.
// `given` is the object of the request. 400 unsafe_parameter: such a text would become part of
// the command now. Numbers, booleans and the choices of a rule say nothing that the author of the
// job has not allowed.
Outcome<std::string> MarkOutside(const Call& call, const JobDefinition& job,
                                 const nlohmann::json& given, const std::string& parameters);

}  // namespace carillon::scheduler
