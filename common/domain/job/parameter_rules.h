// Checks values of parameters by the rules of their job.
//
// Place    ValidateJob, and the execute request of a run (docs/api.md).
// Errors   A pointer begins with the place of the values: "/parameters/NAME".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"

namespace carillon {

// Checks the rules: names, bounds, and no two parameters, also of schedules, that differ only by
// case. kInvalid. kConflict: choices do not have the type of their rule; a default does not fit its
// rule, or a required parameter has one; a schedule gives a parameter a value that does not fit, or
// gives a required one none. Values that an event fills in are judged when it comes.
Status ValidateParameterRules(const JobDefinition& job);

// Checks that no name of `given` differs only by case from another one there or in the job: both
// would set the same variable CARILLON_PARAM_…, and one of the values would be lost. kInvalid.
Status CheckParameterCase(const JobDefinition& job,
                          const std::map<std::string, ParameterValue>& given);

// Checks the values that an execute request, a backfill or a node of a workflow gives: their names
// (CheckParameterCase), those with a rule fit it, and none is missing that the job requires.
// kInvalid. A parameter without a rule may have any value.
Status CheckGivenParameters(const JobDefinition& job,
                            const std::map<std::string, ParameterValue>& given);

// Stable lower-case names, as in REST: "string", "integer", "number", "boolean".
std::string_view Name(ParameterType value);
template <>
Result<ParameterType> ParseName(std::string_view text);

}  // namespace carillon
