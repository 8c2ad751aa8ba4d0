#include "common/adapters/mysql/operations/mysql_schema_store.h"

#include <utility>

#include <fmt/core.h>

#include "common/adapters/mysql/client/named_lock.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/schema/migrations.h"

namespace carillon::mysql {
namespace {

Result<SchemaLevels> Levels(Session& session) {
  return ReadLevels(session, EmbeddedMigrations().back().version);
}

// Holds the lock of a member that migrates. The lock ends with the connection.
class MysqlSchemaHold final : public SchemaHold {
 public:
  explicit MysqlSchemaHold(Pool::Lease lease) : lease_(std::move(lease)) {}

  Status Finish() override {
    CARILLON_ASSIGN_OR_RETURN(const SchemaLevels levels, Levels(*lease_));
    if (levels.applied > levels.known) {
      return {ErrorCode::kConflict,
              fmt::format("schema: the store is at version {}, this program knows {}",
                          levels.applied, levels.known)};
    }
    return FinishSchema(*lease_);
  }

 private:
  Pool::Lease lease_;
};

}  // namespace

Result<SchemaLevels> MysqlSchemaStore::ReadLevels() {
  return InRead(db_.quick(), "schema levels", Levels);
}

Result<std::unique_ptr<SchemaHold>> MysqlSchemaStore::Hold() {
  CARILLON_ASSIGN_OR_RETURN(Pool::Lease lease,
                            db_.pool().Acquire("schema hold", Use::kWriteOnNewConnection));
  lease.Drop();
  CARILLON_TRY(lease->Run("SET SESSION wait_timeout = 600"));  // longer than the hold
  CARILLON_ASSIGN_OR_RETURN(const bool ours, TakeLock(*lease, StoreLock::kMigrate, 0s));
  if (!ours) {
    return {ErrorCode::kUnavailable,
            "another member is starting, or is finishing the upgrade; try again later"};
  }
  return std::unique_ptr<SchemaHold>(std::make_unique<MysqlSchemaHold>(std::move(lease)));
}

}  // namespace carillon::mysql
