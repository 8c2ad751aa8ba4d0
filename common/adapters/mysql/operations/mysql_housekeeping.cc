#include "common/adapters/mysql/operations/mysql_housekeeping.h"

#include "common/adapters/mysql/job_rows/request_keys.h"
#include "common/adapters/mysql/operations/calendar_retention.h"
#include "common/adapters/mysql/operations/kept_runs.h"
#include "common/adapters/mysql/operations/mysql_bulk_store.h"
#include "common/adapters/mysql/operations/run_retention.h"
#include "common/adapters/mysql/schema/partitions.h"
#include "common/domain/event/event.h"

namespace carillon::mysql {
namespace {

constexpr Duration kAuditKept = 24h * 365;

}  // namespace

Result<DroppedDays> MysqlHousekeeping::MaintainDays(WallTime now, const Retention& retention) {
  const Duration queue = QueueFor(db_.caches().tables_refused.load());
  RunKeeper keeper(db_.caches().keep_progress, retention);
  DayKeeper* const used = retention.keep_last > 0 ? &keeper : nullptr;
  Result<DroppedDays> days = [&]() -> Result<DroppedDays> {
    CARILLON_TRY(AddPartitions(db_.pool(), now, queue));
    return DropPartitions(db_.pool(), now - retention.runs, used, queue);
  }();
  db_.caches().tables_refused = days.ok() ? 0 : db_.caches().tables_refused + 1;
  if (days.ok() && used == nullptr) days->past_kept = true;
  return days;
}

Result<Upkeep> MysqlHousekeeping::Maintain(WallTime now, const Retention& retention) {
  CARILLON_ASSIGN_OR_RETURN(const DroppedDays days, MaintainDays(now, retention));
  const WallTime before = now - retention.runs;
  const OldRows old{.runs_before = before,
                    .past_too = days.past_kept,
                    .request_keys_before = now - kRequestKeyKept,
                    .audit_before = now - kAuditKept,
                    .sessions_before = now,
                    .events_before = now - kEventKept};
  CARILLON_ASSIGN_OR_RETURN(const Upkeep rows, DeleteOldRows(db_.pool(), old));
  CARILLON_ASSIGN_OR_RETURN(const int64_t next_kept,
                            DeleteKeptRuns(db_.pool(), db_.caches().kept_from.load(), retention));
  db_.caches().kept_from = next_kept;
  CARILLON_ASSIGN_OR_RETURN(
      const int64_t next, DeleteOldVersions(db_.pool(), db_.caches().versions_from.load(), before));
  db_.caches().versions_from = next;
  CARILLON_TRY(DeleteOldCalendars(db_.pool(), before));
  CARILLON_ASSIGN_OR_RETURN(
      const ShortLivedRuns short_lived,
      DeleteShortLivedRuns(db_.pool(), db_.caches().short_lived_from.load(), now, retention.runs));
  db_.caches().short_lived_from = short_lived.next_job;
  // Keeps incarnations a day longer than runs, because runs are dropped by whole days.
  CARILLON_TRY(DeleteOldIncarnations(db_.pool(), now, before - 24h));
  CARILLON_ASSIGN_OR_RETURN(const Upkeep bulk,
                            DeleteOldBulk(db_.pool(), now - kBulkKept, kDeletedRowsPerCall));
  const bool behind = bulk == Upkeep::kBehind || short_lived.behind || days.behind;
  return behind ? Upkeep::kBehind : rows;
}

}  // namespace carillon::mysql
