// The port AuditStore in memory.
#pragma once

#include <vector>

#include "common/ports/store/audit_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::memory {

class MemoryAuditStore final : public AuditStore {
 public:
  explicit MemoryAuditStore(MemoryTables& tables) : tables_(tables) {}

  Status RecordAudit(const AuditRecord& record) override;
  Status RecordAudits(const std::vector<AuditRecord>& records) override;
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override;
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override;

 private:
  MemoryTables& tables_;
};

}  // namespace carillon::memory
