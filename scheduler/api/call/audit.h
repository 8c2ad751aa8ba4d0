// Audit records of actions and attempted actions.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Fills in time and trace id, and stores the record. If the record cannot be stored, it is logged,
// because the change has already been made.
void RecordAudit(const Call& call, AuditRecord record);
// As RecordAudit, for several records.
void RecordAudits(const Call& call, std::vector<AuditRecord> records);
// Adds the changes from `before` to `after` to the audit record of this request. An empty `before`
// means that the object is created. Never pass a secret: records are kept for a year.
void NoteChanges(const Call& call, const nlohmann::json& before, const nlohmann::json& after);
// Returns the reason for the record: first the handler's reason (in `note`), then the
// caller's reason (`said`).
std::string AuditReason(const AuditNote& note, const std::string& said);
// If `mode` is a kill, adds that to the record, before the caller's reason.
void NoteCancelMode(const Call& call, CancelMode mode);
// As RecordAudit, but returns the error, so that the caller can retry.
Status TryRecordAudit(const Call& call, AuditRecord record);

}  // namespace carillon::scheduler
