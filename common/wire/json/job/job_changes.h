// Compares two definitions of a job, field by field.
//
//   [{"path": "/env/MODE", "from": null, "to": "fast"}, {"path": "/timeout", "from": 60, "to": 90}]
//
// A path is a JSON pointer into the definition (job_fields.h). Objects are compared field by field,
// lists of equal length element by element. Other values are compared as a whole.
// Null means absent.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/domain/job/job.h"

namespace carillon {

// Compares any two objects recursively.
nlohmann::json Changes(const nlohmann::json& from, const nlohmann::json& to);
nlohmann::json JobChanges(const JobDefinition& from, const JobDefinition& to);
// For a new job: every field that differs from its default.
nlohmann::json JobChanges(const JobDefinition& made);

// A reduced form for records that are kept for long and that people without access to the job may
// read: at most kAuditedChangesMax changes, with long values truncated. The values of environment
// variables may contain passwords, so they are replaced by "***".
inline constexpr size_t kAuditedChangesMax = 100;
inline constexpr size_t kAuditedValueBytesMax = 200;
nlohmann::json AuditedChanges(const nlohmann::json& changes);

}  // namespace carillon
