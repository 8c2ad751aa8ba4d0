#include "scheduler/api/call/audit.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/wire/json/job/job_changes.h"
#include "common/wire/json/json_text.h"

namespace carillon::scheduler {
namespace {

void WarnNotKept(const AuditRecord& record, const Error& error) {
  log::Warn("api", "audit record not written: {} {} by {}, reason '{}' (trace {}): {}",
            record.action, record.object_id, record.actor, record.reason, record.trace_id,
            error.message);
}

}  // namespace

void NoteChanges(const Call& call, const nlohmann::json& before, const nlohmann::json& after) {
  const nlohmann::json changes = Changes(before, after);
  call.note.changes_json = changes.empty() ? "" : JsonToText(AuditedChanges(changes));
}

void RecordAudit(const Call& call, AuditRecord record) {
  static_cast<void>(TryRecordAudit(call, std::move(record)));
}

void RecordAudits(const Call& call, std::vector<AuditRecord> records) {
  const WallTime at = call.api.cluster_now().value_or(call.api.clock.Wall());
  for (AuditRecord& record : records) {
    record.at = at;
    record.trace_id = call.trace_id;
  }
  const Status kept = call.stores.audit.RecordAudits(records);
  if (kept.ok()) return;
  for (AuditRecord& record : records) {
    // After an unknown outcome, some records may be stored already. They must not be stored twice.
    if (kept.code() != ErrorCode::kTimeout) {
      RecordAudit(call, std::move(record));
      continue;
    }
    WarnNotKept(record, kept.error());
  }
}

std::string AuditReason(const AuditNote& note, const std::string& said) {
  const std::string between = note.reason.empty() || said.empty() ? "" : ": ";
  return note.reason + between + said;
}

void NoteCancelMode(const Call& call, CancelMode mode) {
  if (mode == CancelMode::kKill) call.note.reason = Name(mode);
}

Status TryRecordAudit(const Call& call, AuditRecord record) {
  record.at = call.api.cluster_now().value_or(call.api.clock.Wall());
  record.trace_id = call.trace_id;
  const Status kept = call.stores.audit.RecordAudit(record);
  if (kept.ok()) return kept;
  WarnNotKept(record, kept.error());
  return kept;
}

}  // namespace carillon::scheduler
