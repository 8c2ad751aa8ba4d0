#include "common/adapters/mysql/operations/run_retention.h"

#include <array>
#include <vector>

#include <fmt/core.h>

#include "common/adapters/mysql/client/json_rows.h"
#include "common/adapters/mysql/client/row_locks.h"
#include "common/adapters/mysql/client/transaction.h"
#include "common/adapters/mysql/run_rows/run_rows.h"
#include "common/adapters/mysql/schema/partitions.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon::mysql {
namespace {

constexpr int64_t kDayUs = 86'400'000'000;
constexpr std::array kTablesOfKeys = {"run_checkpoints", "run_log_chunks", "run_attempts",
                                      "job_runs"};

struct ShortLivedJob {
  int64_t job_no;
  int64_t before_us;  // runs that ended before are deleted
};
struct Walk {
  std::vector<ShortLivedJob> jobs;
  int64_t next_job = 0;
};

// Reads kJobsLookedAtPerCall jobs. Few jobs have a retention of their own, and no index finds them.
Result<Walk> ReadJobs(Pool& pool, int64_t from, WallTime now, Duration retention) {
  return InRead(pool, "retention", [&](Session& session) -> Result<Walk> {
    Walk walk;
    int64_t last = 0;
    {
      CARILLON_ASSIGN_OR_RETURN(
          Rows rows, session.Query("SELECT COUNT(*), COALESCE(MAX(x.job_no), 0) FROM (SELECT "
                                   "job_no FROM jobs WHERE job_no > ? ORDER BY job_no LIMIT ?) x",
                                   {from, kJobsLookedAtPerCall}));
      rows.Next();
      last = rows.Int(2);
      walk.next_job = rows.Int(1) < kJobsLookedAtPerCall ? 0 : last;
    }
    CARILLON_ASSIGN_OR_RETURN(
        Rows rows,
        session.Query("SELECT job_no, retention_days FROM jobs WHERE job_no > ? AND job_no <= ? "
                      "AND retention_days > 0 AND retention_days < ? ORDER BY job_no LIMIT ?",
                      {from, last, retention.count() / kDayUs, kShortLivedJobsPerCall}));
    while (rows.Next()) {
      walk.jobs.push_back({rows.Int(1), ToUnixMicros(now) - rows.Int(2) * kDayUs});
    }
    const bool all = static_cast<int64_t>(walk.jobs.size()) < kShortLivedJobsPerCall;
    if (!all) walk.next_job = walk.jobs.back().job_no;
    return walk;
  });
}

// The fire is before the end, so the range of fires bounds the read of the index and its
// partitions. The parts of a fire go with its own run.
Result<JsonRows> FindEnded(Session& session, const ShortLivedJob& job, int64_t limit) {
  CARILLON_ASSIGN_OR_RETURN(
      Rows rows,
      session.Query("SELECT r.fire_us, r.schedule_id, r.shard FROM job_runs r FORCE INDEX "
                    "(by_job) WHERE r.job_no = ? AND r.fire_us < ? AND r.open_segment IS NULL AND "
                    "r.ended_us < ? AND (r.flags & 4) = 0 AND r.shard = 0 ORDER BY r.fire_us LIMIT "
                    "?",
                    {job.job_no, job.before_us, job.before_us, limit}));
  JsonRows keys;
  while (rows.Next()) keys.Begin().Add(rows.Int(1)).Add(rows.Unsigned(2)).Add(rows.Unsigned(3));
  return keys;
}

// Returns the keys of those that are still ended, and locks them, so that none is reopened between
// the check and the delete.
Result<JsonRows> LockEnded(Session& session, const std::string& found, int64_t before_us) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard FROM " + kKeysJoinRuns +
      " WHERE r.open_segment IS NULL AND r.ended_us < ?" + ForUpdateOf("r");
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {found, before_us}));
  JsonRows keys;
  while (rows.Next()) keys.Begin().Add(rows.Int(1)).Add(rows.Unsigned(2)).Add(rows.Unsigned(3));
  return keys;
}

// The keys of the parts of those of `owns` that have some.
Result<JsonRows> PartsOf(Session& session, const std::string& owns) {
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH "
      "'$[2]')) k STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = k.f AND "
      "r.schedule_id = k.s AND r.shard > 0 WHERE k.h = 0";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {owns}));
  JsonRows keys;
  while (rows.Next()) keys.Begin().Add(rows.Int(1)).Add(rows.Unsigned(2)).Add(rows.Unsigned(3));
  return keys;
}

// The keys of the nodes' runs, with their parts, of those of `owns` that are runs of workflows. A
// node's run is kept as long as the workflow run, whatever its own job says.
Result<JsonRows> NodesOf(Session& session, const std::string& owns) {
  // 2251799813685248 is kFirstNodeSchedule, 1024 is kNodePositionsMax.
  static const std::string statement =
      "SELECT r.fire_us, r.schedule_id, r.shard FROM JSON_TABLE(" CARILLON_JSON
      ", '$[*]' COLUMNS (f BIGINT PATH "
      "'$[0]', s BIGINT UNSIGNED PATH '$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN "
      "workflow_runs w FORCE INDEX (by_run) ON w.fire_us = k.f AND w.schedule_id = k.s AND w.shard "
      "= k.h STRAIGHT_JOIN job_runs r FORCE INDEX (PRIMARY) ON r.fire_us = w.fire_us AND "
      "r.schedule_id >= 2251799813685248 + w.no * 1024 AND r.schedule_id < 2251799813685248 + "
      "(w.no + 1) * 1024";
  CARILLON_ASSIGN_OR_RETURN(Rows rows, session.Query(statement, {owns}));
  JsonRows keys;
  while (rows.Next()) keys.Begin().Add(rows.Int(1)).Add(rows.Unsigned(2)).Add(rows.Unsigned(3));
  return keys;
}

Status DeleteKeys(Session& session, const std::string& keys) {
  CARILLON_TRY(session.Execute("DELETE w FROM JSON_TABLE(" CARILLON_JSON
                               ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT UNSIGNED PATH "
                               "'$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN workflow_runs "
                               "w FORCE INDEX (by_run) ON "
                               "w.fire_us = k.f AND w.schedule_id = k.s AND w.shard = k.h",
                               {keys}));
  for (const char* table : kTablesOfKeys) {
    CARILLON_TRY(session.Execute(
        fmt::format("DELETE t FROM JSON_TABLE(" CARILLON_JSON
                    ", '$[*]' COLUMNS (f BIGINT PATH '$[0]', s BIGINT "
                    "UNSIGNED PATH '$[1]', h INT UNSIGNED PATH '$[2]')) k STRAIGHT_JOIN {} t FORCE "
                    "INDEX (PRIMARY) ON t.fire_us = k.f AND t.schedule_id = k.s AND t.shard = k.h",
                    table),
        {keys}));
  }
  return {};
}

// Returns the number of runs that were found, which is `limit` if more may be left.
Result<int64_t> DeleteRunsOf(Pool& pool, const ShortLivedJob& job, int64_t limit) {
  CARILLON_ASSIGN_OR_RETURN(JsonRows found, InRead(pool, "retention", [&](Session& session) {
                              return FindEnded(session, job, limit);
                            }));
  const auto count = static_cast<int64_t>(found.size());
  if (count == 0) return count;
  const std::string keys = found.Take();
  const auto erase = [&](Session& session) -> Status {
    CARILLON_ASSIGN_OR_RETURN(JsonRows ended, LockEnded(session, keys, job.before_us));
    if (ended.empty()) return {};
    // A dead letter is as old as the end of its run. Without its run it could not be retried.
    CARILLON_TRY(session.Execute("DELETE FROM dead_letters WHERE job_no = ? AND created_us < ?",
                                 {job.job_no, job.before_us}));
    std::string owns = ended.Take();
    CARILLON_ASSIGN_OR_RETURN(JsonRows parts, PartsOf(session, owns));
    if (!parts.empty()) CARILLON_TRY(DeleteKeys(session, parts.Take()));
    // Level by level: a node may itself be a workflow.
    for (int level = 0; level < kWorkflowDepthMax; ++level) {
      CARILLON_ASSIGN_OR_RETURN(JsonRows nodes, NodesOf(session, owns));
      CARILLON_TRY(DeleteKeys(session, owns));
      if (nodes.empty()) return {};
      owns = nodes.Take();
    }
    return DeleteKeys(session, owns);
  };
  CARILLON_TRY(RunTransaction(pool, {.operation = "retention"}, erase));
  return count;
}

}  // namespace

Result<ShortLivedRuns> DeleteShortLivedRuns(Pool& pool, int64_t from, WallTime now,
                                            Duration retention) {
  CARILLON_ASSIGN_OR_RETURN(const Walk walk, ReadJobs(pool, from, now, retention));
  int64_t left = kShortLivedRunsPerCall;
  int64_t before = from;
  for (const ShortLivedJob& job : walk.jobs) {
    CARILLON_ASSIGN_OR_RETURN(const int64_t deleted, DeleteRunsOf(pool, job, left));
    left -= deleted;
    if (left == 0) return ShortLivedRuns{.next_job = before, .behind = true};
    before = job.job_no;
  }
  return ShortLivedRuns{.next_job = walk.next_job};
}

}  // namespace carillon::mysql
