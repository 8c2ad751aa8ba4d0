// The table of a job's fields: JSON name, reader and writer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "common/domain/job/job.h"

namespace carillon {

// Sets the field `name` of `job` from `value`. Returns false if there is no such field. kInvalid
// with the pointer: the value has the wrong type, or is an unknown name of an enum. ValidateJob
// checks the bounds.
Result<bool> ReadJobField(std::string_view name, const nlohmann::json& value, JobDefinition& job);

// Writes the field `name`, which must exist.
nlohmann::json JobFieldToJson(std::string_view name, const JobDefinition& job);

// Returns the names of all fields that a request may set.
std::vector<std::string_view> JobFieldNames();

// Applies the job's zone to cron schedules without a zone. Call it once, after the
// last ReadJobField.
void FillScheduleZones(JobDefinition& job);

// Writes every field of the table, but `workflow` only for a workflow; reading them back gives an
// equal definition.
nlohmann::json DefinitionToJson(const JobDefinition& job);

}  // namespace carillon
