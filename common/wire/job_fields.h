// The table of a job's fields: JSON name, how it is read and how it is written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "common/domain/job.h"

namespace carillon {

// Sets the field `name` of `job` from `value`. False: there is no such field. kInvalid with the
// pointer: the value has the wrong type or names nothing known. Bounds are ValidateJob's.
Result<bool> ReadJobField(std::string_view name, const nlohmann::json& value, JobDefinition& job);

// Gives the job's zone to cron schedules that named none. Once, after the last ReadJobField.
void FillScheduleZones(JobDefinition& job);

// Every field of the table; ReadJobField of each gives an equal definition.
nlohmann::json DefinitionToJson(const JobDefinition& job);

}  // namespace carillon
