#include "common/adapters/mysql/schema/partitions.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/named_lock.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/base/log.h"

namespace carillon::mysql {
namespace {

constexpr int kLockAttempts = 40;
constexpr double kLockAttemptGapSeconds = 0.005;
constexpr Duration kDay = 24h;
// Tables whose rows belong to runs. The rows are deleted once their runs are gone.
constexpr std::array kTablesOfRuns = {"run_attempts", "run_log_chunks", "run_checkpoints"};

struct Partition {
  std::string name;
  std::optional<int64_t> below_us;  // nullopt = MAXVALUE
};

int64_t DayOf(WallTime time) { return time.time_since_epoch() / kDay; }
int64_t StartOf(int64_t day) { return day * kDay.count(); }

// Returns the partition's name: "p20260301" for the day 2026-03-01.
std::string NameOf(int64_t day) {
  const std::string text = FormatRfc3339(FromUnixMicros(StartOf(day)));
  return "p" + text.substr(0, 4) + text.substr(5, 2) + text.substr(8, 2);
}

Result<std::vector<Partition>> ReadPartitions(Session& session, const std::string& table) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Query("SELECT PARTITION_NAME, PARTITION_DESCRIPTION FROM "
                               "information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND "
                               "TABLE_NAME = ? ORDER BY PARTITION_ORDINAL_POSITION",
                               {table}));
  std::vector<Partition> partitions;
  while (rows.Next()) {
    Partition partition{.name = rows.Text(1), .below_us = {}};
    const std::string below = rows.Text(2);
    if (below != "MAXVALUE") partition.below_us = std::stoll(below);
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

// Locks the whole table. First tries without queueing: a queued lock waits for the longest read,
// and every later user of the table waits behind it. Then queues for `queue`. MySQL has no NOWAIT
// here and queues for lock_wait_timeout (1 s).
Status LockAlone(Session& session, const std::string& table, Duration queue) {
  const std::string lock = fmt::format("LOCK TABLES {} WRITE", table);
  if (!session.is_mariadb()) return session.Run(lock);
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    CARILLON_ASSIGN_OR_RETURN(const bool locked, session.TryRun(lock + " NOWAIT"));
    if (locked) return {};
    CARILLON_TRY(session.Run(fmt::format("DO SLEEP({})", kLockAttemptGapSeconds)));
  }
  if (queue > Duration::zero()) {
    // Uses a limit of statements, because the server's lock timeouts are whole seconds.
    CARILLON_TRY(session.LimitStatements(queue));
    CARILLON_ASSIGN_OR_RETURN(const bool locked, session.TryRun(lock));
    CARILLON_TRY(session.LimitStatements({}));
    if (locked) return {};
  }
  return {ErrorCode::kUnavailable, lock + ": the table is in use"};
}

// Runs `body` with the table locked exclusively.
template <typename Body>
Status WithTableAlone(Session& session, const std::string& table, Duration queue, Body body) {
  CARILLON_TRY(LockAlone(session, table, queue));
  const Status done = body();
  if (!session.healthy()) return done;
  CARILLON_TRY(session.Run("UNLOCK TABLES"));
  return done;
}

Status AlterAlone(Session& session, const std::string& table, Duration queue,
                  const std::string& change) {
  return WithTableAlone(session, table, queue, [&] {
    return session.Run(fmt::format("ALTER TABLE {} {}", table, change));
  });
}

// Returns the partition definitions of the days from `from` to `to`, both included.
std::string DaysText(int64_t from, int64_t to) {
  std::string text;
  for (int64_t day = from; day <= to; ++day) {
    text += fmt::format("PARTITION {} VALUES LESS THAN ({}), ", NameOf(day), StartOf(day + 1));
  }
  return text;
}

Status AddTo(Session& session, const std::string& table, WallTime now, Duration queue) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<Partition> all, ReadPartitions(session, table));
  if (all.size() < 2 || all.back().below_us) {
    return {ErrorCode::kBrokenStore, table + " has no p_future partition"};
  }
  const int64_t newest = DayOf(now) + kDaysAhead;
  const bool fresh = all.size() == 2 && all.front().below_us == 0;
  if (fresh) {
    const int64_t oldest = DayOf(now) - 1;
    return AlterAlone(session, table, queue,
                      fmt::format("REORGANIZE PARTITION p_past, p_future INTO (PARTITION p_past "
                                  "VALUES LESS THAN ({}), {}PARTITION p_future VALUES LESS THAN "
                                  "MAXVALUE)",
                                  StartOf(oldest), DaysText(oldest, newest)));
  }
  const int64_t covered = *all[all.size() - 2].below_us;  // first time not in a daily partition
  if (covered >= StartOf(newest + 1)) return {};
  const int64_t first = std::max(covered / kDay.count(), newest - kDaysAtOnceMax + 1);
  // After a downtime longer than kDaysAtOnceMax, the first new partition also covers earlier days.
  return AlterAlone(session, table, queue,
                    fmt::format("REORGANIZE PARTITION p_future INTO ({}PARTITION p_future VALUES "
                                "LESS THAN MAXVALUE)",
                                DaysText(first, newest)));
}

// Runs `body` while this connection holds the maintenance lock, with a short timeout for tables in
// use. If another member or a backup holds the lock, does nothing and succeeds.
Status Exclusively(Pool& pool, std::string_view operation,
                   const std::function<Status(Session&)>& body) {
  CARILLON_ASSIGN_OR_RETURN(Pool::Lease lease, pool.Acquire(operation));
  Session& session = *lease;
  // The connection is always closed. This ends its settings, its table locks and its named lock.
  lease.Drop();
  CARILLON_TRY(session.Run("SET SESSION lock_wait_timeout = 1"));
  CARILLON_ASSIGN_OR_RETURN(const bool ours, TakeLock(session, StoreLock::kMaintain, 0s));
  if (!ours) return {};  // another member or a backup has the lock
  return body(session);
}

Result<bool> HasOpenRuns(Session& session, const std::string& partition) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows, session.Ask(fmt::format("SELECT 1 FROM job_runs PARTITION ({}) WHERE open_segment "
                                         "IS NOT NULL LIMIT 1",
                                         partition)));
  return rows.Next();
}

// Checks again with the table locked for writing, so that no run can be reopened between the check
// and the drop.
// Returns false if the keeper is not done.
Result<bool> DropDay(Session& session, const OldDay& day, DayKeeper* keeper, Duration queue) {
  CARILLON_ASSIGN_OR_RETURN(const bool open_before, HasOpenRuns(session, day.partition));
  if (open_before) return true;
  if (keeper != nullptr) {
    CARILLON_ASSIGN_OR_RETURN(const bool kept, keeper->Keep(session, day));
    if (!kept) return false;
  }
  bool current = true;
  const std::string tables = keeper == nullptr ? "job_runs" : "kept_runs READ, job_runs";
  CARILLON_TRY(WithTableAlone(session, tables, queue, [&]() -> Status {
    CARILLON_ASSIGN_OR_RETURN(const bool open_now, HasOpenRuns(session, day.partition));
    if (open_now) return {};
    if (keeper != nullptr) {
      CARILLON_ASSIGN_OR_RETURN(current, keeper->IsCurrent(session, day));
      if (!current) return {};
    }
    log::Info("mysql", "dropping the runs of {}", day.partition);
    return session.Run(fmt::format("ALTER TABLE job_runs DROP PARTITION {}", day.partition));
  }));
  return current;
}

// Deletes old runs from p_past row by row, because p_past itself is never dropped. If a day has an
// open run, all runs of this day are kept.
Result<int64_t> DeletePast(Pool& pool, int64_t before_us) {
  return InTransaction(pool, {.operation = "retention"}, [&](Session& session) -> Result<int64_t> {
    std::string open_days;
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows, session.Query("SELECT DISTINCT fire_us DIV 86400000000 FROM job_runs "
                                   "PARTITION (p_past) WHERE open_segment IS NOT NULL"));
      while (rows.Next()) open_days += fmt::format(", {}", rows.Int(1));
    }
    // If a run is reopened after the SELECT above, its open_segment is set when the DELETE reaches
    // its row. So the run is kept.
    CARILLON_TRY(session.Run(fmt::format(
        "DELETE FROM job_runs PARTITION (p_past) WHERE open_segment IS NULL AND fire_us < {} AND "
        "fire_us DIV 86400000000 NOT IN (-1{}) LIMIT {}",
        before_us, open_days, kDeletedRowsPerCall)));
    CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Ask("SELECT ROW_COUNT()"));
    rows.Next();
    return rows.Int(1);
  });
}

Result<DroppedDays> DropOldDays(Session& session, WallTime before, DayKeeper* keeper,
                                Duration queue) {
  CARILLON_ASSIGN_OR_RETURN(const std::vector<Partition> days, ReadPartitions(session, "job_runs"));
  DroppedDays dropped{.past_kept = true};
  int64_t from_us = 0;
  for (const Partition& day : days) {
    if (!day.below_us) break;
    const OldDay old{.partition = day.name, .from_us = from_us, .below_us = *day.below_us};
    from_us = *day.below_us;
    if (day.name == "p_past") {
      const int64_t below_us = std::min(*day.below_us, StartOf(DayOf(before)));
      if (keeper == nullptr) continue;
      CARILLON_ASSIGN_OR_RETURN(
          dropped.past_kept, keeper->Keep(session, {.partition = day.name, .below_us = below_us}));
      continue;
    }
    if (*day.below_us > ToUnixMicros(before)) continue;
    CARILLON_ASSIGN_OR_RETURN(const bool done, DropDay(session, old, keeper, queue));
    if (!done) {
      dropped.behind = true;
      break;
    }
  }
  dropped.behind = dropped.behind || !dropped.past_kept;
  // Drops a day of the other tables only after the day of job_runs, so that no run loses its
  // attempts or logs.
  CARILLON_ASSIGN_OR_RETURN(const std::vector<Partition> kept, ReadPartitions(session, "job_runs"));
  for (const char* table : kTablesOfRuns) {
    CARILLON_ASSIGN_OR_RETURN(const std::vector<Partition> old, ReadPartitions(session, table));
    for (const Partition& day : old) {
      if (day.name == "p_past" || !day.below_us || *day.below_us > ToUnixMicros(before)) continue;
      const bool has_runs = std::any_of(
          kept.begin(), kept.end(), [&](const Partition& other) { return other.name == day.name; });
      if (has_runs) continue;
      CARILLON_TRY(AlterAlone(session, table, queue, "DROP PARTITION " + day.name));
    }
  }
  return dropped;
}

std::string DeleteOrphansOf(std::string_view table) {
  return fmt::format(
      "DELETE FROM {0} PARTITION (p_past) WHERE NOT EXISTS (SELECT 1 FROM job_runs r WHERE "
      "r.fire_us = {0}.fire_us AND r.schedule_id = {0}.schedule_id AND r.shard = {0}.shard) AND "
      "{0}.fire_us < ? LIMIT ?",
      table);
}

}  // namespace

Duration QueueFor(int refusals) {
  if (refusals < kRefusalsBeforeQueueing) return {};
  const int doublings = std::min(refusals - kRefusalsBeforeQueueing, 10);
  return std::min(kQueueFirst * (1 << doublings), kQueueLongest);
}

Status AddPartitions(Pool& pool, WallTime now, Duration queue) {
  return Exclusively(pool, "partitions", [now, queue](Session& session) -> Status {
    CARILLON_TRY(AddTo(session, "job_runs", now, queue));
    for (const char* table : kTablesOfRuns) CARILLON_TRY(AddTo(session, table, now, queue));
    return {};
  });
}

Result<DroppedDays> DropPartitions(Pool& pool, WallTime before, DayKeeper* keeper, Duration queue) {
  DroppedDays dropped;  // if another member has the lock
  CARILLON_TRY(Exclusively(pool, "retention", [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(dropped, DropOldDays(session, before, keeper, queue));
    return {};
  }));
  return dropped;
}

Result<Upkeep> DeleteOldRows(Pool& pool, const OldRows& old) {
  Upkeep upkeep = Upkeep::kDone;
  const int64_t runs_us = ToUnixMicros(old.runs_before);
  const int64_t day_us = StartOf(DayOf(old.runs_before));
  const int64_t keys_us = ToUnixMicros(old.request_keys_before);
  std::vector<std::pair<std::string, int64_t>> deletes = {
      {"DELETE FROM request_keys WHERE begun_us <= ? LIMIT ?", keys_us},
      {"DELETE FROM audit_log WHERE at_us < ? LIMIT ?", ToUnixMicros(old.audit_before)},
      {"DELETE FROM refresh_tokens WHERE expires_us <= ? LIMIT ?",
       ToUnixMicros(old.sessions_before)},
      {"DELETE FROM events WHERE accepted_us < ? LIMIT ?", ToUnixMicros(old.events_before)},
      {"DELETE FROM run_gaps WHERE to_us < ? LIMIT ?", day_us},
      {"DELETE FROM workflow_runs WHERE fire_us < ? AND open_segment IS NULL LIMIT ?", day_us},
      {"DELETE FROM backfills WHERE ended_us > 0 AND ended_us < ? LIMIT ?", runs_us},
      {"DELETE FROM dead_letters WHERE created_us < ? LIMIT ?", runs_us},
      {"DELETE FROM notices WHERE created_us < ? AND open_segment IS NULL LIMIT ?", runs_us},
      {"DELETE FROM deliveries WHERE created_us < ? AND open_segment IS NULL LIMIT ?", runs_us},
      {"DELETE FROM notice_memories WHERE told_us < ? AND watched_segment IS NULL LIMIT ?",
       runs_us},
      // A notice memory that still waits for a success of its job is deleted later: when its last
      // notice is older than the retention of the audit log. Since that notice the job has had no
      // success, or the job no longer exists.
      {"DELETE FROM notice_memories WHERE told_us < ? LIMIT ?", ToUnixMicros(old.audit_before)},
      // If somebody disabled or drains an executor, its row is kept, because this setting must not
      // be lost.
      {"DELETE FROM executors WHERE last_heartbeat_time < TIMESTAMPADD(MICROSECOND, ?, "
       "'1970-01-01 00:00:00') AND status IN ('LOST', 'OFFLINE') AND enabled = 1 AND draining = 0 "
       "LIMIT ?",
       runs_us},
  };
  for (const char* table : kTablesOfRuns) deletes.emplace_back(DeleteOrphansOf(table), day_us);
  for (const auto& [text, before] : deletes) {
    const Params params = {before, kDeletedRowsPerCall};
    // clang 14 cannot capture a structured binding, but it can capture a reference to one.
    const Result<int64_t> deleted = InTransaction(
        pool, {.operation = "retention"},
        [&, &statement = text](Session& session) { return session.Execute(statement, params); });
    if (!deleted.ok()) return deleted.error();
    if (*deleted >= kDeletedRowsPerCall) upkeep = Upkeep::kBehind;
  }
  if (!old.past_too) return upkeep;
  CARILLON_ASSIGN_OR_RETURN(const int64_t runs, DeletePast(pool, day_us));
  return runs >= kDeletedRowsPerCall ? Upkeep::kBehind : upkeep;
}

Result<int64_t> DeleteOldVersions(Pool& pool, int64_t from, WallTime before) {
  return InTransaction(pool, {.operation = "retention"}, [&](Session& session) -> Result<int64_t> {
    int64_t jobs = 0;
    int64_t last = from;
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows,
          session.Query("SELECT COUNT(*), COALESCE(MAX(x.job_no), 0) FROM (SELECT job_no "
                        "FROM jobs WHERE job_no > ? ORDER BY job_no LIMIT ?) x",
                        {from, kJobsLookedAtPerCall}));
      rows.Next();
      jobs = rows.Int(1);
      last = rows.Int(2);
    }
    if (jobs == 0) return int64_t{0};
    JsonRows old;
    {
      // The creation time of the next version counts. Until that time runs were planned with this
      // version, and runs of the retained days may refer to it. A workflow run may wait for longer,
      // and its graph is that of the version.
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows,
          session.Query(
              "SELECT v.job_no, v.version FROM jobs j STRAIGHT_JOIN job_versions v ON "
              "v.job_no = j.job_no AND v.version <= j.version - ? STRAIGHT_JOIN "
              "job_versions n ON n.job_no = v.job_no AND n.version = v.version + 1 "
              "WHERE j.job_no > ? AND j.job_no <= ? AND n.created_us < ? AND (v.job_no, "
              "v.version) NOT IN (SELECT w.job_no, w.def_version FROM workflow_runs w) LIMIT ?",
              {kJobVersionsKept, from, last, ToUnixMicros(before), kDeletedRowsPerCall}));
      while (rows.Next()) old.Begin().Add(rows.Unsigned(1)).Add(rows.Int(2));
    }
    if (old.empty()) return jobs < kJobsLookedAtPerCall ? int64_t{0} : last;
    CARILLON_ASSIGN_OR_RETURN(
        const int64_t deleted,
        session.Execute("DELETE v FROM JSON_TABLE(" CARILLON_JSON
                        ", '$[*]' COLUMNS (n BIGINT UNSIGNED PATH "
                        "'$[0]', v BIGINT PATH '$[1]')) k STRAIGHT_JOIN job_versions v FORCE INDEX "
                        "(PRIMARY) ON v.job_no = k.n AND v.version = k.v",
                        {old.Take()}));
    if (deleted >= kDeletedRowsPerCall) return from;  // continue with the same jobs
    return jobs < kJobsLookedAtPerCall ? int64_t{0} : last;
  });
}

}  // namespace carillon::mysql
