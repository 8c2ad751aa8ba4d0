// The audit's record of what somebody did, or tried.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// Fills in time and trace. What cannot be stored goes to the log: the change was made.
void RecordAudit(const Call& call, AuditRecord record);
// As RecordAudit, of several in one go.
void RecordAudits(const Call& call, std::vector<AuditRecord> records);
// What this request changes of the object that it names, for its record; {} = it is made. Never a
// secret: what is in here is kept for a year.
void NoteChanges(const Call& call, const nlohmann::json& before, const nlohmann::json& after);
// The words that a handler and the caller have for it.
std::string AuditReason(const AuditNote& note, const std::string& said);
// A kill is told before the caller's words.
void NoteCancelMode(const Call& call, CancelMode mode);
// As RecordAudit, for who will try again.
Status TryRecordAudit(const Call& call, AuditRecord record);

}  // namespace carillon::scheduler
