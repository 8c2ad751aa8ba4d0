// Compares two definitions of a job, field by field.
//
//   [{"path": "/env/MODE", "from": null, "to": "fast"}, {"path": "/timeout", "from": 60, "to": 90}]
//
// A path is a JSON pointer into the definition (job_fields.h). Of objects and of lists of equal
// length each member that differs is named, other values differ as a whole. Null: not there.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/domain/job.h"

namespace carillon {

// Of any two objects, member by member and within their members.
nlohmann::json Changes(const nlohmann::json& from, const nlohmann::json& to);
nlohmann::json JobChanges(const JobDefinition& from, const JobDefinition& to);
// Of a job that is new: every field that is not its default.
nlohmann::json JobChanges(const JobDefinition& made);

// The same for a record that is kept long and read by others than the job: at most
// `kToldChangesMax` changes, long values cut, and the values of the environment, where passwords
// live, left out ("***").
inline constexpr size_t kToldChangesMax = 100;
inline constexpr size_t kToldValueBytesMax = 200;
nlohmann::json ToldChanges(const nlohmann::json& changes);

}  // namespace carillon
