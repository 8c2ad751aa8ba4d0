#include "common/adapters/mysql/operations/mysql_housekeeping.h"

#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/operations/calendar_retention.h"
#include "common/adapters/mysql/operations/mysql_bulk_store.h"
#include "common/adapters/mysql/operations/run_retention.h"
#include "common/adapters/mysql/schema/partitions.h"

namespace carillon::mysql {
namespace {

constexpr Duration kAuditKept = 24h * 365;

}  // namespace

Result<Upkeep> MysqlHousekeeping::Maintain(WallTime now, Duration retention) {
  const Duration queue = QueueFor(db_.caches().tables_refused.load());
  Status partitions = AddPartitions(db_.pool(), now, queue);
  if (partitions.ok()) partitions = DropPartitions(db_.pool(), now - retention, queue);
  db_.caches().tables_refused = partitions.ok() ? 0 : db_.caches().tables_refused + 1;
  if (!partitions.ok()) return partitions.error();
  const OldRows old{.runs_before = now - retention,
                    .request_keys_before = now - kRequestKeyKept,
                    .audit_before = now - kAuditKept,
                    .sessions_before = now};
  CARILLON_ASSIGN_OR_RETURN(const Upkeep rows, DeleteOldRows(db_.pool(), old));
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t next,
      DeleteOldVersions(db_.pool(), db_.caches().versions_from.load(), now - retention));
  db_.caches().versions_from = next;
  CARILLON_TRY(DeleteOldCalendars(db_.pool(), now - retention));
  CARILLON_ASSIGN_OR_RETURN(
      const ShortLivedRuns short_lived,
      DeleteShortLivedRuns(db_.pool(), db_.caches().short_lived_from.load(), now, retention));
  db_.caches().short_lived_from = short_lived.next_job;
  // Keeps incarnations a day longer than runs, because runs are dropped by whole days.
  CARILLON_TRY(DeleteOldIncarnations(db_.pool(), now, now - retention - 24h));
  CARILLON_ASSIGN_OR_RETURN(const Upkeep bulk,
                            DeleteOldBulk(db_.pool(), now - kBulkKept, kDeletedRowsPerCall));
  return bulk == Upkeep::kBehind || short_lived.behind ? Upkeep::kBehind : rows;
}

}  // namespace carillon::mysql
