// The audit's record of what somebody did, or tried.
#pragma once

#include "scheduler/api/route.h"

namespace carillon::scheduler {

// Fills in time and trace. What cannot be stored goes to the log: the deed is done.
void RecordAudit(const Call& call, AuditRecord record);
// As RecordAudit, for who will try again.
Status TryRecordAudit(const Call& call, AuditRecord record);

}  // namespace carillon::scheduler
