#include "scheduler/api/audit.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/wire/job_changes.h"
#include "common/wire/json_text.h"

namespace carillon::scheduler {

void NoteChanges(const Call& call, const nlohmann::json& before, const nlohmann::json& after) {
  const nlohmann::json changes = Changes(before, after);
  call.note.changes_json = changes.empty() ? "" : JsonToText(ToldChanges(changes));
}

void RecordAudit(const Call& call, AuditRecord record) {
  static_cast<void>(TryRecordAudit(call, std::move(record)));
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
  const Status kept = call.api.admin.RecordAudit(record);
  if (kept.ok()) return kept;
  log::Warn("api", "not in the audit: {} {} by {}, reason '{}' (trace {}): {}", record.action,
            record.object_id, record.actor, record.reason, record.trace_id, kept.error().message);
  return kept;
}

}  // namespace carillon::scheduler
