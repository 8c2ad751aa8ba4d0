// The port AuditStore on MariaDB or MySQL.
#pragma once

#include <vector>

#include "common/adapters/mysql/database/mysql_database.h"
#include "common/ports/store/audit_store.h"

namespace carillon::mysql {

class MysqlAuditStore final : public AuditStore {
 public:
  explicit MysqlAuditStore(MysqlDatabase& db) : db_(db) {}

  Status RecordAudit(const AuditRecord& record) override;
  Status RecordAudits(const std::vector<AuditRecord>& records) override;
  Result<std::vector<AuditRecord>> ListAudit(const AuditFilter& filter) override;
  Result<BoundedCount> CountAudit(const AuditFilter& filter) override;

 private:
  MysqlDatabase& db_;
};

}  // namespace carillon::mysql
